import { readFileSync, readdirSync } from 'node:fs'

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { createLog } from '../../src/cli/log.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { HistoryProvider, LatestProvider, RatesEvent } from '../../src/index.ts'
import { createCurrencyapiProvider } from '../../src/providers/currencyapi.ts'
import { createExchangeRateApiV6Provider } from '../../src/providers/exchange-rate-api-v6.ts'
import { createOpenExchangeRatesProvider } from '../../src/providers/open-exchange-rates.ts'
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

// Generous: the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const HOUR = 3_600_000

const market = fakeProviders().history

/** Reference rates of two weeks: they do not matter here. */
const history: HistoryProvider = {
  ...market,
  fetchHistory: ({ end }, context) => market.fetchHistory({ start: '2026-11-09', end }, context),
}

/** A provider with a key, and what its upstream answers. */
interface Keyed {
  create(key: string, url?: string): LatestProvider
  body(now: number): Record<string, unknown>
}

/** `bodyOf`, which makes the body of each instant once. */
function once(bodyOf: Keyed['body']): Keyed['body'] {
  const bodies = new Map<number, Record<string, unknown>>()
  return (now) => {
    const body = bodies.get(now) ?? bodyOf(now)
    bodies.set(now, body)
    return body
  }
}

const openRates: Keyed = {
  create: (key, url) => createOpenExchangeRatesProvider({ key, url }),
  body: once(openExchangeRatesBody),
}

/** Every file of `src/providers/` with an option of the name `key`. */
const KEYED: Record<string, Keyed> = {
  currencyapi: {
    create: (key, url) => createCurrencyapiProvider({ key, url }),
    body: once((now) => ({ ...currencyapiBody(now) })),
  },
  'exchange-rate-api-v6': {
    create: (key, url) => createExchangeRateApiV6Provider({ key, url }),
    body: once(exchangeRateApiV6Body),
  },
  'open-exchange-rates': openRates,
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
  'rates',
  'convert?from=USD&to=EUR',
]

/** What it answers does not depend on an upstream. */
const DOCUMENT = 'v1/openapi.json'

/** Keys of printable characters, each with a part that no text has by chance. */
function makeKeys(): string[] {
  const nonces = [1, 2].map(() => crypto.randomUUID().replaceAll('-', ''))
  return [String(nonces[0]), `~!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}${nonces[1]}%20`]
}

/** All that a handler, and everything around it, leaves behind. */
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

/** What is served: `body` is that of an upstream which is well. */
interface Served {
  key: string
  body: Keyed['body']
  upstream: LeakyUpstream
  /** Below `/api/`. */
  paths: readonly string[]
}

/** Serves every endpoint, first cold and then with rates of yesterday, while `upstream` behaves as it does. */
async function serve(
  provider: LatestProvider,
  { key, body, upstream, paths }: Served,
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
    for (const path of paths) {
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
  { provider = keyed.create(key), paths = PATHS } = {},
): Promise<string[]> {
  const { sent, ...traces } = await serve(provider, { key, body: keyed.body, upstream, paths })
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
    'leaks no part of its key when its upstream %s',
    async (_what, upstream) => {
      for (const key of makeKeys()) expect(await findKey(keyed, key, upstream)).toEqual([])
    },
  )

  it('leaks no part of its key in the document of the API', async () => {
    const upstream: LeakyUpstream = ({ body }) => Response.json(body)
    for (const key of makeKeys()) {
      expect(await findKey(keyed, key, upstream, { paths: ['v1/latest', DOCUMENT] })).toEqual([])
    }
  })

  it.each<FailureKind>([
    'unreachable',
    'server-error',
    'rate-limited',
    'unauthorized',
    'malformed',
    'bad-rates',
    'one-bad-rate',
    'outdated',
  ])('leaks no part of its key when it fails: %s', async (kind) => {
    for (const key of makeKeys()) {
      const providers = { latest: keyed.create(key), history }
      const provider = failingProvider(kind, { after: 1, providers })
      const upstream: LeakyUpstream = ({ body }) => Response.json(body)
      expect(await findKey(keyed, key, upstream, { provider })).toEqual([])
    }
  })

  it.each(['', ' ', 'a b', 'a\n', 'ключ', 'a\u0000', undefined, null, 7, {}])(
    'throws for the key %j',
    (key) => {
      expect(() => keyed.create(JSON.parse(JSON.stringify({ key })).key)).toThrow(
        new TypeError('key must be a text of printable ASCII characters without spaces'),
      )
    },
  )

  it('does not show a key that it refuses, nor one in the URL', () => {
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

  it('still reports what failed on the wire', async () => {
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

/** What a careless provider appends to its URL. */
type Plant = (key: string) => string

/** Ways to leak a key: where it is found, what the upstream does, and what is appended to the URL. */
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

/** `provider` with a reader that is careless with `key`. */
function careless(provider: LatestProvider, key: string, plant: string): LatestProvider {
  const host = 'openexchangerates.org'
  return {
    ...provider,
    async fetchLatest(context) {
      const { fetch, signal } = context
      const init = { signal, headers: { authorization: `Token ${key}` } }
      const open = (url: URL): Promise<Response> =>
        fetch(url.href, init).catch((cause: unknown) => {
          throw new Error(`${host} did not answer`, { cause })
        })
      const first = new URL(`https://${host}/api/latest.json${plant}`)
      let response = await open(first)
      const location = response.headers.get('location')
      if (location) {
        const target = new URL(location, first)
        if (target.host !== host) throw new Error(`${target.host} is not trusted`)
        response = await open(target)
      }
      const body: unknown = JSON.parse(await response.text())
      return provider.fetchLatest({ ...context, fetch: async () => Response.json(body) })
    },
  }
}

describe('a planted provider is found', () => {
  it.each(Object.entries(PLANTS))('that %s', async (_, [where, what, plant]) => {
    const upstream = LEAKY_UPSTREAMS[what]
    if (!upstream) throw new Error(`there is no upstream that ${what}`)
    // Some leak only the beginning of what they were sent.
    const [key = ''] = makeKeys()
    const planted = careless(openRates.create(key), key, plant(key))
    expect(await findKey(openRates, key, upstream, { provider: planted })).toContain(where)
  })

  it('that has it as a property, or puts it among the rates', async () => {
    const [key = ''] = makeKeys()
    const upstream: LeakyUpstream = ({ body }) => Response.json(body)
    const open = Object.assign(openRates.create(key), { key })
    expect(await findKey(openRates, key, upstream, { provider: open })).toEqual(['provider'])
    const wasteful: LatestProvider = {
      ...openRates.create(key),
      async fetchLatest(context) {
        const { rates, ...table } = await openRates.create(key).fetchLatest(context)
        return { ...table, rates: { ...rates, [key]: 1 } }
      },
    }
    expect(await findKey(openRates, key, upstream, { provider: wasteful })).toEqual([
      'events',
      'lines',
    ])
  })

  it('that writes it to the console', async () => {
    const [key = ''] = makeKeys()
    const upstream: LeakyUpstream = ({ body }) => {
      // oxlint-disable-next-line no-console
      console.warn('asked with', key)
      return Response.json(body)
    }
    expect(await findKey(openRates, key, upstream)).toEqual(['console'])
  })
})
