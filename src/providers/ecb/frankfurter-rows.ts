import { runInSlices, yieldToEventLoop } from '../../async.ts'
import type { LongJson, Slices } from '../../async.ts'
import { isDay, piecesOf } from '../../rates/dates.ts'
import type { Day, DaySpan } from '../../rates/dates.ts'
import { requireAnyDay, unexpectedShape } from '../../upstream/feed.ts'
import type { HistoryDay, HistoryDays, ProviderContext } from '../../upstream/provider.ts'
import { readJson, requireBody } from '../../upstream/request.ts'
import type { UpstreamRequest, UpstreamResponse } from '../../upstream/request.ts'

/** Five years of the European Central Bank's rates have about 2.5 MB. */
export const LIMITS: Pick<UpstreamRequest, 'maxBytes' | 'redirectHosts'> = {
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

const EURO = 'EUR'

/** A few ms of work. */
const ROWS_PER_SLICE = 8_192

/**
 * Fetches the European Central Bank's rates, with its digits, from version 2 of Frankfurter: more than five years in pieces,
 * two at a time.
 */
export async function fetchEcbRows(
  root: string,
  range: DaySpan,
  { fetch, signal, now }: ProviderContext,
): Promise<HistoryDays> {
  const pieces = piecesOf(range, MAX_RANGE_DAYS)
  const ending = new AbortController()
  const limit = AbortSignal.any([signal, ending.signal])
  const fetchPiece = async ({ start, end }: DaySpan): Promise<HistoryDay[]> => {
    const url = `${root}/v2/rates?providers=ECB&from=${start}&to=${end}`
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

/**
 * Parses rows of several days in slices. Drops the base against itself, and the rows before `start`, with which the service
 * begins if `start` has no rates.
 *
 * @throws {Error} if the status is not 200, the base or the format is unexpected, or days are missing
 */
function* toHistoryDays(response: UpstreamResponse, range: DaySpan): Slices<HistoryDay[]> {
  const { host } = response
  const days = new Map<Day, Record<string, number>>()
  const rows = rowsOf(response)
  for (const [index, row] of rows.entries()) {
    if (index % ROWS_PER_SLICE === ROWS_PER_SLICE - 1) yield
    const { date, quote, rate } = requireRow(row, EURO, { host, index })
    if (date < range.start || date > range.end || (quote === EURO && rate === 1)) continue
    const rates = days.get(date) ?? {}
    rates[quote] = rate
    days.set(date, rates)
  }
  const ascending = [...days].toSorted(([one], [other]) => (one < other ? -1 : 1))
  requireAnyDay(host, rows, ascending, range)
  return ascending.map(([date, rates]) => ({ date, rates }))
}

interface Row {
  date: Day
  quote: string
  rate: number
}

export function rowsOf(response: UpstreamResponse): unknown[] {
  const body = requireBody(response)
  if (!Array.isArray(body)) throw unexpectedShape(response.host, ['whole body'])
  return body
}

/** Without a schema, which would copy 40,000 rows. */
export function requireRow(
  row: unknown,
  base: string,
  where: { host: string; index: number },
): Row {
  if (isRow(row, base)) return row
  throw unexpectedShape(where.host, [`row ${where.index}`])
}

function isRow(row: unknown, expected: string): row is Row {
  const { date, base, quote } = Object(row)
  return base === expected && typeof quote === 'string' && typeof date === 'string' && isDay(date)
}
