import { readFileSync, readdirSync } from 'node:fs'
import { inspect } from 'node:util'

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { HistoryProvider, LatestProvider, RatesEvent } from '../../src/index.ts'
import { createLog } from '../../src/log.ts'
import { fakeClock, fakeProviders } from '../../src/testing/index.ts'
import type { Feed } from '../fixtures/feed.ts'
import { FEEDS_BY_MODULE } from '../fixtures/feeds.ts'
import { LEAKY_UPSTREAMS, hex } from './leaky-upstreams.ts'
import type { LeakyUpstream } from './leaky-upstreams.ts'
import { upstream as givenUpstream } from './upstream.ts'

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
    Object.values(feeds).flatMap(({ createWithKey: create, ...feed }) =>
      create ? [[name, { ...feed, create: (key: string, url?: string) => create(key, url) }]] : [],
    ),
  ),
)
const {
  'open-exchange-rates': openRates = { body: Object, create: (): LatestProvider => Object({}) },
} = KEYED

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

/** Collects every text in `value`: also of errors, their causes and all properties, enumerable or not. */
function textsOf(value: unknown, seen = new Set<unknown>()): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null || seen.has(value)) return []
  seen.add(value)
  const own = value instanceof Error ? [value.name, value.message, String(value.stack)] : []
  const items = Symbol.iterator in value ? [...Object(value)] : []
  const members = Reflect.ownKeys(value).flatMap((name) => [String(name), Reflect.get(value, name)])
  return [...own, ...[...items, ...members].flatMap((each) => textsOf(each, seen))]
}

/** Returns the places with eight digits of `secret` in a row: messages may truncate upstream text. */
function findSecret(secret: string, places: Record<string, unknown>): string[] {
  const parts = Array.from({ length: 25 }, (_, at) => secret.slice(at, at + 8))
  return Object.entries(places)
    .filter(([, value]) => {
      const inspected = inspect(value, { depth: 12, showHidden: true })
      const texts = [...textsOf(value), inspected, String(JSON.stringify(value))]
      const runs = texts.flatMap((text) => text.toLowerCase().match(/[\da-f]{8,}/g) ?? []).join(' ')
      return parts.some((part) => runs.includes(part))
    })
    .map(([place]) => place)
}

/** Creates a key of printable characters with a part that occurs in no other text. */
const makeKey = (): string =>
  `~!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}${crypto.randomUUID().replaceAll('-', '')}%20`

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

it('every provider with an option for a key is tried', () => {
  const folder = new URL('../../src/providers/', import.meta.url)
  const withKey = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) =>
      name.endsWith('.ts') &&
      /^ {2}(readonly )?(key|token|secret|password)\??: [^,]*$|^ {2}keyIn: /m.test(
        readFileSync(new URL(name, folder), 'utf8'),
      ),
  )
  const names = withKey.map((path) => path.replace(/^.*[/\\]|\.ts$/g, ''))
  expect(names.toSorted()).toEqual(Object.keys(KEYED).toSorted())
})

/** The first sends its key in the query, the second in a header; the others differ in the names of headers and fields only. */
const WHOLE = ['fred', 'open-exchange-rates']
const OF_OTHERS =
  /every word with 401|headers of an error|among its rates|redirects to the key|the request/

describe.each(Object.entries(KEYED))('%s', (name, keyed) => {
  it.each(
    Object.entries(LEAKY_UPSTREAMS).filter(
      ([what]) => WHOLE.includes(name) || OF_OTHERS.test(what),
    ),
  )('leaks no part of its key when its upstream %s', async (_what, upstream) => {
    expect(await findKey(keyed, makeKey(), { upstream })).toEqual([])
  })

  it('leaks no part of its key in the document of the API', async () => {
    const paths = ['v1/latest', 'v1/openapi.json']
    expect(await findKey(keyed, makeKey(), { paths })).toEqual([])
  })

  const NO_KEYS = ['', ' ', 'a b', 'a\n', 'ключ', 'a\u0000', undefined, null, 7, {}]

  it.each(NO_KEYS)('throws for the key %j', (key) => {
    const create = () => keyed.create(JSON.parse(JSON.stringify({ key })).key)
    expect(create).toThrow(TypeError)
    expect(create).toThrow(/^key must be .*printable ASCII characters without spaces$/)
  })

  it('does not quote an invalid key, nor one in the URL', () => {
    const key = hex(makeKey())
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
    const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    const { context } = givenUpstream([new TypeError('fetch failed', { cause })])
    const call = keyed.create(makeKey()).fetchLatest(context)
    await expect(call).rejects.toThrow(/^request to [\w.-]+ failed: .*refused \(ECONNREFUSED\)$/)
  })
})

it('finds a leaking provider: in the URL, as a property, among the rates, on the console', async () => {
  const key = makeKey()
  const open = openRates.create(key)
  const inUrl: LatestProvider['fetchLatest'] = ({ fetch, ...context }) =>
    open.fetchLatest({
      ...context,
      fetch: (url, init) => fetch(`${new Request(url).url}?${hex(key)}`, init),
    })
  const among: LatestProvider['fetchLatest'] = async (context) => {
    const { rates, ...table } = await open.fetchLatest(context)
    return { ...table, rates: { ...rates, [key]: 1 } }
  }
  const places = (change: object) => findKey(openRates, key, { provider: { ...open, ...change } })
  expect(await places({ fetchLatest: inUrl })).toContain('urls')
  expect(await places({ key })).toEqual(['provider'])
  expect(await places({ fetchLatest: among })).toEqual(['events', 'lines'])
  const upstream: LeakyUpstream = ({ body }) => {
    // oxlint-disable-next-line no-console
    console.warn('request with', key)
    return Response.json(body)
  }
  expect(await findKey(openRates, key, { upstream })).toEqual(['console'])
})
