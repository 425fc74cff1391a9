import type { HistoryDays, HistoryProvider, LatestTable } from '../../src/index.ts'
import type { Change, Client } from './trial-providers.ts'

const HOUR = 3_600_000

let count = 0

/** Lists faults by the case that must detect them; `also` has further cases that must detect some of them. */
function listed<How>(
  byCase: Record<string, Record<string, How>>,
  also: Record<string, string[]> = {},
): { what: string; how: How; detectedBy: string[] }[] {
  return Object.entries(byCase).flatMap(([name, faults]) =>
    Object.entries(faults).map(([what, how]) => {
      return { what, how, detectedBy: [name, ...(also[what] ?? [])] }
    }),
  )
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

const withFallback: Client = (fetch, good) => async (url, init) =>
  fetch(url, init)
    .then(async (response) => new Response(await response.text()))
    .catch(() => new Response(good))

function rejectingWith(retryAfterMs: unknown): Client {
  return (fetch) => async (url, init) => {
    const response = await fetch(url, init)
    if (response.ok) return response
    throw Object.assign(new Error('rate limit'), { retryAfterMs })
  }
}

const followingRedirects: Client = (fetch) => async (url, init) => {
  for (;;) {
    const response = await fetch(url, init)
    if (response.status !== 302) return response
    await new Promise((resolve) => void setTimeout(resolve, 100))
  }
}

function isInvalidJson(text: string): boolean {
  try {
    JSON.parse(text)
    return false
  } catch {
    return true
  }
}

const ABORTED = 'rejects if its signal has already aborted'
const AMID = 'rejects if its signal aborts during the body'
const ENDLESS = 'rejects if its signal aborts during an endless body'
const UNREACHABLE = 'rejects if the upstream cannot be reached'
const REDIRECTS = 'rejects if the upstream redirects endlessly'

/** Clients that every provider contract must detect. */
export const BAD_CLIENTS = listed<Client>(
  {
    'sends its requests with context.fetch': {
      'sends no requests': (_, good) => async () => new Response(good),
    },
    'rejects if its signal aborts before the response': {
      'ignores the signal': (fetch) => (url) => fetch(url),
    },
    [AMID]: {
      'ignores the signal after the response': (fetch) => async (url, init) => {
        const controller = new AbortController()
        const abort = (): void => controller.abort()
        init?.signal?.addEventListener('abort', abort)
        if (init?.signal?.aborted) abort()
        const response = await fetch(url, { signal: controller.signal })
        init?.signal?.removeEventListener('abort', abort)
        return response
      },
    },
    [ENDLESS]: {
      'truncates a long body': (fetch, good) => async (url, init) => {
        const { body, status } = await fetch(url, init)
        let text = ''
        for await (const part of body ?? []) {
          text += new TextDecoder().decode(part)
          if (text.length > 1_000_000) return new Response(good)
        }
        return new Response(text, { status })
      },
    },
    [UNREACHABLE]: {
      'has fallback rates': withFallback,
    },
    'rejects if the upstream returns HTTP 500, even with a valid body': {
      'ignores the status': (fetch) => async (url, init) =>
        new Response((await fetch(url, init)).body),
    },
    'rejects if the upstream returns an HTML page': {
      'reads rates from a page': accepting((text) => text.startsWith('<!doctype')),
    },
    'rejects if the upstream returns an empty body': {
      'reads an empty body as no change': accepting((text) => text === ''),
    },
    'rejects if the upstream returns truncated JSON': {
      'repairs JSON': accepting(isInvalidJson),
    },
    'rejects if the upstream returns JSON with null in place of every value': {
      'fills in values': accepting((text) => text.includes(':null')),
    },
    'rejects if the upstream returns JSON of another structure': {
      'reads an empty object as no change': accepting((text) => text === '{}'),
    },
    [REDIRECTS]: {
      'follows redirects endlessly': followingRedirects,
    },
    'rejects if the upstream fails after a success': {
      'returns its last response again': (fetch) => {
        let last: string | undefined
        return async (url, init) => {
          const response = await fetch(url, init).catch((error: unknown) => {
            if (last === undefined) throw error
            return new Response(last)
          })
          last = await response.clone().text()
          return response
        }
      },
    },
    'rejects without a retryAfterMs shorter than Retry-After': {
      'rejects with a delay in seconds': rejectingWith(120),
    },
  },
  {
    'ignores the signal': [ABORTED, AMID, ENDLESS],
    'ignores the signal after the response': [ENDLESS],
    'has fallback rates': ['rejects if the upstream disconnects during the body', AMID],
    'ignores the status': [
      'rejects if the upstream returns HTTP 404, even with a valid body',
      REDIRECTS,
    ],
  },
)

function named(name: string, url: string): Change {
  return { attribution: { name, url } }
}

/** Further faults that both provider contracts must detect. */
export const BAD_METHODS = listed<Change>({
  'has an attribution with a name and a URL': {
    'has no name': named(' ', 'https://treasury.example'),
    'has no URL': named('Our treasury', 'treasury.example'),
    'has a javascript URL': named('Our treasury', 'javascript:alert()'),
  },
  'does not modify its context': {
    'adds a property to its context': { modify: (given) => Object.assign(given, { seen: 1 }) },
    'replaces the fetch of its context': {
      modify: (given) => 'fetch' in given && Object.assign(given, { fetch: () => {} }),
    },
  },
})

const CURRENCIES = 'returns codes of ISO 4217, and withdrawn currencies at their legal ratio'
const ACCEPTED = 'resolves to data that the handler accepts'
const DROPPED = 'resolves to no rates or days that the handler would drop'
const SAME = 'resolves to the same data on a second call'

function withTable(change: (table: LatestTable) => object): Change {
  return { table: (table) => ({ ...table, ...change(table) }) }
}

/** Changes the rates of a good table. */
export function withRates(change: (rates: LatestTable['rates']) => object): Change {
  return withTable(({ rates }) => ({ rates: { ...rates, ...change(rates) } }))
}

export const BAD_TABLES = listed<Change>({
  [ACCEPTED]: {
    'has no rates': withTable(() => ({ rates: {} })),
  },
  [DROPPED]: {
    'has a rate below zero': withRates(() => ({ EUR: -1 })),
  },
  [SAME]: {
    'has other rates in every call': withRates(() => ({ EUR: (count += 1) })),
  },
  [CURRENCIES]: {
    'has bitcoins': withRates(() => ({ BTC: 0.00001 })),
    'has dollars as sucres': withRates(({ USD = 1 }) => ({ USD, ECS: USD })),
  },
  'returns an updatedAt not in the future and a later nextUpdateAt': {
    'was published tomorrow': withTable(({ updatedAt }) => ({
      updatedAt: updatedAt + 24 * HOUR,
      nextUpdateAt: updatedAt + 48 * HOUR,
    })),
    'has a next update at the time of publication': withTable(({ updatedAt }) => ({
      nextUpdateAt: updatedAt,
    })),
  },
  'returns the same table after its own previous table': {
    'returns another table after the previous one': {
      table: (table, previous) => (previous ? { ...table, updatedAt: table.updatedAt - 1 } : table),
    },
    'modifies the previous table': {
      table(table, previous) {
        if (previous) previous.rates['EUR'] = 1
        return table
      },
    },
  },
  'accepts its own stored table': {
    'replaces a stored table with a bad one': {
      validateStored: async (table) => ({ ...table, rates: {} }),
    },
    'rejects a stored table that equals the previous one': {
      async validateStored(table, previous) {
        if (previous) throw new Error('not new')
        return table
      },
    },
  },
})

function withDays(
  change: (days: HistoryDays['days'], range: { start: string; end: string }) => HistoryDays['days'],
): Change {
  return { days: ({ base, days }, range) => ({ base, days: change(days, range) }) }
}

function withFirstDay(change: (day: HistoryDays['days'][number]) => object): Change {
  return withDays((days) => days.map((day, at) => (at === 0 ? { ...day, ...change(day) } : day)))
}

function isWeekend({ start, end }: { start: string; end: string }): boolean {
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

const REQUESTED_DAYS = 'returns exactly the days of the requested range'

export const BAD_DAYS = listed<Change>(
  {
    [ACCEPTED]: {
      'has no days': withDays(() => []),
    },
    [DROPPED]: {
      'has a rate of zero': withFirstDay(({ rates }) => ({ rates: { ...rates, JPY: 0 } })),
    },
    [SAME]: {
      'has other rates in every call': withFirstDay(({ rates }) => ({
        rates: { ...rates, JPY: (count += 1) },
      })),
    },
    [CURRENCIES]: {
      'has bitcoins': withFirstDay(({ rates }) => ({ rates: { ...rates, BTC: 0.00001 } })),
      'has dollars as sucres': withFirstDay(({ rates: { USD = 1 } }) => ({
        rates: { USD, ECS: USD },
      })),
    },
    'returns days in ascending order, without duplicates': {
      'begins with the newest day': withDays((days) => days.toReversed()),
      'has a day twice': withDays((days) => days.flatMap((day) => [day, day])),
    },
    'returns a single requested day': {
      'omits the end': withDays((days, { end }) => days.filter(({ date }) => date !== end)),
      'omits the start': withDays((days, { start }) => days.filter(({ date }) => date !== start)),
    },
    [REQUESTED_DAYS]: {
      'has other rates in another range': withDays((days, { start }) =>
        days.map(({ date, rates }) => ({ date, rates: { ...rates, JPY: Number(start.slice(8)) } })),
      ),
    },
    'returns no other days for a weekend': {
      'returns the last day before a weekend': withDays((days, range) =>
        isWeekend(range) ? [{ date: '2026-11-13', rates: { USD: 1.1 } }] : days,
      ),
      'rejects with a string at weekends': {
        days(days, range) {
          if (isWeekend(range)) throw 'closed'
          return days
        },
      },
    },
    'does not modify its range': {
      'changes its range': {
        modify: (given) => 'start' in given && Object.assign(given, { start: '1999-01-04' }),
      },
    },
    'quotes every code in one direction, on all days': {
      'has a price of one day and rates of the others': withDays((days) =>
        days.map(({ date, rates: { GBP = NaN, ...rates } }, at) =>
          at === 0
            ? { date, rates, prices: { GBP: 1 / GBP } }
            : { date, rates: { ...rates, GBP }, prices: {} },
        ),
      ),
    },
    'declares a publication that the handler accepts': {
      'has an invalid holiday': { publication: { ...DAILY, holidays: ['25-12'] } },
      'has an invalid time': { publication: { ...DAILY, time: '4 pm' } },
      'has an invalid time zone': { publication: { ...DAILY, timeZone: 'Europe/Atlantis' } },
      'has an invalid first day': { publication: { ...DAILY, since: '1999' } },
      'has an invalid identifier': { publication: { ...DAILY, id: 'Our archive' } },
      'has ranges of no days': { publication: DAILY, maxDays: 0.5 },
    },
    'returns the same days of one currency from fetchSeries()': {
      'has other rates in a series': {
        fetchSeries: async ({ code, start }) => {
          return { base: 'EUR', days: [{ date: start, rates: { [code]: 1 } }] }
        },
      },
      'has no days in a series': { fetchSeries: async () => ({ base: 'EUR', days: [] }) },
    },
  },
  { 'has a day twice': [DROPPED], 'omits the end': [REQUESTED_DAYS] },
)
