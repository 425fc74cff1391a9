import { MAX_GAP_DAYS } from '../rates/calendar.ts'
import type { Publication } from '../rates/calendar.ts'
import { isCode } from '../rates/currency-code.ts'
import { dayNumber, isDay, piecesOf, toDay } from '../rates/dates.ts'
import type { Calendar, Day, DaySpan } from '../rates/dates.ts'
import { addQuote, parseBody, publishedPart, readWithKey, unexpectedShape } from './feed.ts'
import { isKnownCode } from './known-code.ts'
import type { HistoryDay, HistoryDays, ProviderContext } from './provider.ts'
import { perUnit } from './published.ts'
import type { Quote, ReadQuotes, ReadRequest, Side } from './published.ts'
import { readText } from './request.ts'
import type { UpstreamRequest, UpstreamResponse } from './request.ts'

/** A request; a text is its path. On 404, the other paths are requested in order. */
export type BankRequest =
  | string
  | (Pick<UpstreamRequest, 'headers' | 'body'> & {
      path: string
      otherPaths?: readonly string[]
      about?: string
    })

/** What a bank publishes, when, where, and how to read it. */
export interface Bank {
  /** Source displayed with the rates. */
  name: string
  page: string
  terms?: string
  /** ISO 4217 code that all rates are quoted against. */
  base: string
  /** Number of currencies, roughly. */
  currencies: number
  /** `holidays` are separated by commas; rates are daily by default, and late after a day. */
  publication: Omit<Publication, 'holidays' | 'frequency' | 'lag'> & {
    holidays?: string
    frequency?: Publication['frequency']
    lagDays?: number
  }
  /** Rates of a period: not offered as latest rates. */
  latest?: false
  /** Root of the service. Redirects are followed to its host only. */
  root: string
  /** Whether the bank publishes buying and selling prices, `middle of buying and selling` of `name` (default false). */
  hasSides?: true
  /** Where requests have the key of an account (default no key). */
  keyIn?: 'header' | 'query'
  accept: string
  /** Encoding of the responses (default `utf-8`). */
  encoding?: string
  /** Limit of a response (default 4 MiB). */
  maxBytes?: number
  /** Longest range of a request in days (default no limit). */
  maxDays?: number
  /** Splits a range into spans with whole files, such as years (default pieces of `maxDays`). */
  spansOf?: (range: DaySpan, maxDays: number) => DaySpan[]
  /** Whether many currencies may have no rate on a day (default false). */
  mayLackRates?: boolean
  /** The fewest currencies of a plausible table (default 20). */
  minCodes?: number
  /** The requests for whole tables (default the series of all `codes`). */
  requests?(span: DaySpan, key: string): readonly BankRequest[]
  /** Requests for more rates of the days of `requests`, which are left out where these fail (default none). */
  extras?(span: DaySpan): readonly BankRequest[]
  /** The request for the days of one currency (default no such requests). */
  series?(code: string, span: DaySpan, key: string): BankRequest
  /** The currencies that have series (default all). */
  codes?: readonly string[]
  read: ReadQuotes
  /** Returns whether a response that is not 200 says that there are no data, which is believed for few days, or of days to come. */
  isEmpty?(response: UpstreamResponse<string>, isOver: boolean): boolean
}

const MAX_BYTES = 4 * 1024 * 1024

/** More than any bank has ever published. */
const MAX_QUOTES = 2_000_000

/** Requests for the currencies of a bank that has no table. More at a time would be impolite, fewer too slow. */
const MAX_REQUESTS_AT_ONCE = 4

/** Limit of a request for more rates, in ms: the others do not wait longer for it. */
const EXTRA_TIMEOUT_MS = 2_000

/** A bank with the root and the key of the options; redirects are followed to the bank's own host. */
interface OpenBank extends Omit<Bank, 'publication'> {
  publication: Publication
  calendar: Calendar
  side: Side
  key: string
  redirectHost: string
}

/** Fetches the days of all currencies, or of `code`. */
export async function fetchDays(
  open: OpenBank,
  range: DaySpan,
  context: ProviderContext,
  code?: string,
): Promise<HistoryDays> {
  const { base, publication, calendar, read, extras, spansOf = piecesOf, maxDays = Infinity } = open
  const part = publishedPart(range, publication.since, context.now(), calendar)
  if (part.start > part.end) return { base, days: [] }
  const isTable = code === undefined
  // Of some currencies a bank has no rates for years; else an empty response of more days is a mistake.
  const maxEmptyDays = isTable ? MAX_GAP_DAYS[publication.frequency] : Infinity
  const quotes = createQuotes(base)
  let host = new URL(open.root).host
  for (const span of isTable ? spansOf(part, maxDays) : [part]) {
    for await (const { request, response } of readAll(
      open,
      requestsFor(open, span, code),
      context,
    )) {
      host = response.host
      const isOver = span.end < toDay(context.now())
      if (lengthOf(span) <= maxEmptyDays && open.isEmpty?.(response, isOver)) continue
      await parseBody(response, (text) => {
        for (const quote of read(text, request.read)) quotes.add(quote, span)
      })
    }
    for (const extra of isTable && !quotes.isEmpty() ? (extras?.(span) ?? []) : [])
      await addExtra(open, toRequest(open, extra, span), context, quotes)
  }
  const days = quotes.daysIn(part)
  if (days.length === 0 && lengthOf(part) > maxEmptyDays) {
    throw unexpectedShape(host, [`no rates from ${part.start} to ${part.end}`])
  }
  return { base, days }
}

interface ToSend extends Pick<UpstreamRequest, 'url' | 'headers' | 'body'> {
  otherUrls: readonly string[]
  read: ReadRequest
}

function toRequest(open: OpenBank, request: BankRequest, span: DaySpan, code?: string): ToSend {
  const { root, side } = open
  const form = typeof request === 'string' ? { path: request } : request
  const { path, otherPaths = [], about, ...others } = form
  const otherUrls = otherPaths.map((each) => root + each)
  return { url: root + path, otherUrls, ...others, read: { span, side, code, about } }
}

/** Returns the requests for whole tables, or for the series of `code` or of all codes. */
function requestsFor(open: OpenBank, span: DaySpan, code: string | undefined): ToSend[] {
  const { key, codes, series, requests } = open
  if (code === undefined && requests) {
    return requests(span, key).map((each) => toRequest(open, each, span))
  }
  const isKnown = (each: string): boolean => codes?.includes(each) !== false
  const wanted = code === undefined ? (codes ?? []) : [code].filter(isKnown)
  return wanted.flatMap((each) =>
    series ? toRequest(open, series(each, span, key), span, each) : [],
  )
}

async function addExtra(
  open: OpenBank,
  request: ToSend,
  context: ProviderContext,
  quotes: Quotes,
): Promise<void> {
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(EXTRA_TIMEOUT_MS)])
  try {
    const response = await readFrom(open, request, { ...context, signal })
    const all = await parseBody(response, (text) => [...open.read(text, request.read)])
    for (const quote of all) if (quotes.has(quote.date)) quotes.add(quote, request.read.span)
  } catch (error) {
    // The event of the request reports its failure; the other rates are whole without it.
    if (context.signal.aborted) throw error
  }
}

/** Yields the responses in the order of the requests. Sends the first one alone: a service that is down gets one request. */
async function* readAll(
  open: OpenBank,
  requests: readonly ToSend[],
  context: ProviderContext,
): AsyncGenerator<{ request: ToSend; response: UpstreamResponse<string> }> {
  for (let at = 0, end = 1; at < requests.length; at = end, end += MAX_REQUESTS_AT_ONCE) {
    yield* await Promise.all(
      requests.slice(at, end).map(async (request) => {
        return { request, response: await readFrom(open, request, context) }
      }),
    )
  }
}

async function readFrom(
  { redirectHost, key, encoding, maxBytes = MAX_BYTES, accept }: OpenBank,
  { read: _read, otherUrls, ...request }: ToSend,
  context: ProviderContext,
): Promise<UpstreamResponse<string>> {
  const upstream = { ...context, ...request, encoding, maxBytes, redirectHosts: [redirectHost] }
  const read = async (one: UpstreamRequest): Promise<UpstreamResponse<string>> =>
    readText(one, accept)
  const send = async (one: UpstreamRequest): Promise<UpstreamResponse<string>> =>
    key === '' ? read(one) : readWithKey(key, one, read)
  let response = await send(upstream)
  for (const url of otherUrls) {
    if (response.status === 404) response = await send({ ...upstream, url })
  }
  return response
}

function lengthOf({ start, end }: DaySpan): number {
  return dayNumber(end) - dayNumber(start) + 1
}

interface DayQuotes extends Omit<HistoryDay, 'date'> {
  prices: Record<string, number>
}

function isMissing(published: unknown): boolean {
  return published === null || published === undefined || published === ''
}

type Quotes = ReturnType<typeof createQuotes>

function createQuotes(base: string) {
  const days = new Map<Day, DayQuotes>()
  let count = 0
  let isAnyPriced = false

  return {
    /**
     * Adds a quote, unless its number is missing. Invalid codes and numbers are dropped later, with an event.
     *
     * @throws {Error} if its date is invalid or outside of the span, or it has no code, or not the units that it must have
     */
    add(quote: Quote, { start, end }: DaySpan): void {
      const { date, code, price, units = 1, rate, tableNumber } = quote
      if ((count += 1) > MAX_QUOTES) throw new Error(`more than ${MAX_QUOTES} quotes`)
      if (typeof date !== 'string' || !isDay(date)) {
        throw new Error(`quote ${count} has an invalid date`)
      }
      if (typeof code !== 'string' || code === '') throw new Error(`quote ${count} has no currency`)
      if (date < start || date > end) {
        throw new Error(`quote ${count} is of ${date}, expected ${start} to ${end}`)
      }
      if ('units' in quote && isMissing(quote.units)) {
        throw new Error(`quote ${count} has no number of units`)
      }
      const isPrice = rate === undefined
      const published = isPrice ? price : rate
      if (isMissing(published)) return
      if (code === base) return
      let day = days.get(date)
      if (!day) days.set(date, (day = { rates: {}, prices: {} }))
      if (typeof tableNumber === 'string') day.tableNumber = tableNumber
      isAnyPriced ||= isPrice
      const [own, other] = isPrice ? [day.prices, day.rates] : [day.rates, day.prices]
      if (Object.hasOwn(other, code)) throw new Error(`quote ${count} has another direction`)
      // An invalid code is dropped, with an event that says why.
      const name = isCode(code) && !isKnownCode(code) ? `${code} (not in ISO 4217)` : code
      addQuote(own, name, perUnit(published, units))
    },
    isEmpty: () => days.size === 0,
    has: (date: unknown) => typeof date === 'string' && days.has(date),
    daysIn({ start, end }: DaySpan): HistoryDay[] {
      return [...days]
        .filter(([date]) => date >= start && date <= end)
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([date, { prices, ...day }]) =>
          isAnyPriced ? { date, ...day, prices } : { date, ...day },
        )
    },
  }
}
