import type { LatestRates } from '../api/latest.ts'
import { RatesError } from '../errors.ts'
import type { RatesErrorCode } from '../errors.ts'
import type { RatesHandler } from '../handler.ts'
import { STATUS } from '../http/response.ts'
import { toDay } from '../rates/dates.ts'
import { readAmount, readCode, readDay } from './parameters.ts'
import { mountService, requireOptions } from './route.ts'
import type {
  CompatEndpoint,
  CompatOptions,
  CompatRequest,
  CompatService,
  ErrorResponse,
} from './route.ts'
import { coveredCurrencies, multiply, toSeconds } from './tables.ts'

export type { CompatOptions } from './route.ts'

const DEFAULT_BASE = 'USD'

/**
 * Serves the paths of ExchangeRate-API, `/v6/…` with or without a key and `/v4/latest`; `handler` serves all other paths.
 * Uses the latest rates of `handler`, and its reference rates for `/v6/KEY/history`. Accepts any key.
 *
 * @throws {TypeError} naming the invalid option or argument
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { exchangeRateApi } from 'ratesmith/compat/exchange-rate-api'
 *
 * const handler = exchangeRateApi(createRatesHandler())
 * await handler(new Request('http://localhost/v6/latest/USD'))
 * ```
 */
export function exchangeRateApi(handler: RatesHandler, options: CompatOptions = {}): RatesHandler {
  return mountService(handler, service, requireOptions(options))
}

const service: CompatService = {
  name: 'exchange-rate-api',
  find(path) {
    const [, version, rest = ''] = /^\/(v4|v6)(?:\/(.*))?$/.exec(path) ?? []
    if (version === undefined) return undefined
    const [first = '', ...others] = rest.split('/')
    if (first === 'latest' && others.length <= 1) {
      const base = others[0] ?? DEFAULT_BASE
      return (request) => (version === 'v4' ? oldTable(request, base) : openTable(request, base))
    }
    return version === 'v6' ? (withKey(others) ?? null) : null
  },
  toErrorResponse,
}

function withKey([name, ...parts]: readonly string[]): CompatEndpoint | undefined {
  const [base = DEFAULT_BASE] = parts
  if (name === 'latest' && parts.length <= 1) return (request) => keyedTable(request, base)
  if (name === 'codes' && parts.length === 0) return codes
  if (name === 'pair' && (parts.length === 2 || parts.length === 3)) {
    return (request) => pair(request, parts)
  }
  if (name === 'history' && (parts.length === 4 || parts.length === 5)) {
    return (request) => history(request, parts)
  }
  return undefined
}

async function openTable({ rates }: CompatRequest, base: string): Promise<object> {
  const table = await rates.latest({ base: readCode('base', base) })
  const { source } = table
  const origin = { provider: source.url, ...terms(table) }
  const end = { time_eol_unix: 0, base_code: table.base }
  return { result: 'success', ...origin, ...times(table), ...end, rates: table.rates }
}

async function oldTable({ rates }: CompatRequest, base: string): Promise<object> {
  const table = await rates.latest({ base: readCode('base', base) })
  const { url } = table.source
  return {
    provider: url,
    WARNING_UPGRADE_TO_V6: url,
    terms: url,
    base: table.base,
    date: toDay(table.updatedAt),
    time_last_updated: toSeconds(table.updatedAt),
    rates: table.rates,
  }
}

async function keyedTable({ rates }: CompatRequest, base: string): Promise<object> {
  const table = await rates.latest({ base: readCode('base', base) })
  return { ...head(table), base_code: table.base, conversion_rates: table.rates }
}

async function pair(
  { rates }: CompatRequest,
  [from, to, sent]: readonly string[],
): Promise<object> {
  const [base, symbol] = [readCode('base', from), readCode('symbols', to)]
  const amount = readAmount(sent)
  const table = await rates.latest({ base, symbols: [symbol] })
  const rate = table.rates[symbol]
  // Tables omit withdrawn currencies.
  if (rate === undefined) throw new RatesError('invalid_currency', 'Invalid currency')
  const converted = sent === undefined ? {} : { conversion_result: multiply(amount, rate) }
  const codes = { base_code: base, target_code: symbol }
  return { ...head(table), ...codes, conversion_rate: rate, ...converted }
}

async function codes({ rates }: CompatRequest): Promise<object> {
  const currencies = await coveredCurrencies(rates, 'latest')
  const supported_codes = currencies.map(({ code, name }) => [code, name ?? code])
  return { result: 'success', ...terms(await rates.latest()), supported_codes }
}

async function history({ rates }: CompatRequest, parts: readonly string[]): Promise<object> {
  const [code, year = '', month = '', day = '', sent] = parts
  const date = readDay('date', [year, month.padStart(2, '0'), day.padStart(2, '0')].join('-'))
  const amount = readAmount(sent)
  const table = await rates.latest({ base: readCode('base', code), date })
  const [ofYear, ofMonth, ofDay] = table.date.split('-').map(Number)
  const when = { year: ofYear, month: ofMonth, day: ofDay }
  const start = { result: 'success', ...terms(table), ...when, base_code: table.base }
  if (sent === undefined) return { ...start, conversion_rates: table.rates }
  const amounts = Object.entries(table.rates).map(([to, rate]) => [to, multiply(amount, rate)])
  return { ...start, requested_amount: amount, conversion_amounts: Object.fromEntries(amounts) }
}

function head(table: LatestRates): object {
  return { result: 'success', ...terms(table), ...times(table) }
}

function terms({ source }: LatestRates): object {
  return { documentation: source.url, terms_of_use: source.url }
}

function times({ updatedAt, nextUpdateAt }: LatestRates): object {
  return {
    time_last_update_unix: toSeconds(updatedAt),
    time_last_update_utc: toUtc(updatedAt),
    time_next_update_unix: toSeconds(nextUpdateAt),
    time_next_update_utc: toUtc(nextUpdateAt),
  }
}

/** Returns `Fri, 27 Mar 2020 00:00:00 +0000`. */
function toUtc(instant: number): string {
  return new Date(instant).toUTCString().replace('GMT', '+0000')
}

const ACCESS_ERRORS: Partial<Record<RatesErrorCode, string>> = {
  unauthorized: 'invalid-key',
  forbidden: 'inactive-account',
  rate_limited: 'quota-reached',
}

function toErrorResponse({ code }: RatesError, path: string): ErrorResponse {
  const isCurrency = code.endsWith('_currency')
  const status = isCurrency ? 404 : STATUS[code]
  const isNoData = code === 'no_data' || status >= 500
  const type = isCurrency
    ? 'unsupported-code'
    : isNoData
      ? 'no-data-available'
      : (ACCESS_ERRORS[code] ?? 'malformed-request')
  const isOld = path.startsWith('/v4')
  const named = isOld ? { error_type: type.replaceAll('-', '_') } : { 'error-type': type }
  return { status, body: { result: 'error', ...named } }
}
