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

/** One provider of each form: JSON, several hosts, pieces, a file, CSV, XML, POST, a key, a series per currency, and a folder. */
const FORMS =
  /create(ExchangeRateApi|Fawazahmed0|Frankfurter|Nbp|Ecb|NorgesBank|Bnr|Mnb|Banxico|BancaDItalia|Folder)Provider/

/** What the contract says of the data of the others, whose days feeds.test.ts compares with those of the bank. */
const OF_DATA = /the handler would drop|codes of ISO 4217|stored table|fetchSeries|publication that/

afterEach(() => {
  vi.useRealTimers()
})

it('the feeds have every factory of every provider, which `ratesmith/providers` exports', () => {
  const exported = Object.keys(providers).filter((name) => /^create\w+Provider$/.test(name))
  expect(Object.keys(FEEDS).toSorted()).toEqual(exported.map((name) => `${name}()`).toSorted())
  const folder = new URL('../../src/providers/', import.meta.url)
  const files = ['.', 'banks'].flatMap((part) => readdirSync(new URL(`${part}/`, folder)))
  const modules = files.flatMap((file) => {
    const [, name] = /^(?!index|derived|official)([\w-]+)\.ts$/.exec(file) ?? []
    return name === undefined ? [] : [name]
  })
  expect(Object.keys(FEEDS_BY_MODULE).toSorted()).toEqual(modules.toSorted())
})

describe.each(Object.entries(TRIALS))('providerContract() of %s', (name, given) => {
  const cases = providerContract(given).filter(
    (each) => FORMS.test(name) || OF_DATA.test(each.name),
  )

  it.each(cases)('$name', async (each) => {
    if (FEEDS[name]?.needsRealTime) return each.run()
    expect(await failuresOf([each])).toEqual(new Map())
  })
})

describe('a provider of latest rates', () => {
  it.each(Object.entries(TRIALS).filter(([, { latest }]) => latest))(
    'runs the sanity checks on its tables: %s',
    async (_, given) => {
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
    },
  )
})
