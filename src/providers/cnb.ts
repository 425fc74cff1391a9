import { assertKnownOptions } from '../known-options.ts'
import { isCode } from '../rates/currency-code.ts'
import { dayNumber, isDay } from '../rates/dates.ts'
import type { DaySpan } from '../rates/dates.ts'
import {
  MAX_CLOSED_DAYS,
  addQuote,
  parseBody,
  publishedPart,
  requireRootUrl,
} from '../upstream/feed.ts'
import type { HistoryDay, HistoryProvider } from '../upstream/provider.ts'
import { readJson } from '../upstream/request.ts'

/** Options of `createCnbProvider`. */
export interface CnbOptions {
  /** Root of the service, to which `/cnbapi/exrates/daily-year` is appended (default `https://api.cnb.cz`). */
  url?: string | undefined
}

/** A year has 560 kB. */
const LIMITS = { maxBytes: 4 * 1024 * 1024, redirectHosts: ['api.cnb.cz'] }

const BASE = 'CZK'

/** The bank has rates since 1991, at first under codes that were already withdrawn. */
const SINCE = '1999-01-04'

/**
 * Creates a provider of history: exchange rates of Česká národní banka, the central bank of Czechia, in koruna: some 30
 * currencies on Czech working days at 14:30 in Prague, since 1999. Needs no key. Fetches whole years, one after another.
 * Rates of 100 or 1,000 units are divided exactly.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://api.cnb.cz/cnbapi/swagger-ui.html
 * @example
 * ```ts
 * import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
 * import { createCnbProvider } from 'ratesmith/providers/cnb'
 *
 * const history = [createFrankfurterProvider(), createCnbProvider()]
 * const handler = createRatesHandler({ providers: { history } })
 * ```
 */
export function createCnbProvider(options: CnbOptions = {}): HistoryProvider {
  const { url = 'https://api.cnb.cz' } = options
  assertKnownOptions(options, { url })
  const years = `${requireRootUrl(url)}/cnbapi/exrates/daily-year`
  return {
    attribution: {
      name: 'Česká národní banka (Czech National Bank)',
      url: 'https://www.cnb.cz/en/financial-markets/foreign-exchange-market/central-bank-exchange-rate-fixing/',
    },
    sanityChecks: true,
    publication: {
      id: 'cnb',
      frequency: 'daily',
      holidays:
        '01-01, easter-2 2016-, easter+1, 05-01, 05-08, 07-05, 07-06, 09-28 2000-, 10-28, 11-17 2000-, 12-24, 12-25, 12-26'.split(
          ', ',
        ),
      time: '14:30',
      timeZone: 'Europe/Prague',
      since: SINCE,
    },
    maxDays: 366,
    async fetchHistory(range, context) {
      const days: HistoryDay[] = []
      for (const part of yearsOf(publishedPart(range, SINCE, context.now()))) {
        const target = `${years}?year=${part.start.slice(0, 4)}&lang=EN`
        const response = await readJson({ ...context, url: target, ...LIMITS })
        days.push(...(await parseBody(response, (body) => readYear(body, part))))
      }
      return { base: BASE, days }
    },
  }
}

function yearsOf({ start, end }: DaySpan): DaySpan[] {
  const parts: DaySpan[] = []
  for (let from = start; from <= end; from = `${Number(from.slice(0, 4)) + 1}-01-01`) {
    const last = `${from.slice(0, 4)}-12-31`
    parts.push({ start: from, end: last < end ? last : end })
  }
  return parts
}

/**
 * Parses `{ rates: [{ currencyCode, amount, validFor, rate }, …] }` of a year: `rate` is the price of `amount` units. Returns
 * the days of `part`. The service has no rates in the first days of a year.
 *
 * @throws {Error} if the format is unexpected, a row is of another year, or there are no rates later in the year
 */
function readYear(body: unknown, { start, end }: DaySpan): HistoryDay[] {
  const { rates: rows } = Object(body)
  const isLong = dayNumber(end) - dayNumber(start) >= MAX_CLOSED_DAYS
  if (!Array.isArray(rows) || (rows.length === 0 && isLong)) throw new Error('rates')
  const year = start.slice(0, 5)
  const days = new Map<string, Record<string, number>>()
  for (const [index, row] of rows.entries()) {
    const { currencyCode: code, amount, validFor: date, rate } = Object(row)
    const isOfYear = typeof date === 'string' && isDay(date) && date.startsWith(year)
    if (!isOfYear || typeof code !== 'string') throw new Error(`row ${index}`)
    if (date < start || date > end || !isCode(code) || code === BASE) continue
    let prices = days.get(date)
    if (!prices) days.set(date, (prices = {}))
    addQuote(prices, code, unitPrice(rate, amount))
  }
  const ascending = [...days].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return ascending.map(([date, prices]) => ({ date, rates: {}, prices }))
}

/** Decimals after the last digit of a price at which the division by an amount ends. */
const EXTRA_DIGITS = 25

/** Returns the price of one unit, divided in decimals; NaN if one of the numbers is invalid. */
function unitPrice(price: unknown, amount: unknown): number {
  const isAmount = typeof amount === 'number' && Number.isSafeInteger(amount) && amount > 0
  if (!isAmount || typeof price !== 'number' || !(price > 0)) return NaN
  // The shortest decimal of a double has the published digits.
  const [digits = '', exponent = ''] = price.toExponential().replace('.', '').split('e')
  const quotient = (BigInt(digits) * 10n ** BigInt(EXTRA_DIGITS)) / BigInt(amount)
  return Number(`${quotient}e${Number(exponent) - digits.length + 1 - EXTRA_DIGITS}`)
}
