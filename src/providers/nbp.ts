import { assertKnownOptions } from '../known-options.ts'
import type { Publication } from '../rates/calendar.ts'
import { isCode } from '../rates/currency-code.ts'
import { dayNumber, isDay, piecesOf } from '../rates/dates.ts'
import type { DaySpan } from '../rates/dates.ts'
import {
  MAX_CLOSED_DAYS,
  addQuote,
  parseBody,
  publishedPart,
  requireRootUrl,
} from '../upstream/feed.ts'
import type { HistoryDay, HistoryProvider } from '../upstream/provider.ts'
import { readText } from '../upstream/request.ts'
import type { UpstreamResponse } from '../upstream/request.ts'

/** Options of `createNbpProvider`. */
export interface NbpOptions {
  /**
   * Table of the bank: `A`, some 30 currencies on working days, or `B`, over 100 other currencies on Wednesdays (default
   * `A`).
   */
  table?: 'A' | 'B' | undefined
  /** Root of the service, to which `/api/exchangerates/tables/…` is appended (default `https://api.nbp.pl`). */
  url?: string | undefined
}

/** 93 days of table A have 160 kB. */
const LIMITS = { maxBytes: 2 * 1024 * 1024, redirectHosts: ['api.nbp.pl'] }

/** The service rejects longer ranges. */
const MAX_DAYS = 93

const BASE = 'PLN'

const DAILY: Publication = {
  id: 'nbp-a',
  frequency: 'daily',
  holidays:
    '01-01, 01-06 2011-, easter+1, 05-01, 05-03, easter+60, 08-15, 11-01, 11-11, 2018-11-12, 12-24 2025-, 12-25, 12-26'.split(
      ', ',
    ),
  time: '12:15',
  timeZone: 'Europe/Warsaw',
  since: '2002-01-02',
}

const PUBLICATIONS: Readonly<Record<'A' | 'B', Publication>> = {
  A: DAILY,
  B: { ...DAILY, id: 'nbp-b', frequency: 'weekly', weekday: 3 },
}

/**
 * Days from which table B has another currency's rates under a code: those of the new afghani, of 2009's Zimbabwe dollar, and
 * of currencies that had other codes since before 2002.
 */
const MISNAMED_SINCE: Readonly<Record<string, string>> = {
  AFA: '2003-01-07',
  AON: '2002-01-02',
  BYB: '2002-01-02',
  ZWR: '2009-02-25',
}

/**
 * Creates a provider of history: average rates of Narodowy Bank Polski, the central bank of Poland, in zloty, since 2002.
 * Needs no key. Table A has some 30 currencies on Polish working days at 12:15 in Warsaw, table B over 100 others on
 * Wednesdays. Fetches more than 93 days in pieces, one after another.
 *
 * @throws {TypeError} if `table` or `url` is invalid
 * @see https://api.nbp.pl/en.html
 * @example
 * ```ts
 * import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
 * import { createNbpProvider } from 'ratesmith/providers/nbp'
 *
 * const history = [createFrankfurterProvider(), createNbpProvider(), createNbpProvider({ table: 'B' })]
 * const handler = createRatesHandler({ providers: { history } })
 * ```
 */
export function createNbpProvider(options: NbpOptions = {}): HistoryProvider {
  const { table = 'A', url = 'https://api.nbp.pl' } = options
  assertKnownOptions(options, { table, url })
  if (!Object.hasOwn(PUBLICATIONS, table)) {
    throw new TypeError(`table must be A or B, got ${String(table)}`)
  }
  const publication = PUBLICATIONS[table]
  const tables = `${requireRootUrl(url)}/api/exchangerates/tables/${table}`
  return {
    attribution: {
      name: `Narodowy Bank Polski, table ${table}`,
      url: 'https://nbp.pl/en/statistic-and-financial-reporting/rates/',
    },
    sanityChecks: true,
    publication,
    maxDays: MAX_DAYS,
    async fetchHistory(range, context) {
      const days: HistoryDay[] = []
      const part = publishedPart(range, publication.since, context.now())
      for (const piece of piecesOf(part, MAX_DAYS)) {
        const target = `${tables}/${piece.start}/${piece.end}/?format=json`
        const response = await readText({ ...context, url: target, ...LIMITS }, 'application/json')
        if (isClosed(response, piece)) continue
        days.push(...(await parseBody(response, (text) => readTables(text, table, piece))))
      }
      return { base: BASE, days }
    },
  }
}

/** Returns whether the bank says that it has no data, of so few days that this may be true. */
function isClosed({ status, body }: UpstreamResponse<string>, { start, end }: DaySpan): boolean {
  const isShort = dayNumber(end) - dayNumber(start) < MAX_CLOSED_DAYS
  return isShort && status === 404 && body.includes('Brak danych')
}

/**
 * Parses `[{ table, effectiveDate, rates: [{ code, mid }, …] }, …]`.
 *
 * @throws {Error} if there are no tables, or one is of another kind or of a day outside of the range
 */
function readTables(text: string, table: string, range: DaySpan): HistoryDay[] {
  const tables = parseJson(text)
  if (!Array.isArray(tables) || tables.length === 0) throw new Error('whole body')
  const days = tables.map((each, index) => readTable(each, table, index))
  const ascending = days.toSorted((one, other) => (one.date < other.date ? -1 : 1))
  const odd = ascending.find(({ date }, index) => {
    return date < range.start || date > range.end || date === ascending[index + 1]?.date
  })
  if (odd) throw new Error(`table of ${odd.date}`)
  return ascending
}

function readTable(value: unknown, name: string, index: number): HistoryDay {
  const { table, effectiveDate: date, rates } = Object(value)
  const isTable = table === name && typeof date === 'string' && isDay(date)
  if (!isTable || !Array.isArray(rates)) throw new Error(`table ${index}`)
  const prices: Record<string, number> = {}
  for (const rate of rates) {
    const { code, mid } = Object(rate)
    if (!isCode(code) || code === BASE || isMisnamed(code, date)) continue
    addQuote(prices, code, typeof mid === 'number' ? mid : NaN)
  }
  if (Object.keys(prices).length === 0) throw new Error(`table ${index} without rates`)
  return { date, rates: {}, prices }
}

function isMisnamed(code: string, date: string): boolean {
  const since = MISNAMED_SINCE[code]
  return since !== undefined && date >= since
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('invalid JSON')
  }
}
