import { readFileSync, readdirSync } from 'node:fs'

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { createLog } from '../../src/cli/log.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { HistoryProvider, LatestProvider, RatesEvent } from '../../src/index.ts'
import { createCurrencyapiProvider } from '../../src/providers/currencyapi.ts'
import { createExchangeRateApiV6Provider } from '../../src/providers/exchange-rate-api-v6.ts'
import { passMarketGates } from '../../src/providers/market-gates.ts'
import { toLatestTable as toOpenTable } from '../../src/providers/open-exchange-rates-table.ts'
import { createOpenExchangeRatesProvider } from '../../src/providers/open-exchange-rates.ts'
import { readJson } from '../../src/providers/read-upstream.ts'
import { addDays } from '../../src/rates/day.ts'
import { failingProvider, fakeClock, fakeProviders } from '../../src/testing/index.ts'
import type { FailureKind } from '../../src/testing/index.ts'
import {
  currencyapiBody,
  exchangeRateApiV6Body,
  openExchangeRatesBody,
} from '../fixtures/feed-payloads.ts'
import { LEAKY_UPSTREAMS, hex } from './leaky-upstreams.ts'
import type { LeakyUpstream } from './leaky-upstreams.ts'
import { findSecret } from './texts-of.ts'

const HOUR = 3_600_000

/** Reference rates of a month: they are no matter here. */
const history: HistoryProvider = {
  ...fakeProviders().history,
  async fetchHistory({ end }, context) {
    return fakeProviders().history.fetchHistory({ start: addDays(end, -40), end }, context)
  },
}

/** A provider with a key, and what its upstream answers. */
interface Keyed {
  create(key: string, url?: string): LatestProvider
  body(now: number): Record<string, unknown>
}

/** Every file of `src/providers/` with an option of the name `key`. */
const KEYED: Record<string, Keyed> = {
  currencyapi: {
    create: (key, url) => createCurrencyapiProvider({ key, url }),
    body: (now) => ({ ...currencyapiBody(now) }),
  },
  'exchange-rate-api-v6': {
    create: (key, url) => createExchangeRateApiV6Provider({ key, url }),
    body: exchangeRateApiV6Body,
  },
  'open-exchange-rates': {
    create: (key, url) => createOpenExchangeRatesProvider({ key, url }),
    body: openExchangeRatesBody,
  },
}

const PATHS = [
  'v1/latest',
  'v1/latest?base=EUR&symbols=USD,JPY',
  'v1/latest?format=csv',
  'v1/convert?from=USD&to=EUR&amount=2',
  'v1/convert?from=USD&to=XYZ',
  'v1/history?from=USD&to=EUR&period=1M',
  'v1/currencies',
  'v1/status',
  'v1/openapi.json',
  'rates',
  'convert?from=USD&to=EUR',
]

/** Keys of printable characters, each with a part that nothing has by chance. */
function makeKeys(): string[] {
  const nonces = [1, 2].map(() => crypto.randomUUID().replaceAll('-', ''))
  return [String(nonces[0]), `~!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}${nonces[1]}%20`]
}

/** What is left behind by a handler, and by everything around it. */
interface Traces {
  urls: string[]
  events: RatesEvent[]
  /** Statuses, headers and bodies. */
  answers: string
  thrown: unknown[]
  stores: Map<string, string>[]
  /** Of both logs. */
  lines: string
}

/** Serves every endpoint, first cold and then with rates of yesterday, while `upstream` does what it does. */
async function serve(
  provider: LatestProvider,
  { key, body, upstream }: { key: string; body: Keyed['body']; upstream: LeakyUpstream },
): Promise<Traces & { sent: string[] }> {
  const sent: string[] = []
  const traces: Traces = { urls: [], events: [], answers: '', thrown: [], stores: [], lines: '' }
  for (const goodCalls of [0, 1]) {
    const now = fakeClock('2026-11-19T18:00:00Z')
    const store = new Map<string, string>()
    const logs = (['json', 'text'] as const).map((format) =>
      createLog({ format, now, write: (line) => (traces.lines += `${line}\n`) }),
    )
    let calls = 0
    const handler = createRatesHandler({
      providers: { latest: provider, history },
      store,
      now,
      onEvent(event) {
        traces.events.push(event)
        for (const log of logs) log(event)
      },
      async fetch(input, init) {
        const request = new Request(input, init)
        traces.urls.push(request.url)
        sent.push([...request.headers].map(([, value]) => value).join('\n'))
        calls += 1
        if (calls <= goodCalls) return Response.json(body(now()))
        return upstream({ request, key, body: body(now()) })
      },
    })
    if (goodCalls > 0) {
      await handler.refresh()
      now.advance(26 * HOUR)
      await handler.refresh()
    }
    for (const path of PATHS) {
      const response = await handler(new Request(`http://localhost/api/${path}`))
      traces.answers += `${response.status} ${[...response.headers].join('\n')}\n`
      traces.answers += await response.text()
    }
    await handler.rates.latest({}).catch((error: unknown) => traces.thrown.push(error))
    await handler.refresh()
    traces.stores.push(store)
    handler.close()
  }
  return { ...traces, sent }
}

let spoken: unknown[]

beforeEach(() => {
  spoken = []
  for (const method of ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const) {
    vi.spyOn(console, method).mockImplementation((...args) => void spoken.push(args))
  }
})

afterEach(() => {
  vi.restoreAllMocks()
})

/** Where a part of the key is that should be nowhere but in the headers that were sent. */
async function findKey(
  keyed: Keyed,
  key: string,
  upstream: LeakyUpstream,
  provider: LatestProvider = keyed.create(key),
): Promise<string[]> {
  const { sent, ...traces } = await serve(provider, { key, body: keyed.body, upstream })
  expect(sent.length).toBeGreaterThan(0)
  for (const headers of sent.slice(0, 1)) expect(headers).toContain(key)
  return findSecret(hex(key), { ...traces, provider, console: spoken })
}

describe('the table of providers with a key', () => {
  it('has every file with such an option', () => {
    const folder = new URL('../../src/providers/', import.meta.url)
    const withKey = readdirSync(folder).filter((name) =>
      /^ {2}(readonly )?(key|token|secret|password)\??: /m.test(
        readFileSync(new URL(name, folder), 'utf8'),
      ),
    )
    expect(withKey.toSorted()).toEqual(Object.keys(KEYED).map((name) => `${name}.ts`))
  })
})

describe.each(Object.entries(KEYED))('%s', (_, keyed) => {
  it.each(Object.entries(LEAKY_UPSTREAMS))(
    'tells its key nobody else when its upstream %s',
    async (_what, upstream) => {
      for (const key of makeKeys()) expect(await findKey(keyed, key, upstream)).toEqual([])
    },
  )

  it.each<FailureKind>([
    'unreachable',
    'server-error',
    'rate-limited',
    'unauthorized',
    'malformed',
    'bad-rates',
    'one-bad-rate',
    'outdated',
  ])('tells its key nobody else when it fails: %s', async (kind) => {
    for (const key of makeKeys()) {
      const providers = { latest: keyed.create(key), history }
      const provider = failingProvider(kind, { after: 1, providers })
      const upstream: LeakyUpstream = ({ body }) => Response.json(body)
      expect(await findKey(keyed, key, upstream, provider)).toEqual([])
    }
  })

  it.each(['', ' ', 'a b', 'a\n', 'ключ', 'a\u0000', undefined, null, 7, {}])(
    'refuses the key %j',
    (key) => {
      expect(() => keyed.create(JSON.parse(JSON.stringify({ key })).key)).toThrow(
        new TypeError('key must be a text of printable ASCII characters without spaces'),
      )
    },
  )

  it('does not show a key that it refuses, nor one that was put into the URL', () => {
    const [key = ''] = makeKeys()
    const attempts = [
      () => keyed.create(`${key}\n`),
      () => keyed.create(key, `https://feed.example/${key}`),
      () => keyed.create('other', `https://feed.example/?key=${key}`),
      () => keyed.create('other', `feed.example/${key}`),
      () => keyed.create('other', `https://${key}@feed.example`),
    ]
    for (const attempt of attempts) {
      let thrown: unknown
      try {
        attempt()
      } catch (error) {
        thrown = error
      }
      expect(thrown).toBeInstanceOf(TypeError)
      expect(findSecret(key, { thrown })).toEqual([])
    }
  })

  it('still says what failed on the wire', async () => {
    const [key = ''] = makeKeys()
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    const fetch = async (): Promise<Response> => {
      throw new TypeError('fetch failed', { cause: refused })
    }
    const { signal } = new AbortController()
    const call = keyed.create(key).fetchLatest({ fetch, signal, now: Date.now })
    await expect(call).rejects.toThrow(/^[\w.-]+ did not answer \(ECONNREFUSED\)$/)
  })
})

/** Providers that tell their key, each in a way of its own. */
const PLANTS: Record<string, [where: string, what: keyof typeof LEAKY_UPSTREAMS, plant: Plant]> = {
  'sends it in the URL': ['urls', 'is well', (key) => `?app_id=${encodeURIComponent(key)}`],
  'keeps what a fetch threw': ['events', 'throws the headers', () => ''],
  'keeps a cause of a cause': ['lines', 'throws with a cause of a cause', () => ''],
  'keeps what the parser says of an answer': [
    'events',
    'echoes the key as text with 200',
    () => '',
  ],
  'follows a redirect to it': ['urls', 'redirects to a path with the key', () => ''],
  'names the host of a redirect': [
    'lines',
    'redirects to a host with the name of the key',
    () => '',
  ],
}

/** What is added to the URL. */
type Plant = (key: string) => string

describe('a planted provider is found', () => {
  it.each(Object.entries(PLANTS))('that %s', async (_, [where, what, plant]) => {
    const keyed = KEYED['open-exchange-rates']
    const upstream = LEAKY_UPSTREAMS[what]
    if (!keyed || !upstream) throw new Error('there is no such provider or upstream')
    // Some only tell the beginning of what they were sent.
    for (const key of makeKeys().slice(0, 1)) {
      const planted: LatestProvider = {
        ...keyed.create(key),
        async fetchLatest({ fetch, signal, now, previous }) {
          const url = `https://openexchangerates.org/api/latest.json${plant(key)}`
          const headers = { authorization: `Token ${key}` }
          const redirectHosts = ['openexchangerates.org']
          const read = { fetch, signal, now, url, headers, redirectHosts, maxBytes: 1_000_000 }
          return passMarketGates(toOpenTable(await readJson(read), now()), previous)
        },
      }
      expect(await findKey(keyed, key, upstream, planted)).toContain(where)
    }
  })

  it('that has it as a property, or puts it among the rates', async () => {
    const [key = ''] = makeKeys()
    const keyed = KEYED['open-exchange-rates']
    if (!keyed) throw new Error('there is no such provider')
    const upstream: LeakyUpstream = ({ body }) => Response.json(body)
    const open = Object.assign(keyed.create(key), { key })
    expect(await findKey(keyed, key, upstream, open)).toEqual(['provider'])
    const careless: LatestProvider = {
      ...keyed.create(key),
      async fetchLatest(context) {
        const { rates, ...table } = await keyed.create(key).fetchLatest(context)
        return { ...table, rates: { ...rates, [key]: 1 } }
      },
    }
    expect(await findKey(keyed, key, upstream, careless)).toEqual(['events', 'lines'])
  })

  it('that speaks of it on the console', async () => {
    const [key = ''] = makeKeys()
    const keyed = KEYED['open-exchange-rates']
    if (!keyed) throw new Error('there is no such provider')
    const upstream: LeakyUpstream = ({ body }) => {
      // oxlint-disable-next-line no-console
      console.warn('asked with', key)
      return Response.json(body)
    }
    expect(await findKey(keyed, key, upstream)).toEqual(['console'])
  })
})
