import type { CurrencyCoverage } from '../api/currencies.ts'
import type { LatestRates } from '../api/latest.ts'
import { invalidCurrency, invalidParameter } from '../errors.ts'
import type { RatesError } from '../errors.ts'
import type { RatesHandler } from '../handler.ts'
import { STATUS } from '../http/response.ts'
import { findWithdrawal } from '../rates/currency-code.ts'
import { dayNumber, toDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { findCurrency } from '../rates/iso-4217.ts'
import {
  PIVOT,
  dateOfGroup,
  meansByGroup,
  publishedOn,
  ratesAt,
  rebase,
  unlessNoData,
  wholeGroups,
  withDailyRates,
  writeDays,
} from './days.ts'
import type { DaysQuery, Group } from './days.ts'
import { createQueryReader, readCode, readDay, readList } from './parameters.ts'
import { mountService, requireOptions } from './route.ts'
import type { CompatOptions, CompatRequest, CompatService, ErrorResponse } from './route.ts'
import { byCode, coveredCurrencies, earlier, notFound, ratesFor } from './tables.ts'

export type { CompatOptions } from './route.ts'

interface Row {
  date: Day
  base: string
  quote: string
  rate: number
}

interface Parameters {
  base: string
  quotes: readonly string[] | undefined
  /** Whether `providers=ECB` selects reference rates. */
  isReference: boolean
  date: Day | undefined
  from: Day | undefined
  to: Day | undefined
  group: Group | undefined
}

// The limit of the service: at most five years of daily rates for more than five quotes.
const MAX_DAILY_YEARS = 5
const MAX_DAILY_QUOTES = 5

/**
 * Serves the paths of Frankfurter's second version; `handler` serves all other paths. `/v2/rates` and `/v2/rate` use the
 * latest rates of `handler`; with a date or `providers=ECB`, its reference rates.
 *
 * @throws {TypeError} naming the invalid option or argument
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { frankfurterV2 } from 'ratesmith/compat/frankfurter-v2'
 *
 * const handler = frankfurterV2(createRatesHandler())
 * await handler(new Request('http://localhost/v2/rates?base=USD&quotes=EUR'))
 * ```
 */
export function frankfurterV2(handler: RatesHandler, options: CompatOptions = {}): RatesHandler {
  return mountService(handler, service, requireOptions(options))
}

const service: CompatService = {
  name: 'frankfurter-v2',
  find(path) {
    if (path !== '/v2' && !path.startsWith('/v2/')) return undefined
    if (path === '/v2/rates') return (request) => ratesOf(request, readParameters(request.query))
    if (path === '/v2/currencies') return currencies
    const [, code] = /^\/v2\/currency\/([^/]+)$/.exec(path) ?? []
    if (code) return async (request) => requireCurrency(await currencies(request), code)
    const [, base, quotes] = /^\/v2\/rate\/([^/]+)\/([^/]+)$/.exec(path) ?? []
    if (!base || !quotes) return null
    return (request) => rateOf(request, readParameters(request.query, { base, quotes }))
  },
  toErrorResponse,
}

const NAMES = ['base', 'quotes', 'providers', 'date', 'from', 'to', 'group', 'expand'] as const
const readQuery = createQueryReader(...NAMES)

/** Throws for unknown parameters, like the service. */
function readParameters(query: string, pair?: { base: string; quotes: string }): Parameters {
  const names: readonly string[] = NAMES
  const unknown = [...new URLSearchParams(query).keys()].find((name) => !names.includes(name))
  if (unknown !== undefined) throw invalidParameter(unknown, 'unknown parameter')
  const sent = { ...readQuery(query), ...pair }
  const { group, expand, providers } = sent
  const requested = readList('providers', providers)
  const unavailable = requested?.find((provider) => provider !== 'ECB')
  if (unavailable) throw invalidParameter('providers', `must be ECB, got ${unavailable}`)
  if (expand) throw invalidParameter('expand', 'not supported')
  if (group !== undefined && group !== 'week' && group !== 'month') {
    throw invalidParameter('group', 'must be week or month')
  }
  const [date, from, to] = (['date', 'from', 'to'] as const).map((name) => {
    return sent[name] === undefined ? undefined : readDay(name, sent[name])
  })
  if (date && (from ?? to)) throw invalidParameter('date', 'not together with from or to')
  if (to && !from) throw invalidParameter('to', 'needs from')
  const quotes = readList('quotes', sent.quotes)
  const base = readCode('base', sent.base ?? 'EUR')
  const invalid = quotes?.find((quote) => !isKnown(quote))
  if (invalid !== undefined) throw invalidCurrency('quotes', invalid)
  return { base, quotes, isReference: requested !== undefined, date, from, to, group }
}

/** Returns whether `code` is or was a currency, with or without rates. */
function isKnown(code: string): boolean {
  return findCurrency(code) !== undefined || findWithdrawal(code) !== undefined
}

async function rateOf(request: CompatRequest, parameters: Parameters): Promise<object> {
  const { quotes: [quote] = [], from } = parameters
  if (from) throw invalidParameter('from', 'only supported at /v2/rates')
  const found = await rowsOfDay(request, parameters)
  const row = found.find((each) => each.quote === quote)
  if (!row) throw notFound()
  return row
}

async function ratesOf(request: CompatRequest, parameters: Parameters): Promise<object> {
  // Like the service, for a currency without rates.
  return (await unlessNoData(rowsOf(request, parameters))) ?? []
}

async function rowsOf(request: CompatRequest, parameters: Parameters): Promise<object> {
  const { base, from, to, group } = parameters
  if (from === undefined) return rowsOfDay(request, parameters)
  const end = earlier(to ?? request.today, request.today)
  if (from > end) return []
  const window = { base, start: from, end }
  return group
    ? averages(request, parameters, { window, group })
    : dailyRates(request, parameters, window)
}

async function rowsOfDay({ rates, today }: CompatRequest, parameters: Parameters): Promise<Row[]> {
  const { base, quotes, isReference } = parameters
  const date = parameters.date ?? (isReference ? today : undefined)
  const table: LatestRates & { date?: Day } = await (date === undefined
    ? rates.latest({ base })
    : rates.latest({ base, date: earlier(date, today) }))
  const { older = {}, updatedAt } = table
  return ratesFor(table, quotes)
    .sort(byCode)
    .map(([quote, rate]) => {
      return { date: table.date ?? toDay(older[quote] ?? updatedAt), base, quote, rate }
    })
}

type Window = Omit<DaysQuery, 'codes'>

async function dailyRates(
  request: CompatRequest,
  { base, quotes }: Parameters,
  window: Window,
): Promise<object> {
  const days = dayNumber(window.end) - dayNumber(window.start)
  const isBounded = quotes !== undefined && quotes.length <= MAX_DAILY_QUOTES
  if (!isBounded && days > MAX_DAILY_YEARS * 366) {
    const limits = `more than ${MAX_DAILY_YEARS} years need at most ${MAX_DAILY_QUOTES} quotes or a group`
    throw invalidParameter('from', limits)
  }
  const start = await publishedOn(request.rates, base, window.start)
  const codes = quotes?.filter((code) => code !== base).sort()
  return withDailyRates(request, { ...window, start, codes }, async (daily, pause) => {
    const rows = await writeDays(daily, pause, (date, row) => {
      const found = [...ratesAt(daily, row), ...identity({ base, quotes })].sort(byCode)
      // Codes and days contain no characters that JSON escapes.
      const start = `{"date":"${date}","base":"${base}","quote":"`
      return found.map(([quote, rate]) => `${start}${quote}","rate":${rate}}`).join(',')
    })
    return `[${rows}]`
  })
}

/** The service includes the base itself, unless `quotes` omits it. */
function identity({ base, quotes }: Pick<Parameters, 'base' | 'quotes'>): [string, number][] {
  return quotes === undefined || quotes.includes(base) ? [[base, 1]] : []
}

async function averages(
  request: CompatRequest,
  { base, quotes }: Parameters,
  { window, group }: { window: Window; group: Group },
): Promise<object> {
  const codes = quotes && [...new Set([...quotes, base])].filter((code) => code !== PIVOT)
  const params = { base: PIVOT, codes, ...wholeGroups(window, request.today) }
  return withDailyRates(request, params, async (daily, pause) => {
    const [first, last] = [dateOfGroup(window.start, group), dateOfGroup(window.end, group)]
    const rows: Row[] = []
    for (const { date, means } of meansByGroup(daily, group)) {
      if (date < first || date > last) continue
      for (const [quote, rate] of rebase(means, base)) {
        if (quotes?.includes(quote) ?? true) rows.push({ date, base, quote, rate })
      }
      await pause()
    }
    return JSON.stringify(rows)
  })
}

const readCurrencyQuery = createQueryReader('scope', 'providers')

async function currencies({ rates, query }: CompatRequest): Promise<object[]> {
  const { scope, providers } = readCurrencyQuery(query)
  const found = await coveredCurrencies(rates, providers === undefined ? 'latest' : 'history')
  const all = scope === 'all' ? (await rates.currencies()).currencies : found
  return all.map(toCurrency)
}

function toCurrency({ code, numeric, name }: CurrencyCoverage): object {
  return { iso_code: code, iso_numeric: numeric, name }
}

function requireCurrency(found: object[], code: string): object {
  const upperCase = code.toUpperCase()
  const currency = found.find((each) => 'iso_code' in each && each.iso_code === upperCase)
  if (!currency) throw notFound()
  return currency
}

function toErrorResponse(error: RatesError): ErrorResponse {
  const status = STATUS[error.code] === 400 ? 422 : STATUS[error.code]
  const message = status === 404 ? 'not found' : messageOf(error)
  return { status, body: { status, message } }
}

/** Returns the service's own messages, which clients may compare. */
function messageOf({ code, message, parameter = '', summary }: RatesError): string {
  if (code.endsWith('_currency')) return `invalid currency: ${summary.replace(/^.*: /, '')}`
  if (message.endsWith('(unknown parameter)')) return `unknown parameter: ${parameter}`
  return message
}
