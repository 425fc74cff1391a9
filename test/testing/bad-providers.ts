import type { HistoryDays, LatestTable } from '../../src/index.ts'
import type { Change, Client } from './trial-providers.ts'

const HOUR = 3_600_000

let count = 0

/** Ways to be bad, by the case that must find them; `also` has further cases that must find some of them. */
function listed<How>(
  byCase: Record<string, Record<string, How>>,
  also: Record<string, string[]> = {},
): { what: string; how: How; found: string[] }[] {
  return Object.entries(byCase).flatMap(([name, ways]) =>
    Object.entries(ways).map(([what, how]) => {
      return { what, how, found: [name, ...(also[what] ?? [])] }
    }),
  )
}

/** A client that returns a good response where `isTaken` accepts the text of a response. */
function taking(isTaken: (text: string) => boolean): Client {
  return (fetch, good) => async (url, init) => {
    const response = await fetch(url, init)
    if (!response.ok) return response
    const text = await response.text()
    return new Response(isTaken(text) ? good : text)
  }
}

/** A client that calls `instead` unless the response is good. */
function onFailure(instead: (error: unknown, good: string) => Response): Client {
  return (fetch, good) => async (url, init) => {
    try {
      return new Response(await (await fetch(url, init)).text())
    } catch (error) {
      return instead(error, good)
    }
  }
}

function refusingWith(retryAfterMs: unknown): Client {
  return (fetch) => async (url, init) => {
    const response = await fetch(url, init)
    if (response.ok) return response
    throw Object.assign(new Error('refused'), { retryAfterMs })
  }
}

/** A client that retries, after a short pause, until a response is good enough. */
function again(isEnough: (response: Response) => boolean): Client {
  return (fetch) => async (url, init) => {
    for (;;) {
      const response = await fetch(url, init).catch(() => undefined)
      if (response && isEnough(response)) return response
      await new Promise((resolve) => {
        setTimeout(resolve, 100)
      })
    }
  }
}

function isNoJson(text: string): boolean {
  try {
    JSON.parse(text)
    return false
  } catch {
    return true
  }
}

const ABORTED = 'gives up when its signal has aborted already'
const AMID = 'gives up when its signal aborts amid an answer'
const ENDLESS = 'gives up when its signal aborts over an answer without an end'
const UNREACHABLE = 'fails when its upstream cannot be reached'
const REDIRECTS = 'fails when its upstream redirects for ever'

/** Ways of reading an upstream that no method of a provider must have. */
export const BAD_CLIENTS = listed<Client>(
  {
    'makes its requests with the fetch of its context': {
      'has its rates from elsewhere': (_, good) => async () => new Response(good),
    },
    'gives up when its signal aborts before there is an answer': {
      'knows no signal': (fetch) => (url) => fetch(url),
    },
    [AMID]: {
      'lets go of the signal once it has an answer': (fetch) => async (url, init) => {
        const own = new AbortController()
        const abort = (): void => own.abort()
        init?.signal?.addEventListener('abort', abort)
        if (init?.signal?.aborted) abort()
        const response = await fetch(url, { signal: own.signal })
        init?.signal?.removeEventListener('abort', abort)
        return response
      },
    },
    [ENDLESS]: {
      'has enough of a body that is too long': (fetch, good) => async (url, init) => {
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
      'has its own rates where upstream fails': onFailure((_, good) => new Response(good)),
      'tries again for ever': again(() => true),
      'rejects with a text': onFailure(() => {
        throw 'down'
      }),
    },
    'fails when its upstream answers with 500, whatever its body': {
      'looks at no status': (fetch) => async (url, init) =>
        new Response((await fetch(url, init)).body),
    },
    'fails when its upstream answers with a page of HTML': {
      'reads rates off a page': taking((text) => text.startsWith('<!doctype')),
    },
    'fails when its upstream answers with nothing': {
      'takes nothing for no change': taking((text) => text === ''),
    },
    'fails when its upstream answers with JSON that ends early': {
      'mends JSON': taking(isNoJson),
    },
    'fails when its upstream answers with JSON without its values': {
      'fills in values': taking((text) => text.includes(':null')),
    },
    'fails when its upstream answers with JSON of another form': {
      'takes no rates for no change': taking((text) => text === '{}'),
    },
    [REDIRECTS]: {
      'follows redirects for ever': again(({ status }) => status !== 302),
    },
    'fails when its upstream can be reached no longer': {
      'remembers its last answer': (fetch) => {
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
    'asks for no shorter pause than its upstream did': {
      'counts a pause in seconds': refusingWith(120),
      'has a pause in a text': refusingWith('120000'),
      'has a pause that is not a number': refusingWith(NaN),
    },
  },
  {
    'knows no signal': [ABORTED, AMID, ENDLESS],
    'lets go of the signal once it has an answer': [ENDLESS],
    'has its own rates where upstream fails': [
      'fails when its upstream breaks off amid its answer',
      AMID,
    ],
    'looks at no status': [
      'fails when its upstream answers with 404, whatever its body',
      REDIRECTS,
    ],
    'tries again for ever': [ABORTED],
  },
)

function named(name: string, url: string): Change {
  return { attribution: { name, url } }
}

/** What a method of a provider must not do either. */
export const BAD_METHODS = listed<Change>({
  'has a name and a link to show beside its rates': {
    'has no name': named(' ', 'https://treasury.example'),
    'has no link': named('Our treasury', 'treasury.example'),
    'has a link that runs something': named('Our treasury', 'javascript:alert()'),
  },
  'leaves its context as it is': {
    'keeps something in its context': { meddle: (given) => Object.assign(given, { seen: 1 }) },
    'puts another fetch into its context': {
      meddle: (given) => 'fetch' in given && Object.assign(given, { fetch: () => {} }),
    },
  },
})

const ACCEPTED = 'resolves to what the handler accepts'
const DROPPED = 'has nothing in it that the handler would drop'
const SAME = 'gives the same when it is asked again'

function withTable(change: (table: LatestTable) => object): Change {
  return { table: (table) => ({ ...table, ...change(table) }) }
}

/** A good provider whose table has these rates, too. */
export function withRates(change: (rates: LatestTable['rates']) => object): Change {
  return withTable(({ rates }) => ({ rates: { ...rates, ...change(rates) } }))
}

export const BAD_TABLES = listed<Change>({
  [ACCEPTED]: {
    'has codes in lower case': withTable(({ rates }) => {
      const lower = Object.entries(rates).map(([code, rate]) => [code.toLowerCase(), rate])
      return { rates: Object.fromEntries(lower) }
    }),
    'quotes its base at 2': withRates(() => ({ USD: 2 })),
    'has its rates in texts': withRates((rates) =>
      Object.fromEntries(Object.keys(rates).map((code) => [code, '1.5'])),
    ),
    'has its time in seconds': withTable(({ updatedAt }) => ({
      updatedAt: Math.floor(updatedAt / 1_000),
    })),
    'has no rates': withTable(() => ({ rates: {} })),
  },
  [DROPPED]: {
    'has a rate below zero': withRates(() => ({ EUR: -1 })),
    'has a rate that is not a number': withRates(() => ({ EUR: NaN })),
    'has something else among its codes': withRates(() => ({ 'EUR=X': 1 })),
  },
  [SAME]: {
    'has other rates every time': withRates(() => ({ EUR: (count += 1) })),
  },
  'was published by now, and says when it will be next': {
    'was published tomorrow': withTable(({ updatedAt }) => ({
      updatedAt: updatedAt + 24 * HOUR,
      nextUpdateAt: updatedAt + 48 * HOUR,
    })),
    'publishes next when it has published': withTable(({ updatedAt }) => ({
      nextUpdateAt: updatedAt,
    })),
  },
  'gives the same beside its own table before': {
    'has another table beside the one before': {
      table: (table, previous) => (previous ? { ...table, updatedAt: table.updatedAt - 1 } : table),
    },
    'changes the table before': {
      table(table, previous) {
        if (previous) previous.rates['EUR'] = 1
        return table
      },
    },
  },
  'accepts its own stored table': {
    'rejects every stored table': {
      validateStored() {
        throw new Error('bad')
      },
    },
    'turns a stored table into a bad one': { validateStored: (table) => ({ ...table, rates: {} }) },
    'rejects its stored table after the same one': {
      validateStored(table, previous) {
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

const ASKED_DAYS = 'has the days that were asked for, and no others'

export const BAD_DAYS = listed<Change>(
  {
    [ACCEPTED]: {
      'has no days': withDays(() => []),
      'has its rates in texts': withDays((days) =>
        JSON.parse(JSON.stringify(days).replaceAll(/:([\d.]+)/g, ':"$1"')),
      ),
    },
    [DROPPED]: {
      'writes its days otherwise': withFirstDay(({ date }) => ({ date: date.replaceAll('-', '') })),
      'has a rate of zero': withFirstDay(({ rates }) => ({ rates: { ...rates, JPY: 0 } })),
    },
    [SAME]: {
      'has other rates every time': withFirstDay(({ rates }) => ({
        rates: { ...rates, JPY: (count += 1) },
      })),
    },
    'has its days in ascending order, none of them twice': {
      'begins with the newest day': withDays((days) => days.toReversed()),
      'has a day twice': withDays((days) => days.flatMap((day) => [day, day])),
    },
    'has the one day that was asked for': {
      'leaves out the end': withDays((days, { end }) => days.filter(({ date }) => date !== end)),
      'leaves out the start': withDays((days, { start }) =>
        days.filter(({ date }) => date !== start),
      ),
    },
    [ASKED_DAYS]: {
      'has other rates in another range': withDays((days, { start }) =>
        days.map(({ date, rates }) => ({ date, rates: { ...rates, JPY: Number(start.slice(8)) } })),
      ),
    },
    'has no other days where a weekend was asked for': {
      'goes back to the last day before a weekend': withDays((days, range) =>
        isWeekend(range) ? [{ date: '2026-11-13', rates: { USD: 1.1 } }] : days,
      ),
      'rejects with a text at weekends': {
        days(days, range) {
          if (isWeekend(range)) throw 'closed'
          return days
        },
      },
      'hangs at weekends': {
        days: (days, range) => (isWeekend(range) ? new Promise(() => {}) : days),
      },
    },
    'leaves the range as it is': {
      'changes its range': {
        meddle: (given) => 'start' in given && Object.assign(given, { start: '1999-01-04' }),
      },
    },
  },
  { 'has a day twice': [DROPPED], 'leaves out the end': [ASKED_DAYS] },
)
