import { assertKnownOptions } from '../known-options.ts'
import { DAYS_BACK, MAX_GAP_DAYS, createCalendar } from '../rates/calendar.ts'
import type { Publication } from '../rates/calendar.ts'
import {
  addDays,
  dayNumber,
  isDay,
  newestPublishedDay,
  nextPublication,
  piecesOf,
  toDay,
} from '../rates/dates.ts'
import type { Day, DaySpan } from '../rates/dates.ts'
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
  Attribution,
  HistoryDay,
  HistoryDays,
  HistoryProvider,
  LatestProvider,
  LatestTable,
  ProviderContext,
} from './provider.ts'
import { perUnit } from './published.ts'
import type { Published } from './published.ts'
import { readText } from './request.ts'
import type { UpstreamRequest, UpstreamResponse } from './request.ts'
import { runSanityChecks } from './sanity-checks.ts'

/** Options of a bank's provider. */
export interface BankOptions {
  /** Root of the service, to which the paths of its requests are appended (default the bank's own). */
  url?: string | undefined
}

/** A published quote: either a `price` or a `rate`. Texts are plain decimals with a point. */
export interface Quote {
  /** `YYYY-MM-DD`. */
  date: string
  code: string
  /** Units of the base for `units` of the currency. */
  price?: Published
  /** Number of units that `price` is for (default 1). */
  units?: Published
  /** Units of the currency for one unit of the base. */
  rate?: Published
  tableNumber?: unknown
}

export interface BankRequest extends Pick<UpstreamRequest, 'url' | 'headers' | 'body'> {
  /** The currency or the part of the response, for `read`. */
  about?: string
}

export interface Bank {
  attribution: Attribution
  terms: string
  publication: Publication
  /** ISO 4217 code that all rates are quoted against. */
  base: string
  /** Root of the service. Redirects are followed to its host only. */
  url: string
  /** Key of an account, which `requests` puts into a header or the query (default none). */
  key?: string
  accept: string
  /** Encoding of the responses (default `utf-8`). */
  encoding?: string
  /** Limit of a response (default 4 MiB). */
  maxBytes?: number
  /** Longest range of a request in days (default no limit). */
  maxDays?: number
  /** Splits a range into spans with whole files, such as years (default pieces of `maxDays`). */
  spansOf?: (range: DaySpan) => DaySpan[]
  /** The fewest currencies of a plausible table (default 20). */
  minCodes?: number
  requests(root: string, span: DaySpan): BankRequest[]
  /** Returns the request for the days of one currency, undefined for an unknown one (default no such requests). */
  seriesRequest?(root: string, span: DaySpan, code: string): BankRequest | undefined
  /** Parses a response and adds its quotes; throws where the format is unexpected. */
  read(text: string, add: (quote: Quote) => void, request: BankRequest, span: DaySpan): void
  /** Returns whether a response with another status than 200 says that there are no data, which is believed for few days. */
  isEmpty?(response: UpstreamResponse<string>): boolean
}

const MAX_BYTES = 4 * 1024 * 1024

/** More than any bank has ever published. */
const MAX_QUOTES = 2_000_000

/** Requests for the currencies of a bank that has no table. More at a time would be impolite, fewer too slow. */
const MAX_REQUESTS_AT_ONCE = 4

/** Tables of single days that are requested to find the newest. */
const MAX_TABLES_SEARCHED = 5

/** @throws {TypeError} if an option is unknown, or `url` is invalid */
export function createBank(
  options: BankOptions,
  bank: Bank,
): LatestProvider & HistoryProvider & { readonly terms: string } {
  const history = createBankHistory(options, bank)
  const { publication, base, minCodes } = bank
  const calendar = createCalendar(publication)
  const check: LatestProvider['validateStored'] = (table, previous, references) =>
    runSanityChecks(table, previous, references, minCodes)

  async function newestDay(context: ProviderContext): Promise<HistoryDay> {
    const due = newestPublishedDay(context.now(), calendar)
    const today = toDay(context.now())
    const searched = DAYS_BACK[publication.frequency]
    const spans: DaySpan[] =
      bank.maxDays === 1
        ? publishedBefore(due, calendar.isPublished).map((day) => ({ start: day, end: day }))
        : [{ start: addDays(due, -searched), end: due > today ? due : today }]
    for (const span of spans) {
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

function publishedBefore(due: Day, isPublished: (day: Day) => boolean): Day[] {
  const days: Day[] = []
  for (let day = due; days.length < MAX_TABLES_SEARCHED; day = addDays(day, -1)) {
    if (isPublished(day)) days.push(day)
  }
  return days
}

/** @throws {TypeError} if an option is unknown, or `url` is invalid */
export function createBankHistory(
  options: BankOptions,
  bank: Bank,
): HistoryProvider & { readonly terms: string } {
  const { attribution, terms, publication, maxDays = Infinity, seriesRequest } = bank
  const { url = bank.url } = options
  const isKeyed = 'key' in bank
  assertKnownOptions<object>(options, isKeyed ? { key: true, url } : { url })
  const key = isKeyed ? requireKey(bank.key ?? '') : undefined
  const root = key === undefined ? requireRootUrl(url) : requireKeylessRootUrl(url, key)
  const fetchDays = createFetchDays(bank, root)
  return {
    attribution,
    terms,
    // From month to month, rates move further than from day to day.
    sanityChecks: publication.frequency === 'daily' || publication.frequency === 'weekly',
    publication,
    ...(maxDays !== Infinity && { maxDays }),
    fetchHistory: async (range, context) =>
      fetchDays(range, context, {
        requestsFor: (span) => bank.requests(root, span),
        spansOf: bank.spansOf ?? ((part) => piecesOf(part, maxDays)),
        maxEmptyDays: MAX_GAP_DAYS[publication.frequency],
      }),
    ...(seriesRequest && {
      async fetchSeries({ code, ...range }, context) {
        return fetchDays(range, context, {
          requestsFor: (span) =>
            [seriesRequest(root, span, code)].filter((each) => each !== undefined),
          spansOf: (part) => [part],
          // Of some currencies a bank has no rates for years.
          maxEmptyDays: Infinity,
        })
      },
    }),
  }
}

interface DaysToFetch {
  requestsFor(span: DaySpan): BankRequest[]
  spansOf(part: DaySpan): DaySpan[]
  /** Days without rates after which an empty response is a mistake. */
  maxEmptyDays: number
}

type FetchDays = (
  range: DaySpan,
  context: ProviderContext,
  toFetch: DaysToFetch,
) => Promise<HistoryDays>

function createFetchDays(bank: Bank, root: string): FetchDays {
  const { base, publication } = bank
  const calendar = createCalendar(publication)
  return async (range, context, { requestsFor, spansOf, maxEmptyDays }) => {
    const part = publishedPart(range, publication.since, context.now(), calendar)
    const quotes = createQuotes(base)
    let host = new URL(root).host
    for (const span of part.start > part.end ? [] : spansOf(part)) {
      for await (const { request, response } of readAll(bank, requestsFor(span), context)) {
        host = response.host
        if (lengthOf(span) <= maxEmptyDays && bank.isEmpty?.(response)) continue
        await parseBody(response, (text) =>
          bank.read(text, (quote) => quotes.add(quote, span), request, span),
        )
      }
    }
    const days = quotes.daysIn(part)
    if (days.length === 0 && lengthOf(part) > maxEmptyDays) {
      throw unexpectedShape(host, [`no rates from ${part.start} to ${part.end}`])
    }
    return { base, days }
  }
}

/** Yields the responses in the order of the requests. Sends the first one alone: a service that is down gets one request. */
async function* readAll(
  bank: Bank,
  requests: readonly BankRequest[],
  context: ProviderContext,
): AsyncGenerator<{ request: BankRequest; response: UpstreamResponse<string> }> {
  for (let at = 0, end = 1; at < requests.length; at = end, end += MAX_REQUESTS_AT_ONCE) {
    yield* await Promise.all(
      requests.slice(at, end).map(async (request) => {
        return { request, response: await readFrom(bank, request, context) }
      }),
    )
  }
}

async function readFrom(
  { url, key, encoding, maxBytes = MAX_BYTES, accept }: Bank,
  request: BankRequest,
  context: ProviderContext,
): Promise<UpstreamResponse<string>> {
  const { about: _about, ...sent } = request
  const upstream = { ...context, ...sent, encoding, maxBytes, redirectHosts: [new URL(url).host] }
  const read = async (one: UpstreamRequest): Promise<UpstreamResponse<string>> =>
    readText(one, accept)
  return key === undefined ? read(upstream) : readWithKey(key, upstream, read)
}

function lengthOf({ start, end }: DaySpan): number {
  return dayNumber(end) - dayNumber(start) + 1
}

interface Quotes {
  /**
   * Adds a quote, unless its number is missing. Invalid codes and numbers are dropped later, with an event.
   *
   * @throws {Error} if its date is invalid or outside of `span`, or it has no code
   */
  add(quote: Quote, span: DaySpan): void
  /** Returns the days of `range`, ascending. */
  daysIn(range: DaySpan): HistoryDay[]
}

interface DayQuotes extends Omit<HistoryDay, 'date'> {
  prices: Record<string, number>
}

function createQuotes(base: string): Quotes {
  const days = new Map<Day, DayQuotes>()
  let count = 0
  let isAnyPriced = false

  return {
    add({ date, code, price, units = 1, rate, tableNumber }, { start, end }) {
      if ((count += 1) > MAX_QUOTES) throw new Error(`more than ${MAX_QUOTES} quotes`)
      if (!isDay(date)) throw new Error(`quote ${count} has an invalid date`)
      if (typeof code !== 'string' || code === '') throw new Error(`quote ${count} has no currency`)
      if (date < start || date > end) {
        throw new Error(`quote ${count} is of ${date}, expected ${start} to ${end}`)
      }
      const isPrice = rate === undefined
      const published = isPrice ? price : rate
      if (published === null || published === undefined || published === '') return
      if (code === base) return
      let day = days.get(date)
      if (!day) days.set(date, (day = { rates: {}, prices: {} }))
      if (typeof tableNumber === 'string') day.tableNumber = tableNumber
      isAnyPriced ||= isPrice
      const [own, other] = isPrice ? [day.prices, day.rates] : [day.rates, day.prices]
      if (Object.hasOwn(other, code)) throw new Error(`quote ${count} has another direction`)
      addQuote(own, code, perUnit(published, units))
    },
    daysIn({ start, end }) {
      return [...days]
        .filter(([date]) => date >= start && date <= end)
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([date, { prices, ...day }]) =>
          isAnyPriced ? { date, ...day, prices } : { date, ...day },
        )
    },
  }
}
