import type { LatestRates } from '../api/latest.ts'
import { RatesError } from '../errors.ts'
import type { RatesErrorCode } from '../errors.ts'
import type { RatesHandler } from '../handler.ts'
import { exactDifference, percentChange } from '../rates/arithmetic.ts'
import { dayNumber } from '../rates/dates.ts'
import { representByDay, withDailyRates } from './days.ts'
import type { DaysQuery } from './days.ts'
import { createQueryReader, readAmount, readCode, readDay, readList } from './parameters.ts'
import { mountService, requireOptions } from './route.ts'
import type { CompatEndpoint, CompatOptions, CompatRequest, ErrorResponse } from './route.ts'
import { coveredCurrencies, earlier, namesByCode, ratesFor, toSeconds } from './tables.ts'

export type { CompatOptions } from './route.ts'

/** The limit of the service. */
const MAX_TIME_FRAME_DAYS = 365

/**
 * Serves the paths of exchangerate.host; `handler` serves all other paths. `/live`, `/convert` and `/list` use the latest
 * rates of `handler`; `/historical`, `/timeframe`, `/change` and `/convert` with `date` its reference rates. `access_key`
 * is ignored.
 *
 * @throws {TypeError} naming the invalid option or argument
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { exchangerateHost } from 'ratesmith/compat/exchangerate-host'
 *
 * const handler = exchangerateHost(createRatesHandler())
 * await handler(new Request('http://localhost/convert?from=USD&to=EUR&amount=10'))
 * ```
 */
export function exchangerateHost(handler: RatesHandler, options: CompatOptions = {}): RatesHandler {
  const find = (path: string): CompatEndpoint | undefined => ENDPOINTS.get(path)
  return mountService(
    handler,
    { name: 'exchangerate-host', find, toErrorResponse },
    requireOptions(options),
  )
}

const readTableQuery = createQueryReader('source', 'currencies', 'date')
const readConversionQuery = createQueryReader('from', 'to', 'amount', 'date')
const readFrameQuery = createQueryReader('source', 'currencies', 'start_date', 'end_date')

const ENDPOINTS = new Map<string, CompatEndpoint>([
  ['/live', live],
  ['/historical', historical],
  ['/convert', convert],
  ['/timeframe', timeframe],
  ['/change', change],
  ['/list', list],
])

async function live({ rates, query }: CompatRequest): Promise<object> {
  const { source = 'USD', currencies } = readTableQuery(query)
  const table = await rates.latest({ base: readCode('source', source) })
  return { ...terms(table), ...timed(table), ...quotesOf(table, currencies) }
}

async function historical({ rates, query }: CompatRequest): Promise<object> {
  const { source = 'USD', currencies, date } = readTableQuery(query)
  const day = readDay('date', date)
  const table = await rates.latest({ base: readCode('source', source), date: day })
  const dated = { historical: true, date: table.date }
  return { ...terms(table), ...dated, ...timed(table), ...quotesOf(table, currencies) }
}

async function convert({ rates, query }: CompatRequest): Promise<object> {
  const sent = readConversionQuery(query)
  const from = readCode('from', sent.from)
  const to = readCode('to', sent.to)
  // The service's earlier version used 1 as the default, and scripts rely on it.
  const amount = readAmount(sent.amount)
  const date = sent.date === undefined ? undefined : readDay('date', sent.date)
  const conversion = await rates.convert({ from, to, amount, date })
  const { rate, result } = conversion
  const dated = 'date' in conversion ? { historical: true, date: conversion.date } : {}
  const info = { ...timed(conversion), quote: rate }
  return { ...terms(conversion), query: { from, to, amount }, info, ...dated, result }
}

async function timeframe(request: CompatRequest): Promise<object> {
  const { source, params, head, ends } = await readFrame(request)
  if (dayNumber(params.end) - dayNumber(params.start) > MAX_TIME_FRAME_DAYS) {
    throw new RatesError(
      'invalid_parameter',
      `The time frame exceeds ${MAX_TIME_FRAME_DAYS} days`,
      {
        parameter: 'timeframe',
      },
    )
  }
  return representByDay(request, {
    ...params,
    head: () => ({ ...head, timeframe: true, ...ends }),
    name: 'quotes',
    toRated: (rates) => rates.map(([code, rate]) => [source + code, rate]),
  })
}

async function change(request: CompatRequest): Promise<object> {
  const { source, params, head, ends } = await readFrame(request)
  return withDailyRates(request, params, async ({ columns }) => {
    const quotes = [...columns].map(([code, column]): [string, object] => {
      const rates = column.filter((rate) => !Number.isNaN(rate))
      const [start = NaN, end = NaN] = [rates.at(0), rates.at(-1)]
      const difference = {
        change: exactDifference(end, start),
        change_pct: percentChange(start, end),
      }
      return [code, { start_rate: start, end_rate: end, ...difference }]
    })
    return JSON.stringify({ ...head, change: true, ...ends, quotes: byPair(source, quotes) })
  })
}

async function list({ rates }: CompatRequest): Promise<object> {
  const currencies = namesByCode(await coveredCurrencies(rates, 'latest'))
  return { ...terms(await rates.latest()), currencies }
}

async function readFrame({ rates, query, today }: CompatRequest) {
  const sent = readFrameQuery(query)
  const source = readCode('source', sent.source ?? 'USD')
  const start = readDay('start_date', sent.start_date)
  const end = readDay('end_date', sent.end_date)
  if (start > end) {
    throw new RatesError('invalid_parameter', 'start_date must not be after end_date', {
      parameter: 'order',
    })
  }
  const window = { base: source, start, end: earlier(end, today) }
  const codes = readList('currencies', sent.currencies)?.filter((code) => code !== source)
  const params: DaysQuery = { ...window, codes, isStrict: true }
  const head = terms(await rates.latest({ base: source, date: window.end }))
  return { source, params, head, ends: { start_date: start, end_date: end, source } }
}

function terms({ source }: Pick<LatestRates, 'source'>): object {
  return { success: true, terms: source.url, privacy: source.url }
}

function timed({ updatedAt }: { updatedAt: number }): object {
  return { timestamp: toSeconds(updatedAt) }
}

function quotesOf(table: LatestRates, sent: string | undefined): object {
  const { base, rates } = table
  const requested = readCurrencies(sent, Object.keys(rates))
  const quotes = ratesFor(table, requested).filter(([code]) => code !== base)
  return { source: base, quotes: byPair(base, quotes) }
}

function byPair(source: string, quotes: readonly [code: string, value: unknown][]): object {
  return Object.fromEntries(quotes.map(([code, value]) => [source + code, value]))
}

function readCurrencies(sent: string | undefined, known: readonly string[]): string[] | undefined {
  const codes = readList('currencies', sent)
  const unknown = codes?.find((code) => !known.includes(code))
  if (unknown === undefined) return codes
  throw new RatesError('invalid_currency', 'One or more currency codes are invalid', {
    parameter: 'currencies',
  })
}

/** The service's errors by invalid parameter; `MISSING` has those for a missing parameter that differ. */
const ERRORS: Readonly<Record<string, Refused>> = {
  source: [201, 'invalid_source_currency', 'The source currency is invalid; example: source=EUR'],
  currencies: [202, 'invalid_currency_codes', 'One or more currency codes are invalid'],
  date: [302, 'invalid_date', 'The date is invalid; example: date=2026-11-20'],
  from: [401, 'invalid_from_currency', 'The currency "from" is invalid; example: from=EUR'],
  to: [402, 'invalid_to_currency', 'The currency "to" is invalid; example: to=GBP'],
  amount: [403, 'invalid_conversion_amount', 'The amount is invalid; example: amount=5'],
  start_date: [502, 'invalid_start_date', 'The start date is invalid'],
  end_date: [503, 'invalid_end_date', 'The end date is invalid'],
  order: [504, 'invalid_time_frame', 'The start date is after the end date'],
  timeframe: [505, 'time_frame_too_long', `The time frame exceeds ${MAX_TIME_FRAME_DAYS} days`],
}
const MISSING: Readonly<Record<string, Refused>> = {
  date: [301, 'no_date_supplied', 'The date is missing; example: date=2026-11-20'],
  start_date: [501, 'no_timeframe_supplied', 'A start date and an end date are required'],
  end_date: [501, 'no_timeframe_supplied', 'A start date and an end date are required'],
}
const NO_FUNCTION: Refused = [103, 'invalid_api_function', 'Unknown path']
const NO_RATES: Refused = [106, 'no_rates_available', 'No rates are available for this request']

const ACCESS_ERRORS: Partial<Record<RatesErrorCode, readonly [code: number, type: string]>> = {
  unauthorized: [101, 'invalid_access_key'],
  forbidden: [105, 'function_access_restricted'],
  rate_limited: [104, 'usage_limit_reached'],
}

type Refused = readonly [code: number, type: string, info: string]

/** The service reports client errors with status 200. */
function toErrorResponse(error: RatesError, path: string): ErrorResponse {
  const [code, type, info] = refusedAs(error, path)
  const isMistake = error.code === 'no_data' || error.status === 400
  return {
    status: isMistake ? 200 : error.status,
    body: { success: false, error: { code, type, info } },
  }
}

function refusedAs({ code, message, parameter = '' }: RatesError, path: string): Refused {
  if (code === 'not_found' || code === 'method_not_allowed') return NO_FUNCTION
  if (code === 'no_data') return NO_RATES
  const access = ACCESS_ERRORS[code]
  if (access) return [...access, message]
  const name = path === '/convert' ? parameter : (NAMES[parameter] ?? parameter)
  const known = (code === 'missing_parameter' ? MISSING[name] : undefined) ?? ERRORS[name]
  return known ?? [NO_RATES[0], NO_RATES[1], message]
}

/** The service's parameters by the names that the operations use, except at `/convert`. */
const NAMES: Partial<Record<string, string>> = {
  base: 'source',
  from: 'source',
  to: 'currencies',
}
