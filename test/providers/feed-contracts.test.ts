import { readdirSync } from 'node:fs'

import { afterEach, describe, expect, it, vi } from 'vitest'

import type { HistoryProvider, LatestProvider, ProviderContext } from '../../src/index.ts'
import * as providers from '../../src/providers/index.ts'
import { providerContract } from '../../src/testing/index.ts'
import type { ProviderContractOptions } from '../../src/testing/index.ts'
import { good } from '../fixtures/feed.ts'
import type { Feed } from '../fixtures/feed.ts'
import { FEEDS, FEEDS_BY_MODULE } from '../fixtures/feeds.ts'
import { failuresOf } from '../testing/virtual-time.ts'
import { NOW } from './upstream.ts'

// Generous, for a busy machine.
vi.setConfig({ testTimeout: 60_000 })

function trialOf(feed: Feed): ProviderContractOptions {
  const { fetchLatest, fetchHistory } = feed.create()
  const create = (): LatestProvider & HistoryProvider => Object(feed.create())
  return {
    latest: fetchLatest && create,
    history: fetchHistory && create,
    fetch: async (request) => feed.respond?.(request.url, NOW, await request.text()) ?? good(feed),
    now: () => NOW,
  }
}

const TRIALS = Object.fromEntries(
  Object.entries(FEEDS).map(([name, feed]) => [name, trialOf(feed)]),
)
const { 'createFawazahmed0Provider()': twoHosts = {} } = TRIALS
TRIALS['createFawazahmed0Provider() whose first host is down'] = {
  ...twoHosts,
  fetch: (request) =>
    request.url.includes('jsdelivr')
      ? new Response('', { status: 503 })
      : (twoHosts.fetch?.(request) ?? Response.error()),
}

/** One provider of each form: JSON, several hosts, pieces, ranges of a file, CSV, XML, SOAP, POST one currency per request, and several files. */
const FORMS = (
  'ExchangeRateApi OpenExchangeRates Fawazahmed0 Frankfurter Nbp Cnb Ecb EcbDataApi BancaDItalia ' +
  'NorgesBank Bnr Mnb DanmarksNationalbank Bcb Imf Folder'
)
  .split(' ')
  .map((name) => `create${name}Provider()`)

/** Cases of failing upstreams, which all providers read in one place; odd-responses.test.ts and feeds.test.ts try the others. */
const OF_UPSTREAM = /rejects (if|without) |^\w+\(\) sends its requests/

afterEach(() => {
  vi.useRealTimers()
})

describe('the feeds', () => {
  it('have every factory of every provider, which `ratesmith/providers` exports', async () => {
    const folder = new URL('../../src/providers/', import.meta.url)
    const modules = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.endsWith('index.ts'),
    )
    const expected: Record<string, string[]> = {}
    for (const file of modules) {
      const members: object = await import(new URL(file, folder).href)
      const factories = Object.keys(members).filter((name) => /^create\w+Provider$/.test(name))
      if (factories.length > 0) {
        expected[file.replace(/^.*[/\\]|\.ts$/g, '')] = factories
          .map((name) => `${name}()`)
          .toSorted()
      }
    }
    expect(Object.keys(expected).length).toBeGreaterThanOrEqual(8)
    const exported = Object.keys(providers).map((name) => `${name}()`)
    expect(exported).toEqual(expect.arrayContaining(Object.values(expected).flat()))
    const tested = Object.entries(FEEDS_BY_MODULE).map(([name, feeds]) => [
      name,
      Object.keys(feeds).toSorted(),
    ])
    expect(Object.fromEntries(tested)).toEqual(expected)
    expect(FORMS.filter((form) => !Object.hasOwn(FEEDS, form))).toEqual([])
  })
})

describe.each(Object.entries(TRIALS))('providerContract() of %s', (name, given) => {
  const isWhole = FORMS.some((form) => name.startsWith(form))
  const cases = providerContract(given).filter((each) => isWhole || !OF_UPSTREAM.test(each.name))

  it.each(cases)('$name', async (each) => {
    if (FEEDS[name]?.needsRealTime) return each.run()
    expect(await failuresOf([each])).toEqual(new Map())
  })
})

const MARKETS = Object.entries(TRIALS).filter(([, { latest }]) => latest)

describe('a provider of latest rates', () => {
  it('is tested for at least nine feeds', () => {
    expect(MARKETS.length).toBeGreaterThanOrEqual(9)
  })

  it.each(MARKETS)('runs the sanity checks on its tables: %s', async (_, given) => {
    const provider = await given.latest?.()
    const fetch: ProviderContext['fetch'] = async (input, init) =>
      given.fetch?.(new Request(input, init)) ?? Response.error()
    const context = { fetch, signal: new AbortController().signal, now: () => NOW }
    const table = await provider?.fetchLatest(context)
    if (!provider?.validateStored || !table)
      throw new Error('the provider has no validateStored or no table')
    const code = table.base === 'GBP' ? 'CHF' : 'GBP'
    const { [code]: rate = NaN } = table.rates
    const previous = { ...table, rates: { ...table.rates, [code]: rate * 2 } }
    const checked = await provider.fetchLatest({ ...context, previous })
    const unconfirmed = { [code]: { rate, publications: 1, good: rate * 2 } }
    expect(checked).toMatchObject({ rates: { [code]: rate * 2 }, unconfirmed })
    expect(await provider.validateStored(table, previous)).toEqual(checked)
    const few = { ...table, rates: { EUR: 1, USD: 1.1 } }
    await expect(provider.validateStored(few, undefined)).rejects.toThrow(
      /–1,000 currencies, got 2$/,
    )
  })
})
