import { runInSlices, yieldToEventLoop } from '../async.ts'
import type { LongJson, Slices } from '../async.ts'
import { assertKnownOptions } from '../known-options.ts'
import { addDays, isDay, piecesOf, toDay, toInstant } from '../rates/dates.ts'
import type { Day, DaySpan } from '../rates/dates.ts'
import { ECB_TERMS, requireRootUrl, unexpectedShape } from '../upstream/feed.ts'
import type {
  HistoryDay,
  HistoryDays,
  HistoryProvider,
  LatestProvider,
  LatestTable,
  ProviderContext,
} from '../upstream/provider.ts'
import { readJson, requireBody } from '../upstream/request.ts'
import type { UpstreamResponse } from '../upstream/request.ts'
import { runSanityChecks } from '../upstream/sanity-checks.ts'

/** Options of `createFrankfurterV2EcbProvider`. */
export interface FrankfurterV2EcbOptions {
  /** Root of the service, to which `/v2/rates` is appended (default `https://api.frankfurter.dev`). */
  url?: string | undefined
}

/** Options of `createFrankfurterV2Provider`. */
export interface FrankfurterV2Options extends FrankfurterV2EcbOptions {
  /** Central banks whose rates are blended, by their keys in Frankfurter, such as `['ECB', 'BOC']` (default all). */
  providers?: readonly string[] | undefined
}

const SERVICE = 'https://api.frankfurter.dev'

/** Five years of the European Central Bank's rates have about 2.5 MB. */
const LIMITS = {
  maxBytes: 8 * 1024 * 1024,
  redirectHosts: ['api.frankfurter.dev', 'frankfurter.dev'],
}

/** The service rejects longer ranges of all currencies: five years without leap days. */
const MAX_RANGE_DAYS = 5 * 365

/** `[{"date":"2026-11-20","base":"EUR","quote":"USD","rate":1.15},…]` */
const LIST_OF_ROWS: LongJson = {
  opening: '[',
  closing: ']',
  itemsOf: (document) => document,
  withItems: (_document, parts) => parts.flat(),
}

const MAX_PARALLEL_CALLS = 2

/**
 * Creates a provider of latest rates that Frankfurter blends from about 80 central banks. Needs no key. Sends a request
 * every hour, because the banks publish around the clock. The table has the date of its newest row up to today (UTC).
 *
 * @throws {TypeError} if `url` is invalid, or `providers` is not a non-empty array of keys
 * @see https://frankfurter.dev
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createFrankfurterV2Provider } from 'ratesmith/providers'
 *
 * const latest = createFrankfurterV2Provider({ providers: ['ECB', 'BOC'] })
 * const handler = createRatesHandler({ providers: { latest } })
 * ```
 */
export function createFrankfurterV2Provider(options: FrankfurterV2Options = {}): LatestProvider {
  const { url = SERVICE, providers } = options
  assertKnownOptions(options, { url, providers })
  const tableUrl = `${requireRootUrl(url)}/v2/rates?base=${PIVOT}${toFilter(providers)}`
  return {
    attribution: { name: 'Frankfurter', url: 'https://frankfurter.dev' },
    async fetchLatest({ fetch, signal, now, previous, references }) {
      const response = await readJson({ fetch, signal, now, url: tableUrl, ...LIMITS })
      return runSanityChecks(toLatestTable(response, now()), previous, references)
    },
    validateStored: runSanityChecks,
  }
}

/**
 * Creates a provider of history: daily reference rates of the European Central Bank from version 2 of Frankfurter, with the
 * published digits. Days and attribution are the same as those of `createFrankfurterProvider`. Fetches more than five years
 * in pieces, two at a time.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://frankfurter.dev
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createFrankfurterV2EcbProvider } from 'ratesmith/providers'
 *
 * const handler = createRatesHandler({ providers: { history: createFrankfurterV2EcbProvider() } })
 * ```
 */
export function createFrankfurterV2EcbProvider(
  options: FrankfurterV2EcbOptions = {},
): HistoryProvider {
  const { url = SERVICE } = options
  assertKnownOptions(options, { url })
  const root = requireRootUrl(url)
  return {
    attribution: {
      name: 'European Central Bank (via Frankfurter)',
      url: 'https://frankfurter.dev',
    },
    terms: ECB_TERMS,
    sanityChecks: true,
    fetchHistory: (range, context) => fetchDays(`${root}/v2/rates?providers=ECB`, range, context),
  }
}

async function fetchDays(
  target: string,
  range: DaySpan,
  { fetch, signal, now }: ProviderContext,
): Promise<HistoryDays> {
  const pieces = piecesOf(range, MAX_RANGE_DAYS)
  const ending = new AbortController()
  const limit = AbortSignal.any([signal, ending.signal])
  const fetchPiece = async ({ start, end }: DaySpan): Promise<HistoryDay[]> => {
    const url = `${target}&from=${start}&to=${end}`
    const response = await readJson({ fetch, signal: limit, now, url, ...LIMITS }, LIST_OF_ROWS)
    return runInSlices(toHistoryDays(response, { start, end }), yieldToEventLoop, limit)
  }
  const days: HistoryDay[] = []
  try {
    for (let at = 0; at < pieces.length; at += MAX_PARALLEL_CALLS) {
      const parts = await Promise.all(pieces.slice(at, at + MAX_PARALLEL_CALLS).map(fetchPiece))
      days.push(...parts.flat())
    }
  } finally {
    ending.abort()
  }
  return { base: EURO, days }
}

function toFilter(providers: readonly string[] | undefined): string {
  if (providers === undefined) return ''
  if (providers.length === 0 || !providers.every((key) => /^\w+$/.test(key))) {
    throw new TypeError(
      `providers must be a non-empty array of keys such as ECB, got [${providers.join(', ')}]`,
    )
  }
  return `&providers=${providers.join(',')}`
}

/** Pivot of the blended rates: against any other base, every rate is divided and rounded once more. */
const PIVOT = 'USD'

const EURO = 'EUR'

const HOUR_MS = 3_600_000

/** A few ms of work. */
const ROWS_PER_SLICE = 8_192

/** The service looks no further back for the last rate of a bank that has stopped publishing. */
const MAX_ROW_AGE_DAYS = 14

/**
 * Parses blended rates received at `now` (ms since the Unix epoch). Every currency has one row, with the day of its newest
 * rate. A date of tomorrow (UTC) counts as today. Later rows, and rows more than 14 days before the newest, are left out.
 *
 * @throws {Error} if the status is not 200, the base or the format is unexpected, or all rows are later than tomorrow
 */
function toLatestTable(response: UpstreamResponse, now: number): LatestTable {
  const { host } = response
  const today = toDay(now)
  const tomorrow = addDays(today, 1)
  const rows = rowsOf(response)
    .map((row, index) => requireRow(row, PIVOT, { host, index }))
    .filter(({ date }) => date <= tomorrow)
  const newest = rows
    .map(({ date }) => (date < today ? date : today))
    .toSorted()
    .at(-1)
  if (newest === undefined) throw new Error(`${host} returned no rates up to ${tomorrow}`)
  const oldest = addDays(newest, -MAX_ROW_AGE_DAYS)
  const kept = rows.filter(({ date }) => date >= oldest)
  return {
    base: PIVOT,
    updatedAt: toInstant(newest),
    nextUpdateAt: (Math.floor(now / HOUR_MS) + 1) * HOUR_MS,
    rates: Object.fromEntries(kept.map(({ quote, rate }) => [quote, rate])),
  }
}

/**
 * Parses rows of several days in slices. Drops the base against itself, and the rows before `start`, with which the service
 * begins if `start` has no rates.
 *
 * @throws {Error} if the status is not 200, or the base or the format is unexpected
 */
function* toHistoryDays(response: UpstreamResponse, { start, end }: DaySpan): Slices<HistoryDay[]> {
  const { host } = response
  const days = new Map<Day, Record<string, number>>()
  for (const [index, row] of rowsOf(response).entries()) {
    if (index % ROWS_PER_SLICE === ROWS_PER_SLICE - 1) yield
    const { date, quote, rate } = requireRow(row, EURO, { host, index })
    if (date < start || date > end || (quote === EURO && rate === 1)) continue
    const rates = days.get(date) ?? {}
    rates[quote] = rate
    days.set(date, rates)
  }
  const ascending = [...days].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return ascending.map(([date, rates]) => ({ date, rates }))
}

interface Row {
  date: Day
  quote: string
  rate: number
}

function rowsOf(response: UpstreamResponse): unknown[] {
  const body = requireBody(response)
  if (!Array.isArray(body)) throw unexpectedShape(response.host, ['whole body'])
  return body
}

/** Without a schema, which would copy 40,000 rows. */
function requireRow(row: unknown, base: string, where: { host: string; index: number }): Row {
  if (isRow(row, base)) return row
  throw unexpectedShape(where.host, [`row ${where.index}`])
}

function isRow(row: unknown, expected: string): row is Row {
  const { date, base, quote } = Object(row)
  return base === expected && typeof quote === 'string' && typeof date === 'string' && isDay(date)
}
