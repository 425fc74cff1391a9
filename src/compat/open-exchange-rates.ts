import { DISCLAIMER } from '../api/latest.ts'
import type { LatestRates } from '../api/latest.ts'
import { RatesError } from '../errors.ts'
import type { RatesErrorCode } from '../errors.ts'
import type { RatesHandler } from '../handler.ts'
import { representByDay, unlessNoData } from './days.ts'
import { createQueryReader, readAmount, readCode, readDay, readList } from './parameters.ts'
import { mountService, requireOptions } from './route.ts'
import type {
  CompatEndpoint,
  CompatOptions,
  CompatRequest,
  CompatService,
  ErrorResponse,
} from './route.ts'
import { coveredCurrencies, earlier, namesByCode, ratesFor, toSeconds } from './tables.ts'

export type { CompatOptions } from './route.ts'

/**
 * Serves the paths of Open Exchange Rates, `/api/….json` and `/api/convert/…`; `handler` serves all other paths. Latest rates
 * and conversions use the latest rates of `handler`, past days its reference rates. `app_id` is ignored.
 *
 * @throws {TypeError} naming the invalid option or argument
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { openExchangeRates } from 'ratesmith/compat/open-exchange-rates'
 *
 * const handler = openExchangeRates(createRatesHandler())
 * await handler(new Request('http://localhost/api/latest.json?base=GBP&symbols=EUR'))
 * ```
 */
export function openExchangeRates(
  handler: RatesHandler,
  options: CompatOptions = {},
): RatesHandler {
  return mountService(handler, service, requireOptions(options))
}

const ENDPOINTS = new Map<string, CompatEndpoint>([
  ['latest', ({ rates, query }) => table(query, (base) => rates.latest({ base }))],
  ['currencies', async ({ rates }) => namesByCode(await coveredCurrencies(rates, 'latest'))],
  ['time-series', timeSeries],
])

const service: CompatService = {
  name: 'open-exchange-rates',
  find(path) {
    const [, name = ''] = /^\/api\/(.*)\.json$/.exec(path) ?? []
    const known = ENDPOINTS.get(name)
    if (known) return known
    const [, date] = /^historical\/([^/]+)$/.exec(name) ?? []
    if (date) {
      const day = (): string => readDay('date', date)
      return ({ rates, query }) => table(query, (base) => rates.latest({ base, date: day() }))
    }
    const [, ...parts] = /^\/api\/convert\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(path) ?? []
    if (parts.length > 0) return (request) => convert(request, parts)
    return name !== '' || path.startsWith('/api/convert/') ? null : undefined
  },
  toErrorResponse,
}

const readQuery = createQueryReader('base', 'symbols', 'start', 'end')

function readTable(query: string) {
  const { base = 'USD', symbols, start, end } = readQuery(query)
  return { base: readCode('base', base), symbols: readList('symbols', symbols), start, end }
}

async function table(query: string, read: (base: string) => Promise<LatestRates>): Promise<object> {
  const { base, symbols } = readTable(query)
  const latest = await read(base)
  const rates = Object.fromEntries(ratesFor(latest, symbols))
  return { ...terms(latest), ...timed(latest), base, rates }
}

async function timeSeries(request: CompatRequest): Promise<object> {
  const { rates, today } = request
  const { base, symbols, ...sent } = readTable(request.query)
  const start = readDay('start', sent.start)
  const end = readDay('end', sent.end)
  if (start > end) throw new RatesError('invalid_parameter', 'start must not be after end')
  const window = { base, start, end: earlier(end, today) }
  const latest = await rates.latest({ base, date: window.end })
  const own: [string, number][] = symbols?.includes(base) === false ? [] : [[base, 1]]
  const head = { ...terms(latest), start_date: start, end_date: end, base }
  const codes = symbols?.filter((code) => code !== base)
  const series = representByDay(request, {
    ...window,
    codes,
    head: () => head,
    name: 'rates',
    toRated: (found) => [...found, ...own],
  })
  return (await unlessNoData(series)) ?? { ...head, rates: {} }
}

async function convert(
  { rates }: CompatRequest,
  [sent = '', from = '', to = '']: readonly string[],
): Promise<object> {
  const params = { amount: readAmount(sent), from: readCode('from', from), to: readCode('to', to) }
  const conversion = await rates.convert(params)
  return {
    ...terms(conversion),
    request: { query: `/convert/${sent}/${from}/${to}`, ...params },
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

function toErrorResponse({
  code,
  message: description,
  status: statusOfCode,
  parameter = '',
}: RatesError): ErrorResponse {
  const status = code === 'no_data' ? 400 : statusOfCode
  const isDay = code.endsWith('_parameter') && DAYS.includes(parameter)
  const named = isDay ? 'invalid_date' : (NAMES[code] ?? code)
  const message = parameter === 'base' ? 'invalid_base' : named
  return { status, body: { error: true, status, message, description } }
}
