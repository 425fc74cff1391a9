import type {
  HistoryDays,
  HistoryProvider,
  LatestProvider,
  LatestTable,
  ProviderContext,
} from '../../src/index.ts'
import { fakeClock, fakeProviders } from '../../src/testing/index.ts'
import type { ProviderContractOptions } from '../../src/testing/index.ts'

type Fetch = typeof fetch
type Rates = LatestTable['rates']
type Days = HistoryDays['days']
type Day = Days[number]
interface Range {
  start: string
  end: string
}

/** Wraps the `fetch` of a provider; `good` is the body of a good response. */
export type Client = (fetch: Fetch, good: string) => Fetch

/** Changes to a good provider. */
export interface Change extends Pick<HistoryProvider, 'publication' | 'maxDays' | 'fetchSeries'> {
  attribution?: { name: string; url: string }
  client?: Client
  modify?(argument: object): void
  table?(table: LatestTable, previous: LatestTable | undefined): LatestTable
  validateStored?: NonNullable<LatestProvider['validateStored']>
  days?(days: HistoryDays, range: Range): HistoryDays | Promise<HistoryDays>
}

const clock = fakeClock('2026-11-20T18:00:00Z')
const market = fakeProviders({ now: clock })
const attribution = { name: 'Our treasury', url: 'https://treasury.example' }
const context = { fetch, signal: new AbortController().signal, now: clock }

/** Returns options for the provider of latest rates in the documentation, with `change`. */
export async function latestTrial(change: Change = {}): Promise<ProviderContractOptions> {
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
  return { now: clock, latest, fetch: () => new Response(good) }
}

/** Returns options for a good provider of history, with `change`. */
export async function historyTrial(change: Change = {}): Promise<ProviderContractOptions> {
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
    now: clock,
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

/** A client that returns a good response in place of one whose text `isAccepted`. */
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

/** Faults, with the cases that must detect each. */
export type Faults<How> = [what: string, how: How, ...detectedBy: string[]][]

const UPSTREAM = 'rejects if the upstream'
const ABORTS = 'rejects if its signal aborts'
const [AMID, ENDLESS] = [`${ABORTS} during the body`, `${ABORTS} during an endless body`]
const REDIRECTS = `${UPSTREAM} redirects endlessly`

/** Clients that every provider contract must detect. */
export const BAD_CLIENTS: Faults<Client> = [
  [
    'sends no requests',
    (_, good) => async () => new Response(good),
    'sends its requests with context.fetch',
  ],
  [
    'ignores the signal',
    (fetch) => (url) => fetch(url),
    'rejects if its signal has already aborted',
    `${ABORTS} before the response`,
    AMID,
    ENDLESS,
  ],
  ['ignores the signal after the response', ignoringSignalAfterResponse, AMID, ENDLESS],
  ['truncates a long body', truncatingLongBodies, ENDLESS],
  [
    'has fallback rates',
    withFallback,
    `${UPSTREAM} cannot be reached`,
    `${UPSTREAM} disconnects during the body`,
    AMID,
  ],
  [
    'ignores the status',
    (fetch) => async (url, init) => new Response((await fetch(url, init)).body),
    `${UPSTREAM} returns HTTP 500, even with a valid body`,
    `${UPSTREAM} returns HTTP 404, even with a valid body`,
    REDIRECTS,
  ],
  [
    'reads rates from a page',
    accepting((text) => text.startsWith('<!doctype')),
    `${UPSTREAM} returns an HTML page`,
  ],
  [
    'reads an empty body as no change',
    accepting((text) => text === ''),
    `${UPSTREAM} returns an empty body`,
  ],
  ['repairs JSON', accepting(isInvalidJson), `${UPSTREAM} returns truncated JSON`],
  [
    'fills in values',
    accepting((text) => text.includes(':null')),
    `${UPSTREAM} returns JSON with null in place of every value`,
  ],
  [
    'reads an empty object as no change',
    accepting((text) => text === '{}'),
    `${UPSTREAM} returns JSON of another structure`,
  ],
  ['follows redirects endlessly', followingRedirects, REDIRECTS],
  ['returns its last response again', repeatingLastResponse, `${UPSTREAM} fails after a success`],
  [
    'rejects with a delay in seconds',
    delayingInSeconds,
    'rejects without a retryAfterMs shorter than Retry-After',
  ],
]

const named = (name: string, url: string): Change => ({ attribution: { name, url } })

const NAMED = 'has an attribution with a name and a URL'
const CONTEXT = 'does not modify its context'
const CURRENCIES = 'returns codes of ISO 4217, and withdrawn currencies at their legal ratio'
const ACCEPTED = 'resolves to data that the handler accepts'
const DROPPED = 'resolves to no rates or days that the handler would drop'
const SAME = 'resolves to the same data on a second call'

/** Further faults that both provider contracts must detect. */
export const BAD_METHODS: Faults<Change> = [
  ['has no name', named(' ', 'https://treasury.example'), NAMED],
  ['has no URL', named('Our treasury', 'treasury.example'), NAMED],
  ['has a javascript URL', named('Our treasury', 'javascript:alert()'), NAMED],
  [
    'adds a property to its context',
    { modify: (given) => Object.assign(given, { seen: 1 }) },
    CONTEXT,
  ],
  [
    'replaces the fetch of its context',
    { modify: (given) => 'fetch' in given && Object.assign(given, { fetch: () => {} }) },
    CONTEXT,
  ],
]

const withTable = (change: (table: LatestTable) => object): Change => ({
  table: (table) => ({ ...table, ...change(table) }),
})

/** Changes the rates of a good table. */
export const withRates = (change: (rates: Rates) => object): Change =>
  withTable(({ rates }) => ({ rates: { ...rates, ...change(rates) } }))

const TIMES = 'returns an updatedAt not in the future and a later nextUpdateAt'
const PREVIOUS = 'returns the same table after its own previous table'
const STORED = 'accepts its own stored table'
const DAY = 86_400_000

let count = 0

export const BAD_TABLES: Faults<Change> = [
  ['has no rates', withTable(() => ({ rates: {} })), ACCEPTED],
  ['has a rate below zero', withRates(() => ({ EUR: -1 })), DROPPED],
  ['has other rates in every call', withRates(() => ({ EUR: (count += 1) })), SAME],
  ['has bitcoins', withRates(() => ({ BTC: 0.00001 })), CURRENCIES],
  ['has dollars as sucres', withRates(({ USD = 1 }) => ({ USD, ECS: USD })), CURRENCIES],
  [
    'was published tomorrow',
    withTable(({ updatedAt: at }) => ({ updatedAt: at + DAY, nextUpdateAt: at + 2 * DAY })),
    TIMES,
  ],
  [
    'has a next update at the time of publication',
    withTable(({ updatedAt }) => ({ nextUpdateAt: updatedAt })),
    TIMES,
  ],
  [
    'returns another table after the previous one',
    {
      table: (table, previous) => (previous ? { ...table, updatedAt: table.updatedAt - 1 } : table),
    },
    PREVIOUS,
  ],
  [
    'modifies the previous table',
    {
      table(table, previous) {
        if (previous) previous.rates['EUR'] = 1
        return table
      },
    },
    PREVIOUS,
  ],
  [
    'replaces a stored table with a bad one',
    { validateStored: async (table) => ({ ...table, rates: {} }) },
    STORED,
  ],
  [
    'rejects a stored table that equals the previous one',
    {
      async validateStored(table, previous) {
        if (previous) throw new Error('not new')
        return table
      },
    },
    STORED,
  ],
]

const withDays = (change: (days: Days, range: Range) => Days): Change => ({
  days: ({ base, days }, range) => ({ base, days: change(days, range) }),
})

const withFirstDay = (change: (day: Day) => object): Change =>
  withDays((days) => days.map((day, at) => (at === 0 ? { ...day, ...change(day) } : day)))

const withFirstRates = (change: (rates: Rates) => object): Change =>
  withFirstDay(({ rates }) => ({ rates: { ...rates, ...change(rates) } }))

function isWeekend({ start, end }: Range): boolean {
  return new Date(start).getUTCDay() === 6 && new Date(end).getUTCDay() === 0
}

export const DAILY: NonNullable<HistoryProvider['publication']> = {
  id: 'our-archive',
  frequency: 'daily',
  holidays: [],
  time: '16:00',
  timeZone: 'Europe/Berlin',
  since: '1999-01-04',
}

const ASCENDING = 'returns days in ascending order, without duplicates'
const SINGLE = 'returns a single requested day'
const REQUESTED = 'returns exactly the days of the requested range'
const WEEKEND = 'returns no other days for a weekend'
const PUBLICATION = 'declares a publication that the handler accepts'
const SERIES = 'returns the same days of one currency from fetchSeries()'

export const BAD_DAYS: Faults<Change> = [
  ['has no days', withDays(() => []), ACCEPTED],
  ['has a rate of zero', withFirstRates(() => ({ JPY: 0 })), DROPPED],
  ['has other rates in every call', withFirstRates(() => ({ JPY: (count += 1) })), SAME],
  ['has bitcoins', withFirstRates(() => ({ BTC: 0.00001 })), CURRENCIES],
  [
    'has dollars as sucres',
    withFirstDay(({ rates: { USD = 1 } }) => ({ rates: { USD, ECS: USD } })),
    CURRENCIES,
  ],
  ['begins with the newest day', withDays((days) => days.toReversed()), ASCENDING],
  ['has a day twice', withDays((days) => days.flatMap((day) => [day, day])), ASCENDING, DROPPED],
  [
    'omits the end',
    withDays((days, { end }) => days.filter(({ date }) => date !== end)),
    SINGLE,
    REQUESTED,
  ],
  [
    'omits the start',
    withDays((days, { start }) => days.filter(({ date }) => date !== start)),
    SINGLE,
  ],
  [
    'has other rates in another range',
    withDays((days, { start }) =>
      days.map(({ date, rates }) => ({ date, rates: { ...rates, JPY: Number(start.slice(8)) } })),
    ),
    REQUESTED,
  ],
  [
    'returns the last day before a weekend',
    withDays((days, range) =>
      isWeekend(range) ? [{ date: '2026-11-13', rates: { USD: 1.1 } }] : days,
    ),
    WEEKEND,
  ],
  [
    'rejects with a string at weekends',
    {
      days(days, range) {
        if (isWeekend(range)) throw 'closed'
        return days
      },
    },
    WEEKEND,
  ],
  [
    'changes its range',
    { modify: (given) => 'start' in given && Object.assign(given, { start: '1999-01-04' }) },
    'does not modify its range',
  ],
  [
    'has a price of one day and rates of the others',
    withDays((days) =>
      days.map(({ date, rates: { GBP = NaN, ...rates } }, at) =>
        at === 0
          ? { date, rates, prices: { GBP: 1 / GBP } }
          : { date, rates: { ...rates, GBP }, prices: {} },
      ),
    ),
    'quotes every code in one direction, on all days',
  ],
  ...Object.entries({
    holidays: ['25-12'],
    time: '4 pm',
    timeZone: 'Europe/Atlantis',
    since: '1999',
    id: 'Our archive',
  }).map(([field, value]): Faults<Change>[number] => [
    `has an invalid ${field} of its publication`,
    { publication: { ...DAILY, [field]: value } },
    PUBLICATION,
  ]),
  ['has ranges of no days', { publication: DAILY, maxDays: 0.5 }, PUBLICATION],
  [
    'has other rates in a series',
    {
      fetchSeries: async ({ code, start }) => {
        return { base: 'EUR', days: [{ date: start, rates: { [code]: 1 } }] }
      },
    },
    SERIES,
  ],
  ['has no days in a series', { fetchSeries: async () => ({ base: 'EUR', days: [] }) }, SERIES],
]
