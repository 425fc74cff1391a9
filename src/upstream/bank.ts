import { assertKnownOptions } from '../known-options.ts'
import { DAYS_BACK, MAX_GAP_DAYS, createCalendar, daysFrom } from '../rates/calendar.ts'
import type { Publication } from '../rates/calendar.ts'
import {
  DAY_MS,
  addDays,
  dayNumber,
  isDay,
  newestPublishedDay,
  nextPublication,
  piecesOf,
  toDay,
} from '../rates/dates.ts'
import type { Calendar, Day, DaySpan } from '../rates/dates.ts'
import { RejectedError } from '../rates/validate.ts'
import {
  addQuote,
  parseBody,
  publishedPart,
  readWithKey,
  requireKey,
  requireKeylessRootUrl,
  requireRootUrl,
  unexpectedShape,
} from './feed.ts'
import type {
  HistoryDay,
  HistoryDays,
  HistoryProvider,
  LatestProvider,
  LatestTable,
  ProviderContext,
} from './provider.ts'
import { perUnit } from './published.ts'
import type { Quote, ReadQuotes, ReadRequest } from './published.ts'
import { readText } from './request.ts'
import type { UpstreamRequest, UpstreamResponse } from './request.ts'
import { runSanityChecks } from './sanity-checks.ts'

/** Options of a bank's provider. */
export interface BankOptions {
  /** Root of the service, to which the paths of its requests are appended (default the bank's own). */
  url?: string | undefined
}

/** Options of the provider of a bank that needs a key. */
export interface KeyedBankOptions extends BankOptions {
  /** Key of your account; sent only to the service, in a header or, if it accepts no other, in the query. */
  key: string
}

/**
 * Creates the provider of a bank.
 *
 * @throws {TypeError} if an option is unknown, or `key` or `url` is invalid
 */
export interface BankFactory<
  Provider = LatestProvider & HistoryProvider,
  Parameters extends unknown[] = [options?: BankOptions],
> {
  (...parameters: Parameters): Provider
  /** @internal What the bank publishes, for the documentation. */
  readonly bank: Bank
}

/** Creates the provider of a bank that needs a key. */
export type KeyedBankFactory = BankFactory<
  LatestProvider & HistoryProvider,
  [options: KeyedBankOptions]
>

type Sent = Pick<UpstreamRequest, 'headers' | 'body'>

/** A request; a text is its path. */
export type BankRequest = string | (Sent & { path: string; about?: string })

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
  /** Returns whether a response with another status than 200 says that there are no data, which is believed for few days. */
  isEmpty?(response: UpstreamResponse<string>): boolean
}

const MAX_BYTES = 4 * 1024 * 1024

/** More than any bank has ever published. */
const MAX_QUOTES = 2_000_000

/** Requests for the currencies of a bank that has no table. More at a time would be impolite, fewer too slow. */
const MAX_REQUESTS_AT_ONCE = 4

/** Limit of a request for more rates, in ms: the others do not wait longer for it. */
const EXTRA_TIMEOUT_MS = 2_000

/** Tables of single days that are requested to find the newest. */
const MAX_TABLES_SEARCHED = 5

/** Returns the factory of the providers of a bank. */
export function bank(data: Bank & { latest: false }): BankFactory<HistoryProvider>
export function bank(data: Bank & { keyIn: string }): KeyedBankFactory
export function bank(data: Bank): BankFactory
/* @__NO_SIDE_EFFECTS__ */
export function bank(data: Bank): unknown {
  const { holidays = '', lagDays, ...others } = data.publication
  const publication: Publication = {
    frequency: 'daily',
    ...others,
    holidays: holidays === '' ? [] : holidays.split(', '),
    ...(lagDays !== undefined && { lag: lagDays * DAY_MS }),
  }
  const create = (options: object = {}): HistoryProvider => {
    const history = createHistory(data, publication, options)
    return data.latest === false ? history : withLatest(data, publication, history)
  }
  return Object.assign(create, { bank: data })
}

function withLatest(
  { base, minCodes, maxDays }: Bank,
  publication: Publication,
  history: HistoryProvider,
): LatestProvider & HistoryProvider {
  const calendar = createCalendar(publication)
  const check: LatestProvider['validateStored'] = (table, previous, references) =>
    runSanityChecks(table, previous, references, minCodes)

  async function newestDay(context: ProviderContext): Promise<HistoryDay> {
    const due = newestPublishedDay(context.now(), calendar)
    const today = toDay(context.now())
    const searched = DAYS_BACK[publication.frequency]
    const tables = daysFrom(addDays(due, -searched), due).filter(calendar.isPublished)
    const spans: DaySpan[] =
      maxDays === 1
        ? tables.slice(-MAX_TABLES_SEARCHED).map((day) => ({ start: day, end: day }))
        : [{ start: addDays(due, -searched), end: due > today ? due : today }]
    for (const span of spans.toReversed()) {
      const { days } = await history.fetchHistory(span, context)
      const newest = days.at(-1)
      if (newest) return newest
    }
    throw new RejectedError(`no table up to ${due}`)
  }

  return {
    ...history,
    async fetchLatest(context) {
      const { date, rates, prices = {}, tableNumber } = await newestDay(context)
      const due = calendar.publishedAt(date)
      const now = context.now()
      if (date > addDays(toDay(now), 1)) throw new RejectedError(`${date} is ahead of the clock`)
      const inverses = Object.entries(prices).map(([code, price]) => [code, 1 / price])
      const table: LatestTable = {
        base,
        // Banks sometimes publish some minutes early.
        updatedAt: Math.min(due, now),
        nextUpdateAt: nextPublication(due, calendar),
        rates: { [base]: 1, ...rates, ...Object.fromEntries(inverses) },
        ...(Object.keys(prices).length > 0 && { prices }),
        ...(tableNumber !== undefined && { tableNumber }),
      }
      return check(table, context.previous, context.references)
    },
    validateStored: check,
  }
}

function createHistory(
  data: Bank,
  publication: Publication,
  options: Partial<KeyedBankOptions>,
): HistoryProvider {
  const { name, page, terms, keyIn, codes, maxDays = Infinity, spansOf = piecesOf, series } = data
  const { url = data.root } = options
  assertKnownOptions<object>(options, keyIn === undefined ? { url } : { key: true, url })
  const key = keyIn === undefined ? '' : requireKey(options.key ?? '')
  const root = key === '' ? requireRootUrl(url) : requireKeylessRootUrl(url, key)
  const redirectHost = new URL(data.root).host
  const open = { ...data, root, key, redirectHost, calendar: createCalendar(publication) }
  const sent = (request: BankRequest, span: DaySpan, code?: string): ToSend => {
    const { path, about, ...others } = typeof request === 'string' ? { path: request } : request
    return { url: root + path, ...others, read: { span, code, about } }
  }
  const seriesOf = (each: readonly string[], span: DaySpan): ToSend[] =>
    each.flatMap((code) => (series ? sent(series(code, span, key), span, code) : []))
  return {
    attribution: { name, url: page },
    ...(terms !== undefined && { terms }),
    sanityChecks: true,
    publication,
    ...(maxDays !== Infinity && { maxDays }),
    fetchHistory: async (range, context) =>
      fetchDays(open, range, context, {
        requestsFor: (span) =>
          data.requests?.(span, key).map((each) => sent(each, span)) ?? seriesOf(codes ?? [], span),
        extrasFor: (span) => data.extras?.(span).map((each) => sent(each, span)) ?? [],
        spansOf: (part) => spansOf(part, maxDays),
        maxEmptyDays: MAX_GAP_DAYS[publication.frequency],
      }),
    ...(series && {
      fetchSeries: async ({ code, ...range }, context) =>
        fetchDays(open, range, context, {
          requestsFor: (span) => (codes?.includes(code) === false ? [] : seriesOf([code], span)),
          extrasFor: () => [],
          spansOf: (part) => [part],
          // Of some currencies a bank has no rates for years.
          maxEmptyDays: Infinity,
        }),
    }),
  }
}

interface ToSend extends Sent {
  url: string
  read: ReadRequest
}

interface DaysToFetch {
  requestsFor(span: DaySpan): ToSend[]
  extrasFor(span: DaySpan): ToSend[]
  spansOf(part: DaySpan): DaySpan[]
  /** Days without rates after which an empty response is a mistake. */
  maxEmptyDays: number
}

/** A bank with the root and the key of the options; redirects are followed to the bank's own host. */
type OpenBank = Bank & { key: string; redirectHost: string; calendar: Calendar }

async function fetchDays(
  open: OpenBank,
  range: DaySpan,
  context: ProviderContext,
  { requestsFor, extrasFor, spansOf, maxEmptyDays }: DaysToFetch,
): Promise<HistoryDays> {
  const { base, publication, calendar, read } = open
  const part = publishedPart(range, publication.since, context.now(), calendar)
  const quotes = createQuotes(base)
  let host = new URL(open.root).host
  async function addExtra(request: ToSend): Promise<void> {
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(EXTRA_TIMEOUT_MS)])
    try {
      const response = await readFrom(open, request, { ...context, signal })
      const all = await parseBody(response, (text) => [...read(text, request.read)])
      for (const quote of all) if (quotes.has(quote.date)) quotes.add(quote, request.read.span)
    } catch (error) {
      // The event of the request reports its failure; the other rates are whole without it.
      if (context.signal.aborted) throw error
    }
  }
  for (const span of part.start > part.end ? [] : spansOf(part)) {
    for await (const { request, response } of readAll(open, requestsFor(span), context)) {
      host = response.host
      if (lengthOf(span) <= maxEmptyDays && open.isEmpty?.(response)) continue
      await parseBody(response, (text) => {
        for (const quote of read(text, request.read)) quotes.add(quote, span)
      })
    }
    for (const request of quotes.isEmpty() ? [] : extrasFor(span)) await addExtra(request)
  }
  const days = quotes.daysIn(part)
  if (days.length === 0 && lengthOf(part) > maxEmptyDays) {
    throw unexpectedShape(host, [`no rates from ${part.start} to ${part.end}`])
  }
  return { base, days }
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
  { read: _read, ...request }: ToSend,
  context: ProviderContext,
): Promise<UpstreamResponse<string>> {
  const upstream = { ...context, ...request, encoding, maxBytes, redirectHosts: [redirectHost] }
  const read = async (one: UpstreamRequest): Promise<UpstreamResponse<string>> =>
    readText(one, accept)
  return key === '' ? read(upstream) : readWithKey(key, upstream, read)
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
      addQuote(own, code, perUnit(published, units))
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
