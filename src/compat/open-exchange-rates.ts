import { createTextReader, DISCLAIMER, earlierDay } from '../core.ts'
import type { Route } from '../core.ts'
import { RatesError } from '../index.ts'
import type { LatestRates, RatesErrorCode } from '../index.ts'
import { costOfRange, readAmount, readCode, readDay, readList } from './query.ts'
import {
  coveredCurrencies,
  namesByCode,
  ratesFor,
  requireBasePath,
  respondWithDays,
  toRoutes,
  toSeconds,
  unlessNoData,
} from './respond.ts'
import type { CompatOptions, CompatRequest, ServiceRoute } from './respond.ts'

export type { CompatOptions } from './respond.ts'

/**
 * Returns routes with the paths of Open Exchange Rates, `/api/….json` and `/api/convert/…`. Latest rates and conversions use the
 * latest rates of the handler, past days its reference rates. `app_id` is ignored.
 *
 * @throws {TypeError} naming the invalid option
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { openExchangeRates } from 'ratesmith/compat/open-exchange-rates'
 *
 * const handler = createRatesHandler({ routes: [openExchangeRates()] })
 * await handler(new Request('http://localhost/api/latest.json?base=GBP&symbols=EUR'))
 * ```
 */
export function openExchangeRates(options: CompatOptions = {}): Route[] {
  return toRoutes(
    requireBasePath(options),
    ROUTES.map((route) => ({ ...route, error: toErrorResponse })),
  )
}

const ROUTES: readonly ServiceRoute[] = [
  { path: '/api/latest.json', respond: (request) => table(request) },
  {
    path: '/api/historical/:date.json',
    respond: (request) => table(request, readDay('date', request.params['date'])),
  },
  {
    path: '/api/currencies.json',
    respond: async ({ rates }) => namesByCode(await coveredCurrencies(rates, 'latest')),
  },
  {
    path: '/api/time-series.json',
    cost: ({ query: { symbols, start, end } }, now) => costOfRange(symbols, start, end ?? now),
    respond: timeSeries,
  },
  { path: '/api/convert/:amount/:from/:to', respond: convert },
  // Paths of the service without a counterpart.
  {
    path: '/api/(?<name>ohlc|usage).json',
    respond: () => Promise.reject(new RatesError('not_found', 'Not found')),
  },
]

const readQuery = createTextReader(['base', 'symbols', 'start', 'end'])

function readTable(query: CompatRequest['query']) {
  const { base = 'USD', symbols, start, end } = readQuery(query)
  return { base: readCode('base', base), symbols: readList('symbols', symbols), start, end }
}

async function table({ rates, query }: CompatRequest, date?: string): Promise<object> {
  const { base, symbols } = readTable(query)
  const latest = await rates.latest({ base, date })
  const found = Object.fromEntries(ratesFor(latest, symbols))
  return { ...terms(latest), ...timed(latest), base, rates: found }
}

async function timeSeries(request: CompatRequest): Promise<object> {
  const { rates, query, today } = request
  const { base, symbols, ...sent } = readTable(query)
  const start = readDay('start', sent.start)
  const end = readDay('end', sent.end)
  if (start > end) throw new RatesError('invalid_parameter', 'start must not be after end')
  const last = earlierDay(end, today)
  const latest = await rates.latest({ base, date: last })
  const head = { ...terms(latest), start_date: start, end_date: end, base }
  const series = respondWithDays(request, {
    base,
    codes: symbols?.filter((code) => code !== base),
    start,
    end: last,
    head: () => head,
    name: 'rates',
    hasBase: symbols?.includes(base) ?? true,
  })
  return (await unlessNoData(series)) ?? { ...head, rates: {} }
}

async function convert({ rates, params }: CompatRequest): Promise<object> {
  const { amount: sent, from, to } = params
  const given = { amount: readAmount(sent), from: readCode('from', from), to: readCode('to', to) }
  const conversion = await rates.convert(given)
  return {
    ...terms(conversion),
    request: { query: `/convert/${sent}/${from}/${to}`, ...given },
    meta: { ...timed(conversion), rate: conversion.rate },
    response: conversion.result,
  }
}

function terms({ source }: Pick<LatestRates, 'source'>): object {
  return { disclaimer: DISCLAIMER, license: source.url }
}

function timed({ updatedAt }: { updatedAt: number }): object {
  return { timestamp: toSeconds(updatedAt) }
}

/** The service's names of errors, where they differ. */
const NAMES: Partial<Record<RatesErrorCode, string>> = {
  unsupported_currency: 'invalid_currency',
  no_data: 'not_available',
  unauthorized: 'invalid_app_id',
  forbidden: 'access_restricted',
  rate_limited: 'access_restricted',
}

const DAYS = ['date', 'start', 'end']

function toErrorResponse(error: RatesError) {
  const { code, message: description, status: statusOfCode, parameter = '' } = error
  const status = code === 'no_data' ? 400 : statusOfCode
  const isDay = code.endsWith('_parameter') && DAYS.includes(parameter)
  const named = isDay ? 'invalid_date' : (NAMES[code] ?? code)
  const message = parameter === 'base' ? 'invalid_base' : named
  return { status, body: { error: true, status, message, description } }
}
