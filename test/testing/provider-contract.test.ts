import { afterEach, describe, expect, it, vi } from 'vitest'

import type {
  HistoryDays,
  HistoryProvider,
  LatestProvider,
  LatestTable,
  ProviderContext,
} from '../../src/index.ts'
import {
  failingProvider,
  fakeClock,
  fakeProviders,
  providerContract,
} from '../../src/testing/index.ts'
import type { ProviderContractOptions } from '../../src/testing/index.ts'
import { failuresOf } from './virtual-time.ts'

type Fetch = typeof fetch
type Rates = LatestTable['rates']
type Days = HistoryDays['days']
interface Range {
  start: string
  end: string
}

/** Wraps the `fetch` of a provider; `good` is the body of a good response. */
type Client = (fetch: Fetch, good: string) => Fetch

interface Change extends Pick<HistoryProvider, 'publication' | 'maxDays' | 'fetchSeries'> {
  attribution?: { name: string; url: string }
  client?: Client
  modify?(argument: object): void
  table?(table: LatestTable, previous: LatestTable | undefined): LatestTable
  validateStored?: NonNullable<LatestProvider['validateStored']>
  days?(days: HistoryDays, range: Range): HistoryDays | Promise<HistoryDays>
}

const now = fakeClock('2026-11-20T18:00:00Z')
const market = fakeProviders({ now })
const attribution = { name: 'Our treasury', url: 'https://treasury.example' }
const context = { fetch, signal: new AbortController().signal, now }

/** Returns options for the provider of latest rates in the documentation, with `change`. */
async function latestTrial(change: Change = {}): Promise<ProviderContractOptions> {
  const { rates } = await market.latest.fetchLatest(context)
  const good = JSON.stringify({ published: '2026-11-20T16:00:00Z', usd: rates })
  const { modify = () => {}, table = (each) => each } = change
  const latest = (): LatestProvider => {
    const read = readerOf(change, good)
    return {
      attribution,
      ...change,
      async fetchLatest(context) {
        const { published, usd } = await read(context, 'https://treasury.example/rates.json')
        const updatedAt = Date.parse(published)
        modify(context)
        const good = { base: 'USD', updatedAt, nextUpdateAt: updatedAt + 3_600_000, rates: usd }
        return table(good, context.previous)
      },
    }
  }
  return { now, latest, fetch: () => new Response(good) }
}

async function historyTrial(change: Change = {}): Promise<ProviderContractOptions> {
  const textOf = async (range: Range): Promise<string> =>
    JSON.stringify(await market.history.fetchHistory(range, context))
  const good = await textOf({ start: '2026-10-21', end: '2026-11-20' })
  const { modify = () => {}, days = (each) => each, maxDays = Infinity } = change
  const history = (): HistoryProvider => {
    const read = readerOf(change, good)
    return {
      attribution,
      ...change,
      async fetchHistory(range, context) {
        const isTooLong = Date.parse(range.end) - Date.parse(range.start) >= maxDays * 86_400_000
        if (isTooLong) throw new Error(`more than ${maxDays} days`)
        const query = new URLSearchParams({ ...range })
        const { base, days: found } = await read(context, `https://archive.example/days?${query}`)
        const requested = { ...range }
        modify(context)
        modify(range)
        return days({ base, days: [...found] }, requested)
      },
    }
  }
  return {
    now,
    history,
    async fetch({ url }) {
      const { start = '', end = '' } = Object.fromEntries(new URL(url).searchParams)
      return new Response(await textOf({ start, end }))
    },
  }
}

/** Returns a function that reads JSON with one client per provider, as it may have a cache. */
function readerOf({ client = (fetch) => fetch }: Change, good: string) {
  let upstream: Fetch = fetch
  const read = client((...request) => upstream(...request), good)
  return async ({ fetch, signal }: ProviderContext, url: string) => {
    upstream = fetch
    const response = await read(url, { signal })
    if (!response.ok) throw new Error(`upstream returned HTTP ${response.status}`)
    return response.json()
  }
}

function accepting(isAccepted: (text: string) => boolean): Client {
  return (fetch, good) => async (url, init) => {
    const response = await fetch(url, init)
    if (!response.ok) return response
    const text = await response.text()
    return new Response(isAccepted(text) ? good : text)
  }
}

const isInvalidJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return false
  } catch {
    return true
  }
}

const ignoringSignalAfterResponse: Client = (fetch) => async (url, init) => {
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  init?.signal?.addEventListener('abort', abort)
  if (init?.signal?.aborted) abort()
  const response = await fetch(url, { signal: controller.signal })
  init?.signal?.removeEventListener('abort', abort)
  return response
}

const truncatingLongBodies: Client = (fetch, good) => async (url, init) => {
  const { body, status } = await fetch(url, init)
  let text = ''
  for await (const part of body ?? []) {
    text += new TextDecoder().decode(part)
    if (text.length > 1_000_000) return new Response(good)
  }
  return new Response(text, { status })
}

const followingRedirects: Client = (fetch) => async (url, init) => {
  for (;;) {
    const response = await fetch(url, init)
    if (response.status !== 302) return response
    await new Promise((resolve) => void setTimeout(resolve, 100))
  }
}

const repeatingLastResponse: Client = (fetch) => {
  let last: string | undefined
  return async (url, init) => {
    const response = await fetch(url, init).catch((error: unknown) => {
      if (last === undefined) throw error
      return new Response(last)
    })
    last = await response.clone().text()
    return response
  }
}

const withFallback: Client = (fetch, good) => (url, init) =>
  fetch(url, init)
    .then(async (response) => new Response(await response.text()))
    .catch(() => new Response(good))

const delayingInSeconds: Client = (fetch) => async (url, init) => {
  const response = await fetch(url, init)
  if (response.ok) return response
  throw Object.assign(new Error('rate limit'), { retryAfterMs: 120 })
}

const ignoringSignal: Client = (fetch) => (url) => fetch(url)
const ignoringStatus: Client = (fetch) => async (url, init) =>
  new Response((await fetch(url, init)).body)

/** By each rule of a provider with an upstream, a client that breaks it. */
const BAD_CLIENTS: Record<string, Client> = {
  'sends its requests with context.fetch': (_, good) => async () => new Response(good),
  'rejects if its signal has already aborted': ignoringSignal,
  'rejects if its signal aborts before the response': ignoringSignal,
  'rejects if its signal aborts during the body': ignoringSignalAfterResponse,
  'rejects if its signal aborts during an endless body': truncatingLongBodies,
  'rejects if the upstream cannot be reached': withFallback,
  'rejects if the upstream disconnects during the body': withFallback,
  'rejects if the upstream returns HTTP 500, even with a valid body': ignoringStatus,
  'rejects if the upstream returns HTTP 404, even with a valid body': ignoringStatus,
  'rejects if the upstream redirects endlessly': followingRedirects,
  'rejects if the upstream returns an HTML page': accepting((text) => text.startsWith('<!doctype')),
  'rejects if the upstream returns an empty body': accepting((text) => text === ''),
  'rejects if the upstream returns truncated JSON': accepting(isInvalidJson),
  'rejects if the upstream returns JSON with null in place of every value': accepting((text) =>
    text.includes(':null'),
  ),
  'rejects if the upstream returns JSON of another structure': accepting((text) => text === '{}'),
  'rejects if the upstream fails after a success': repeatingLastResponse,
  'rejects without a retryAfterMs shorter than Retry-After': delayingInSeconds,
}

const named = (name: string, url: string): Change => ({ attribution: { name, url } })
const withTable = (change: (table: LatestTable) => object): Change => ({
  table: (table) => ({ ...table, ...change(table) }),
})
const withRates = (change: (rates: Rates) => object): Change =>
  withTable(({ rates }) => ({ rates: { ...rates, ...change(rates) } }))
const withDays = (change: (days: Days, range: Range) => Days): Change => ({
  days: ({ base, days }, range) => ({ base, days: change(days, range) }),
})

const DAY = 86_400_000
const DAILY: NonNullable<HistoryProvider['publication']> = {
  id: 'our-archive',
  frequency: 'daily',
  holidays: [],
  time: '16:00',
  timeZone: 'Europe/Berlin',
  since: '1999-01-04',
}

const isWeekend = ({ start, end }: Range): boolean =>
  new Date(start).getUTCDay() === 6 && new Date(end).getUTCDay() === 0

// Names of cases.
const NAMED = 'has an attribution with a name and a URL'
const CONTEXT = 'does not modify its context'
const CURRENCIES = 'returns codes of ISO 4217, and withdrawn currencies at their legal ratio'
const ACCEPTED = 'resolves to data that the handler accepts'
const DROPPED = 'resolves to no rates or days that the handler would drop'
const OFFLINE = 'sends no requests, because the contract has no fetch'
const ENDS = 'settles within 1 s after its signal aborts'
const TIMES = 'returns an updatedAt not in the future and a later nextUpdateAt'
const PREVIOUS = 'returns the same table after its own previous table'
const STORED = 'accepts its own stored table'
const SINGLE = 'returns a single requested day'
const REQUESTED = 'returns exactly the days of the requested range'
const WEEKEND = 'returns no other days for a weekend'
const PUBLICATION = 'declares a publication that the handler accepts'
const SERIES = 'returns the same days of one currency from fetchSeries()'

/** Rules, each with a change that breaks it. */
type Breaking = [rule: string, change: Change][]

const BAD_METHODS: Breaking = [
  [NAMED, named(' ', 'https://treasury.example')],
  [NAMED, named('Our treasury', 'treasury.example')],
  [NAMED, named('Our treasury', 'javascript:alert()')],
  [CONTEXT, { modify: (given) => Object.assign(given, { seen: 1 }) }],
  [CONTEXT, { modify: (given) => 'fetch' in given && Object.assign(given, { fetch: () => {} }) }],
]

let count = 0

const BAD_TABLES: Breaking = [
  [ACCEPTED, withTable(() => ({ rates: {} }))],
  [DROPPED, withRates(() => ({ EUR: -1 }))],
  ['resolves to the same data on a second call', withRates(() => ({ EUR: (count += 1) }))],
  [CURRENCIES, withRates(() => ({ BTC: 0.00001 }))],
  [CURRENCIES, withRates(({ USD = 1 }) => ({ USD, ECS: USD }))],
  [TIMES, withTable(({ updatedAt: at }) => ({ updatedAt: at + DAY, nextUpdateAt: at + 2 * DAY }))],
  [TIMES, withTable(({ updatedAt }) => ({ nextUpdateAt: updatedAt }))],
  [
    PREVIOUS,
    { table: (table, previous) => ({ ...table, updatedAt: table.updatedAt - Number(!!previous) }) },
  ],
  [
    PREVIOUS,
    { table: (table, previous) => (Object.assign(previous?.rates ?? {}, { EUR: 1 }), table) },
  ],
  [STORED, { validateStored: async (table) => ({ ...table, rates: {} }) }],
  [
    STORED,
    {
      validateStored: async (table, previous) =>
        previous ? Promise.reject(new Error('not new')) : table,
    },
  ],
]

const BAD_DAYS: Breaking = [
  [ACCEPTED, withDays(() => [])],
  [DROPPED, withDays((days) => days.flatMap((day) => [day, day]))],
  [
    CURRENCIES,
    withDays(([first, ...days]) => {
      const { date = '', rates: { USD = 1 } = {} } = first ?? {}
      return [{ date, rates: { USD, ECS: USD } }, ...days]
    }),
  ],
  ['returns days in ascending order, without duplicates', withDays((days) => days.toReversed())],
  [SINGLE, withDays((days, { end }) => days.filter(({ date }) => date !== end))],
  [REQUESTED, withDays((days, { end }) => days.filter(({ date }) => date !== end))],
  [
    REQUESTED,
    withDays((days, { start }) =>
      days.map(({ date, rates }) => ({ date, rates: { ...rates, JPY: Number(start.slice(8)) } })),
    ),
  ],
  [
    WEEKEND,
    withDays((days, range) =>
      isWeekend(range) ? [{ date: '2026-11-13', rates: { USD: 1.1 } }] : days,
    ),
  ],
  // oxlint-disable-next-line prefer-promise-reject-errors -- a bad provider
  [WEEKEND, { days: async (days, range) => (isWeekend(range) ? Promise.reject('closed') : days) }],
  [
    'does not modify its range',
    { modify: (given) => 'start' in given && Object.assign(given, { start: '1999-01-04' }) },
  ],
  [
    'quotes every code in one direction, on all days',
    withDays(([first, ...days]) => [
      { date: first?.date ?? '', rates: {}, prices: { GBP: 1.2 } },
      ...days,
    ]),
  ],
  [PUBLICATION, { publication: { ...DAILY, time: '4 pm' } }],
  [PUBLICATION, { publication: DAILY, maxDays: 0.5 }],
  [
    SERIES,
    {
      fetchSeries: async ({ code, start }) => ({
        base: 'EUR',
        days: [{ date: start, rates: { [code]: 1 } }],
      }),
    },
  ],
  [SERIES, { fetchSeries: async () => ({ base: 'EUR', days: [] }) }],
]

const { latest: fake, history: fakeHistory } = fakeProviders()

const TRIALS: Record<string, ProviderContractOptions> = {
  'fake providers': { latest: () => fake, history: async () => fakeHistory },
  'a failing provider that does not fail': {
    latest: () => failingProvider('timeout', { times: 0 }),
    history: () => failingProvider('timeout', { times: 0 }),
    now,
  },
  'a treasury': await latestTrial(),
  'an archive': await historyTrial(),
  'an archive with a table per day': await historyTrial({ publication: DAILY, maxDays: 1 }),
  'an archive of a week at once': await historyTrial({ publication: DAILY, maxDays: 7 }),
}

const toRule = (name: string): string => name.replace(/^\w+\(\) /, '')

async function failures(given: ProviderContractOptions): Promise<Map<string, Error>> {
  const failed = await failuresOf(providerContract(given))
  return new Map(Array.from(failed, ([name, error]) => [toRule(name), error]))
}

async function expectDetected(given: ProviderContractOptions, rule: string): Promise<void> {
  const failed = await failures(given)
  expect([...failed.keys()]).toContain(rule)
  for (const { message } of failed.values()) expect(message).toMatch(/^expected \S/)
}

const namesOf = (given: ProviderContractOptions): string[] =>
  providerContract(given).map(({ name }) => name)

afterEach(() => void vi.useRealTimers())

describe('providerContract()', { timeout: 60_000 }, () => {
  it.each(Object.entries(TRIALS))('passes for %s', async (_, given) => {
    expect(await failures(given)).toEqual(new Map())
  })

  it.each([...BAD_METHODS, ...BAD_TABLES])('finds latest rates that break: %s', async (rule, how) =>
    expectDetected(await latestTrial(how), rule),
  )

  it.each([...BAD_METHODS, ...BAD_DAYS])('finds a history that breaks: %s', async (rule, how) =>
    expectDetected(await historyTrial(how), rule),
  )

  it.each(Object.entries(BAD_CLIENTS))('finds a client that breaks: %s', async (rule, client) => {
    await expectDetected(await latestTrial({ client }), rule)
    await expectDetected(await historyTrial({ client }), rule)
  })

  it('detects a provider that sends requests without a fetch in the options', async () => {
    const { latest, now } = await latestTrial()
    await expectDetected({ latest, now }, OFFLINE)
    const silent = async (context: ProviderContext): Promise<LatestTable> => {
      context.fetch('https://treasury.example').catch(() => undefined)
      return fake.fetchLatest(context)
    }
    const failed = await failures({ latest: () => ({ ...fake, fetchLatest: silent }) })
    expect([...failed.keys()]).toEqual([OFFLINE])
  })

  it('detects a provider without requests that takes too long', async () => {
    const late = async (context: ProviderContext): Promise<LatestTable> => {
      await new Promise((resolve) => void setTimeout(resolve, 2_000))
      return fake.fetchLatest({ ...context, signal: new AbortController().signal })
    }
    const failed = await failures({ latest: () => ({ ...fake, fetchLatest: late }) })
    expect([...failed.keys()]).toEqual([ENDS])
  })

  it('detects failing providers', async () => {
    for (const kind of ['unreachable', 'timeout', 'malformed', 'bad-rates'] as const) {
      const create = () => failingProvider(kind)
      await expectDetected({ latest: create, now }, ACCEPTED)
      await expectDetected({ history: create, now }, ACCEPTED)
    }
    const failed = await failures({ latest: () => failingProvider('one-bad-rate'), now })
    expect([...failed.keys()]).toEqual([DROPPED])
  })

  it('has distinct names that begin with the method, each with a bad provider above', async () => {
    const { latest, fetch } = await latestTrial()
    const { history } = await historyTrial()
    const [ofLatest, ofHistory] = [namesOf({ latest, fetch }), namesOf({ history, fetch })]
    const all = namesOf({ latest, history, fetch })
    expect(all).toEqual([...ofLatest, ...ofHistory])
    expect(new Set(all).size).toBe(all.length)
    expect(ofLatest.filter((name) => !name.startsWith('fetchLatest() '))).toEqual([])
    expect(ofHistory.filter((name) => !name.startsWith('fetchHistory() '))).toEqual([])
    const changes = [...BAD_METHODS, ...BAD_TABLES, ...BAD_DAYS].map(([rule]) => rule)
    const detecting = [...changes, ...Object.keys(BAD_CLIENTS), OFFLINE, ENDS]
    const rules = [...all, ...namesOf({ latest, history })].map(toRule)
    expect(new Set(detecting)).toEqual(new Set(rules))
  })

  it('creates one provider per case, when the case runs', async () => {
    const create = vi.fn<() => LatestProvider>(() => fake)
    const all = providerContract({ latest: create })
    expect(create).not.toHaveBeenCalled()
    await failuresOf(all)
    expect(create).toHaveBeenCalledTimes(all.length)
  })

  it('throws without a function that creates a provider', () => {
    for (const given of [{}, { latest: undefined, fetch }, { latest: fake }])
      expect(() => Reflect.apply(providerContract, undefined, [given])).toThrow(TypeError)
  })

  it('rejects with the expected and the actual value', async () => {
    const failed = await failures(await latestTrial(withRates(() => ({ EUR: -1, GBP: 0 }))))
    expect(failed.get(DROPPED)?.message).toMatch(/^expected .*dropped.*, got "EUR, GBP"$/)
    const [, withoutEnd] = BAD_DAYS.find(([rule]) => rule === SINGLE) ?? []
    const message = (await failures(await historyTrial(withoutEnd))).get(
      'returns a single requested day',
    )?.message
    expect(message).toContain("fetchHistory({ start: '2026-11-17', end: '2026-11-17' })")
    expect(message).toMatch(/ "\[\\"2026-11-17\\"\]", got "\[\]"$/)
    let calls = 0
    const counting = await failures(await latestTrial(withRates(() => ({ ZWG: (calls += 1) }))))
    expect(counting.get('resolves to the same data on a second call')?.message).toMatch(
      /^expected .* \d{4} .* ".*\\"ZWG\\":.*, got ".*\\"ZWG\\":/,
    )
    const silent = await failures(await latestTrial({ client: () => () => new Promise(() => {}) }))
    expect(silent.get(ACCEPTED)?.message).toMatch(/^expected fetchLatest\(\) .* within 4000 ms$/)
    const down = await failures({ latest: () => failingProvider('unreachable') })
    expect(down.get(ACCEPTED)).toMatchObject({
      message: expect.stringMatching(/^expected fetchLatest\(\) .*: upstream\.example /),
      cause: expect.any(Error),
    })
  })

  it('stops a provider that retries endlessly, and leaves no timers', async () => {
    let requests = 0
    const again: Client = (fetch) => async (url, init) => {
      for (;;) {
        requests += 1
        const response = await fetch(url, init).catch(() => undefined)
        if (response) return response
      }
    }
    const all = providerContract(await latestTrial({ client: again }))
    const name = 'rejects if the upstream cannot be reached'
    expect((await failuresOf(all.filter((each) => each.name.endsWith(name)))).size).toBe(1)
    const before = requests
    await vi.advanceTimersByTimeAsync(1_000)
    expect([requests, vi.getTimerCount()]).toEqual([before, 0])
  })
})
