import { assertKnownOptions } from '../known-options.ts'
import { mean } from '../rates/arithmetic.ts'
import { createCalendar } from '../rates/calendar.ts'
import type { Publication } from '../rates/calendar.ts'
import {
  addDays,
  dayNumber,
  isDay,
  monthOf as monthOfDay,
  newestPublishedDay,
  nextPublication,
  piecesOf,
  toDay,
} from '../rates/dates.ts'
import type { Day, DaySpan } from '../rates/dates.ts'
import { RejectedError } from '../rates/validate.ts'
import {
  MAX_CLOSED_DAYS,
  addQuote,
  parseBody,
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
import { readText } from './request.ts'
import type { UpstreamRequest, UpstreamResponse } from './request.ts'
import { runSanityChecks } from './sanity-checks.ts'

/** Options of a bank's provider. */
export interface BankOptions {
  /** Root of the service, to which the paths of its requests are appended (default the bank's own). */
  url?: string | undefined
}

/** @internal A number as published; null, undefined or empty for a missing one. */
type Published = string | number | null | undefined

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
}

/** A request to a bank, and what its response is about. */
export interface BankRequest extends Pick<UpstreamRequest, 'url' | 'headers' | 'body'> {
  /** The currency or the part of the response, for `read`. */
  about?: string
}

/** The feed of a bank. */
export interface Bank {
  attribution: Attribution
  /** Page with the terms of use. */
  terms: string
  publication: Publication
  /** ISO 4217 code that all rates are quoted against. */
  base: string
  /** Root of the service. Redirects are followed to its host only. */
  url: string
  /** Key of an account, which `requests` puts into a header or the query (default none). */
  key?: string
  /** Media type of the responses. */
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
  /** Returns the requests for a span of days. */
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

/** Days without a publication after which an empty response is a mistake. */
const MAX_EMPTY_DAYS = { daily: MAX_CLOSED_DAYS, weekly: 21, monthly: 62, quarterly: 186 }

/** Days before the newest due one in which the newest table is looked for. */
const DAYS_SEARCHED = { daily: 14, weekly: 28, monthly: 62, quarterly: 186 }

/** Tables of single days that are requested to find the newest. */
const MAX_TABLES_SEARCHED = 5

/**
 * Creates the provider of a bank, of latest rates and history.
 *
 * @throws {TypeError} if an option is unknown, or `url` is invalid
 */
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
    const searched = DAYS_SEARCHED[publication.frequency]
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
      const { date, rates, prices = {} } = await newestDay(context)
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

/**
 * Creates the provider of the history of a bank.
 *
 * @throws {TypeError} if an option is unknown, or `url` is invalid
 */
export function createBankHistory(
  options: BankOptions,
  bank: Bank,
): HistoryProvider & { readonly terms: string } {
  const { attribution, terms, publication, base, maxDays = Infinity, seriesRequest } = bank
  const { url = bank.url } = options
  const isKeyed = 'key' in bank
  const key = isKeyed ? requireKey(bank.key ?? '') : undefined
  assertKnownOptions<object>(options, isKeyed ? { key, url } : { url })
  const root = key === undefined ? requireRootUrl(url) : requireKeylessRootUrl(url, key)
  const calendar = createCalendar(publication)
  const spansOf = bank.spansOf ?? ((range: DaySpan) => piecesOf(range, maxDays))

  /** Returns the part of `range` in which rates may be published by now. */
  function publishedPart({ start, end }: DaySpan, now: number): DaySpan {
    const { since } = publication
    const [today, due] = [toDay(now), newestPublishedDay(now, calendar)]
    const last = due > today ? due : today
    return { start: start > since ? start : since, end: end < last ? end : last }
  }

  async function fetchDays(
    range: DaySpan,
    context: ProviderContext,
    { requestsFor, spans, maxEmptyDays }: DaysToFetch,
  ): Promise<HistoryDays> {
    const part = publishedPart(range, context.now())
    const quotes = createQuotes(base)
    let host = new URL(root).host
    for (const span of part.start > part.end ? [] : spans(part)) {
      for (const request of requestsFor(span)) {
        const response = await read(request, context)
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

  async function read(
    { url, headers, body }: BankRequest,
    context: ProviderContext,
  ): Promise<UpstreamResponse<string>> {
    const { encoding, maxBytes = MAX_BYTES, accept } = bank
    const redirectHosts = [new URL(bank.url).host]
    const request = { ...context, url, headers, body, encoding, maxBytes, redirectHosts }
    const readBody = async (one: UpstreamRequest): Promise<UpstreamResponse<string>> =>
      readText(one, accept)
    return key === undefined ? readBody(request) : readWithKey(key, request, readBody)
  }

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
        spans: spansOf,
        maxEmptyDays: MAX_EMPTY_DAYS[publication.frequency],
      }),
    ...(seriesRequest && {
      async fetchSeries({ code, ...range }, context) {
        return fetchDays(range, context, {
          requestsFor: (span) =>
            [seriesRequest(root, span, code)].filter((each) => each !== undefined),
          spans: (part) => [part],
          // Of some currencies a bank has no rates for years.
          maxEmptyDays: Infinity,
        })
      },
    }),
  }
}

/** How the days of a range are fetched. */
interface DaysToFetch {
  requestsFor(span: DaySpan): BankRequest[]
  spans(part: DaySpan): DaySpan[]
  /** Days without rates after which an empty response is a mistake. */
  maxEmptyDays: number
}

/** Returns the number of days in a span. */
function lengthOf({ start, end }: DaySpan): number {
  return dayNumber(end) - dayNumber(start) + 1
}

/** The quotes of some days. */
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

function createQuotes(base: string): Quotes {
  const days = new Map<Day, { rates: Record<string, number>; prices: Record<string, number> }>()
  let count = 0
  let isAnyPriced = false

  return {
    add({ date, code, price, units = 1, rate }, { start, end }) {
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
      isAnyPriced ||= isPrice
      const [own, other] = isPrice ? [day.prices, day.rates] : [day.rates, day.prices]
      if (Object.hasOwn(other, code)) throw new Error(`quote ${count} has another direction`)
      addQuote(own, code, perUnit(published, units))
    },
    daysIn({ start, end }) {
      return [...days]
        .filter(([date]) => date >= start && date <= end)
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([date, { rates, prices }]) =>
          isAnyPriced ? { date, rates, prices } : { date, rates },
        )
    },
  }
}

/** Decimals after the last digit of a price at which the division by a number of units ends. */
const EXTRA_DIGITS = 25

/** Returns the price of one of `units`, divided in decimals; NaN if one of the numbers is invalid. */
export function perUnit(price: Published, units: Published): number {
  const [value, divisor] = [numberOf(price), numberOf(units)]
  if (divisor === 1 || Number.isNaN(value)) return value
  if (!Number.isSafeInteger(divisor)) return NaN
  // The shortest decimal of a double has the published digits.
  const [digits = '', exponent = ''] = value.toExponential().replace('.', '').split('e')
  const quotient = (BigInt(digits) * 10n ** BigInt(EXTRA_DIGITS)) / BigInt(divisor)
  return Number(`${quotient}e${Number(exponent) - digits.length + 1 - EXTRA_DIGITS}`)
}

/** Returns a positive number; NaN for anything else, such as a text with a decimal comma. */
export function numberOf(published: unknown): number {
  const isDecimal = typeof published === 'string' && /^\d{1,20}(?:\.\d{1,20})?$/.test(published)
  const value = isDecimal ? Number(published) : published
  return typeof value === 'number' && value > 0 && value < Infinity ? value : NaN
}

/** Returns the middle of two published numbers, in decimals; NaN if one is invalid. */
export function middleOf(buying: Published, selling: Published): number {
  const values = Float64Array.of(numberOf(buying), numberOf(selling))
  return values.some(Number.isNaN) ? NaN : mean(values)
}

/** Returns a text with a decimal comma as one with a point; other texts and values become invalid numbers. */
export function withPoint(text: unknown): string {
  return typeof text === 'string' && !text.includes('.') ? text.replace(',', '.') : 'invalid'
}

/** Returns `day` in a form such as `DD/MM/YYYY`. */
export function formatDay(day: Day, form: string): string {
  return form
    .replace('YYYY', day.slice(0, 4))
    .replace('MM', day.slice(5, 7))
    .replace('DD', day.slice(8))
    .replace('MON', MONTHS[Number(day.slice(5, 7)) - 1] ?? '')
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/**
 * Returns the day in a text with its numbers in the order day, month, year, as in `17.03.2026` or `17-Mar-2026`, or month,
 * day, year, as in `March 17, 2026`; an empty text for anything else.
 */
export function dayIn(text: unknown): string {
  const given = String(text)
  const [, day, month = '', year] =
    /^(\d\d?)[-./ ](\d\d|[A-Z][a-z]{2})[-./ ](\d{4})$/.exec(given) ?? []
  if (day !== undefined) return `${year}-${monthOf(month)}-${day.padStart(2, '0')}`
  const [, name = '', dayOfMonth, inYear] =
    /^([A-Z][a-z]{2})[a-z]* (\d\d?), (\d{4})$/.exec(given) ?? []
  return dayOfMonth === undefined ? '' : `${inYear}-${monthOf(name)}-${dayOfMonth.padStart(2, '0')}`
}

function monthOf(text: string): string {
  return /^\d/.test(text) ? text : String(MONTHS.indexOf(text) + 1).padStart(2, '0')
}

/**
 * Splits a range into spans of at most `maxDays`, each with the days before in which rates were published: a service may fail
 * for a span without any.
 */
export function withDaysBefore(range: DaySpan, maxDays: number): DaySpan[] {
  return piecesOf(range, maxDays).map(({ start, end }) => {
    return { start: addDays(start, -MAX_CLOSED_DAYS), end }
  })
}

/** Returns the years that `range` touches. */
export function yearsOf({ start, end }: DaySpan): DaySpan[] {
  const [first, last] = [start, end].map((day) => Number(day.slice(0, 4)))
  return Array.from({ length: Math.max(0, (last ?? 0) - (first ?? 0) + 1) }, (_, index) => {
    const year = (first ?? 0) + index
    return { start: `${year}-01-01`, end: `${year}-12-31` }
  })
}

/** Returns the months that `range` touches. */
export function monthsOf({ start, end }: DaySpan): DaySpan[] {
  const months: DaySpan[] = []
  for (let day = start; day <= end;) {
    const { first, last } = monthOfDay(day)
    months.push({ start: first, end: last })
    day = addDays(last, 1)
  }
  return months
}

/**
 * Returns `text` if its last line has an end.
 *
 * @throws {Error} otherwise, because the last number may be truncated
 */
export function requireWhole(text: string): string {
  if (text.endsWith('\n')) return text
  throw new Error('the table is truncated')
}

/**
 * Parses an array of JSON.
 *
 * @throws {Error} if the text is anything else
 */
export function parseRows(text: string, rowsIn = (body: unknown): unknown => body): unknown[] {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw new Error('invalid JSON')
  }
  const rows = rowsIn(body)
  if (!Array.isArray(rows)) throw new Error('rows')
  return rows
}
