import { readFileSync, readdirSync } from 'node:fs'

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { HistoryProvider, LatestProvider, RatesEvent } from '../../src/index.ts'
import { createLog } from '../../src/log.ts'
import { createOpenExchangeRatesProvider } from '../../src/providers/open-exchange-rates.ts'
import { fakeClock, fakeProviders } from '../../src/testing/index.ts'
import type { Feed } from '../fixtures/feed.ts'
import { FEEDS_BY_MODULE } from '../fixtures/feeds.ts'
import { openExchangeRatesBody } from '../fixtures/feeds/open-exchange-rates.ts'
import { LEAKY_UPSTREAMS, hex } from './leaky-upstreams.ts'
import type { LeakyUpstream } from './leaky-upstreams.ts'
import { findSecret } from './texts-of.ts'
import { upstream as givenUpstream } from './upstream.ts'

// Generous, for a busy machine.
vi.setConfig({ testTimeout: 60_000 })

const HOUR = 3_600_000

const market = fakeProviders().history

/** Reference rates of two weeks; their values do not matter. */
const history: HistoryProvider = {
  ...market,
  fetchHistory: ({ end }, context) => market.fetchHistory({ start: '2026-11-09', end }, context),
}

type Keyed = Pick<Feed, 'body' | 'hasKeyInQuery'> & {
  create(key: string, url?: string): LatestProvider
}

/** The feeds whose provider takes a key, by the file of the provider. */
const KEYED: Record<string, Keyed> = Object.fromEntries(
  Object.entries(FEEDS_BY_MODULE).flatMap(([name, feeds]) =>
    Object.values(feeds).flatMap(({ body, createWithKey: create, hasKeyInQuery }) =>
      create ? [[name, { body, create, hasKeyInQuery: hasKeyInQuery === true }]] : [],
    ),
  ),
)

const openRates: Keyed = {
  body: openExchangeRatesBody,
  create: (key, url) => createOpenExchangeRatesProvider({ key, url }),
}

const healthy: LeakyUpstream = ({ body }) => Response.json(body)

const PATHS = [
  'v1/latest',
  'v1/latest?base=EUR&symbols=USD,JPY',
  'v1/latest?format=csv',
  'v1/convert?from=USD&to=EUR&amount=2',
  'v1/convert?from=USD&to=XYZ',
  'v1/history?from=USD&to=EUR&period=1M',
  'v1/days?start=2026-11-01',
  'v1/currencies',
  'v1/status',
  'rates',
  'convert?from=USD&to=EUR',
]

/** Creates keys of printable characters, each with a part that occurs in no other text. */
function makeKeys(): string[] {
  const nonces = [1, 2].map(() => crypto.randomUUID().replaceAll('-', ''))
  return [String(nonces[0]), `~!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}${nonces[1]}%20`]
}

/**
 * Serves every endpoint, first without rates and then with those of yesterday, and returns everything that may contain the
 * key: `responses` has statuses, headers and bodies, `lines` those of both logs, `sent` the values of request headers.
 */
async function serve(
  provider: LatestProvider,
  key: string,
  bodyOf: Keyed['body'],
  { upstream, paths }: { upstream: LeakyUpstream; paths: readonly string[] },
) {
  const sent: string[] = []
  const urls: string[] = []
  const events: RatesEvent[] = []
  const thrown: unknown[] = []
  const stores: Map<string, string>[] = []
  let responses = ''
  let lines = ''
  for (const goodCalls of [0, 1]) {
    const now = fakeClock('2026-11-19T18:00:00Z')
    const store = new Map<string, string>()
    const logs = (['json', 'text'] as const).map((format) =>
      createLog({ format, now, write: (line) => (lines += `${line}\n`) }),
    )
    let calls = 0
    const handler = createRatesHandler({
      providers: { latest: provider, history },
      store,
      now,
      onEvent(event) {
        events.push(event)
        for (const log of logs) log(event)
      },
      async fetch(input, init) {
        const request = new Request(input, init)
        urls.push(request.url)
        sent.push([...request.headers].map(([, value]) => value).join('\n'))
        calls += 1
        const body: Record<string, unknown> = Object(bodyOf(now()))
        return calls <= goodCalls ? Response.json(body) : upstream({ request, key, body })
      },
    })
    if (goodCalls > 0) {
      await handler.refresh()
      now.advance(26 * HOUR)
      await handler.refresh()
    }
    for (const path of paths) {
      const response = await handler(new Request(`http://localhost/api/${path}`))
      responses += `${response.status} ${[...response.headers].join('\n')}\n`
      responses += await response.text()
    }
    await handler.rates.latest({}).catch((error: unknown) => thrown.push(error))
    await handler.refresh()
    stores.push(store)
    handler.close()
  }
  return { sent, urls, events, responses, thrown, stores, lines }
}

let consoleCalls: unknown[]

beforeEach(() => {
  consoleCalls = []
  for (const method of ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const) {
    vi.spyOn(console, method).mockImplementation((...args) => void consoleCalls.push(args))
  }
})

afterEach(() => {
  vi.restoreAllMocks()
})

/** Returns the places that contain a part of `key`, except for the request headers. */
async function findKey(
  { create, body, hasKeyInQuery }: Keyed,
  key: string,
  { upstream = healthy, provider = create(key), paths = PATHS } = {},
): Promise<string[]> {
  const { sent, ...traces } = await serve(provider, key, body, { upstream, paths })
  const [first = ''] = traces.urls
  const inQuery = new URL(first).searchParams.get('api_key') ?? ''
  expect(hasKeyInQuery ? inQuery : sent[0]).toContain(key)
  // Only the requests themselves may have it.
  const [root = ''] = first.split('?')
  if (hasKeyInQuery) traces.urls = traces.urls.filter((url) => !url.startsWith(`${root}?`))
  return findSecret(hex(key), { ...traces, provider, console: consoleCalls })
}

describe('the table of providers with a key', () => {
  it('lists every file with such an option', () => {
    const folder = new URL('../../src/providers/', import.meta.url)
    const withKey = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) =>
        name.endsWith('.ts') &&
        /^ {2}(readonly )?(key|token|secret|password)\??: [^,]*$|^ {2}keyIn: /m.test(
          readFileSync(new URL(name, folder), 'utf8'),
        ),
    )
    const names = withKey.map((path) => path.replace(/^.*[/\\]|\.ts$/g, ''))
    expect(names.length).toBeGreaterThanOrEqual(3)
    expect(names.toSorted()).toEqual(Object.keys(KEYED).toSorted())
  })
})

const UPSTREAMS = Object.entries(LEAKY_UPSTREAMS)

describe.each(Object.entries(KEYED))('%s', (_, keyed) => {
  it.each(UPSTREAMS)('leaks no part of its key when its upstream %s', async (_what, upstream) => {
    for (const key of makeKeys()) expect(await findKey(keyed, key, { upstream })).toEqual([])
  })

  it('leaks no part of its key in the document of the API', async () => {
    const paths = ['v1/latest', 'v1/openapi.json']
    for (const key of makeKeys()) expect(await findKey(keyed, key, { paths })).toEqual([])
  })

  const NO_KEYS = ['', ' ', 'a b', 'a\n', 'ключ', 'a\u0000', undefined, null, 7, {}]

  it.each(NO_KEYS)('throws for the key %j', (key) => {
    const create = () => keyed.create(JSON.parse(JSON.stringify({ key })).key)
    expect(create).toThrow(TypeError)
    expect(create).toThrow(/^key must be .*printable ASCII characters without spaces$/)
  })

  it('does not quote an invalid key, nor one in the URL', () => {
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

  it('still reports network failures', async () => {
    const [key = ''] = makeKeys()
    const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    const { context } = givenUpstream([new TypeError('fetch failed', { cause })])
    const call = keyed.create(key).fetchLatest(context)
    await expect(call).rejects.toThrow(/^request to [\w.-]+ failed: .*refused \(ECONNREFUSED\)$/)
  })
})

describe('finds a leaking provider', () => {
  it('that sends it in the URL', async () => {
    const [key = ''] = makeKeys()
    const open = openRates.create(key)
    const fetchLatest: LatestProvider['fetchLatest'] = ({ fetch, ...context }) =>
      open.fetchLatest({
        ...context,
        fetch: (url, init) => fetch(`${new Request(url).url}?${key}`, init),
      })
    expect(await findKey(openRates, key, { provider: { ...open, fetchLatest } })).toContain('urls')
  })

  it('that has it as a property, or puts it among the rates', async () => {
    const [key = ''] = makeKeys()
    const open = Object.assign(openRates.create(key), { key })
    expect(await findKey(openRates, key, { provider: open })).toEqual(['provider'])
    const wasteful: LatestProvider = {
      ...openRates.create(key),
      async fetchLatest(context) {
        const { rates, ...table } = await openRates.create(key).fetchLatest(context)
        return { ...table, rates: { ...rates, [key]: 1 } }
      },
    }
    const places = await findKey(openRates, key, { provider: wasteful })
    expect(places).toEqual(['events', 'lines'])
  })

  it('that writes it to the console', async () => {
    const [key = ''] = makeKeys()
    const upstream: LeakyUpstream = ({ body }) => {
      // oxlint-disable-next-line no-console
      console.warn('request with', key)
      return Response.json(body)
    }
    expect(await findKey(openRates, key, { upstream })).toEqual(['console'])
  })
})
