import {
  createTextReader,
  dayNumber,
  divide,
  earlierDay,
  exactDifference,
  invalidParameter,
  ONE,
  percentChange,
  toDay,
  toDecimal,
  toNumber,
  withDays,
} from '../core.ts'
import type { Day, DayTable, Route } from '../core.ts'
import { RatesError } from '../index.ts'
import type { LatestRates, RatesErrorCode } from '../index.ts'
import {
  costOfRange,
  readAmount,
  readCode,
  readDay,
  readList,
  requireRangeAmount,
  workOfRange,
} from './query.ts'
import {
  coveredCurrencies,
  multiply,
  namesByCode,
  ratesFor,
  requireBasePath,
  respondWithDays,
  toRoutes,
  toSeconds,
  withBase,
} from './respond.ts'
import type { CompatOptions, CompatRequest, ServiceRoute } from './respond.ts'

export type { CompatOptions } from './respond.ts'

/**
 * Returns routes with the paths of fixer, exchangeratesapi.io, exchangerate.host (before and since September 2023) and
 * currencylayer. Current rates and conversions use the latest rates of the handler, past days its reference rates. `access_key`
 * is ignored.
 *
 * @throws {TypeError} naming the invalid option
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { fixer } from 'ratesmith/compat/fixer'
 *
 * const handler = createRatesHandler({ routes: [fixer()] })
 * await handler(new Request('http://localhost/latest?base=USD&symbols=EUR'))
 * await handler(new Request('http://localhost/convert?from=USD&to=EUR&amount=10'))
 * ```
 */
export function fixer(options: CompatOptions = {}): Route[] {
  return toRoutes(requireBasePath(options), ROUTES)
}

/** The limit of the services. */
const MAX_TIME_FRAME_DAYS = 365

/** The two forms of a table: fixer's has codes, currencylayer's has pairs such as `USDEUR`. */
interface Form {
  base: 'base' | 'source'
  list: 'symbols' | 'currencies'
  field: 'rates' | 'quotes'
  defaultBase: string
}

const RATES: Form = { base: 'base', list: 'symbols', field: 'rates', defaultBase: 'EUR' }
const QUOTES: Form = { base: 'source', list: 'currencies', field: 'quotes', defaultBase: 'USD' }

const ROUTES: readonly ServiceRoute[] = [
  tableRoute('/latest', RATES, (request) => table(request, RATES)),
  tableRoute('/(?<day>[0-9]{4}-[0-9]{2}-[0-9]{2})', RATES, (request) =>
    table(request, RATES, readDay('date', request.params['day'])),
  ),
  rangeRoute('/timeseries', RATES, frames),
  rangeRoute('/fluctuation', RATES, changes),
  tableRoute('/symbols', RATES, ({ rates }) => list(rates, 'symbols')),
  tableRoute('/live', QUOTES, (request) => table(request, QUOTES)),
  tableRoute('/historical', QUOTES, (request) =>
    table(request, QUOTES, readDay('date', readQuery(request.query).date)),
  ),
  rangeRoute('/timeframe', QUOTES, frames),
  rangeRoute('/change', QUOTES, changes),
  tableRoute('/list', QUOTES, ({ rates }) => list(rates, 'currencies')),
  { path: '/convert', respond: convert, error: (error) => toErrorResponse(error) },
]

function tableRoute(path: string, form: Form, respond: ServiceRoute['respond']): ServiceRoute {
  return { path, respond, error: (error) => toErrorResponse(error, form) }
}

function rangeRoute(
  path: string,
  form: Form,
  respond: (request: CompatRequest, form: Form, name: string) => Promise<object>,
): ServiceRoute {
  return {
    ...tableRoute(path, form, (request) => respond(request, form, path.slice(1))),
    cost: ({ query: { symbols, currencies, start_date, end_date } }, now) =>
      costOfRange(symbols ?? currencies, start_date, end_date ?? now),
  }
}

const readQuery = createTextReader([
  'base',
  'source',
  'symbols',
  'currencies',
  'date',
  'start_date',
  'end_date',
  'amount',
  'places',
])
const readConversion = createTextReader(['from', 'to', 'amount', 'date', 'places'])

function readTable({ query }: CompatRequest, form: Form) {
  const sent = readQuery(query)
  const base = sent.base ?? sent.source ?? form.defaultBase
  // The services with pairs ignore both.
  const amount = readAmount(form === RATES ? sent.amount : undefined)
  const round = readPlaces(form === RATES ? sent.places : undefined)
  return {
    base: readCode(form.base, base),
    codes: readList(form.list, sent.symbols ?? sent.currencies),
    toValue: (rate: number) => round(multiply(amount, rate)),
    amount,
    sent,
  }
}

const MAX_PLACES = 20

/** Returns a function that rounds to the number of decimals in `sent`. Throws `invalid_parameter`. */
function readPlaces(sent: string | undefined): (value: number) => number {
  if (sent === undefined) return (value) => value
  const places = /^\d{1,2}$/.test(sent) ? Number(sent) : NaN
  if (!(places <= MAX_PLACES)) throw invalidParameter('places', `0 to ${MAX_PLACES}`)
  return (value) => toNumber(divide(toDecimal(value), ONE, places))
}

async function table(request: CompatRequest, form: Form, day?: Day): Promise<object> {
  const { base, codes, toValue } = readTable(request, form)
  const latest = await request.rates.latest({ base, date: day })
  requireKnown(form, codes, Object.keys(latest.rates))
  const found = ratesFor(latest, codes)
  const date = latest.date ?? toDay(latest.updatedAt)
  const historical = day === undefined ? {} : { historical: true }
  if (form === RATES) {
    const rates = Object.fromEntries(found.map(([code, rate]) => [code, toValue(rate)]))
    return { success: true, ...timed(latest), ...historical, base, date, rates }
  }
  const dated = day === undefined ? {} : { ...historical, date }
  const others = found.filter(([code]) => code !== base)
  const quotes = byPair(base, others)
  return { ...terms(latest), ...dated, ...timed(latest), source: base, quotes }
}

async function convert({ rates, query }: CompatRequest): Promise<object> {
  const sent = readConversion(query)
  const from = readCode('from', sent.from)
  const to = readCode('to', sent.to)
  // The earlier exchangerate.host used 1 as the default, and scripts rely on it.
  const amount = readAmount(sent.amount)
  const round = readPlaces(sent.places)
  const day = sent.date === undefined ? undefined : readDay('date', sent.date)
  const conversion = await rates.convert({ from, to, amount, date: day })
  const { rate, result, date = toDay(conversion.updatedAt) } = conversion
  const historical = day === undefined ? {} : { historical: true }
  const info = { ...timed(conversion), rate, quote: rate }
  const about = { query: { from, to, amount }, info, ...historical, date }
  return { ...terms(conversion), ...about, result: round(result) }
}

async function frames(request: CompatRequest, form: Form, name: string): Promise<object> {
  const { params, head, toValue, hasBase } = await readFrame(request, form, name)
  if (dayNumber(params.end) - dayNumber(params.start) > MAX_TIME_FRAME_DAYS) {
    throw new RatesError(
      'invalid_parameter',
      `The time frame exceeds ${MAX_TIME_FRAME_DAYS} days`,
      { parameter: 'timeframe' },
    )
  }
  const prefix = form === QUOTES ? params.base : ''
  return respondWithDays(request, {
    ...params,
    head: () => head,
    name: form.field,
    prefix,
    toValue,
    hasBase,
  })
}

async function changes(request: CompatRequest, form: Form, name: string): Promise<object> {
  const { params, head, toValue, hasBase } = await readFrame(request, form, name)
  const { base } = params
  const changesIn = ({ columns }: DayTable): [code: string, change: object][] =>
    Array.from(columns, ([code, column]) => {
      const isRate = (rate: number): boolean => !Number.isNaN(rate)
      const [first = NaN, last = NaN] = [column.find(isRate), column.findLast(isRate)]
      const [start_rate, end_rate] = [toValue(first), toValue(last)]
      const change = exactDifference(end_rate, start_rate)
      return [code, { start_rate, end_rate, change, change_pct: percentChange(first, last) }]
    })
  return withDays(request.rates, params, request.run, async (found) => {
    const all = changesIn(hasBase ? withBase(found, base) : found)
    return { ...head, [form.field]: form === QUOTES ? byPair(base, all) : Object.fromEntries(all) }
  })
}

async function readFrame(request: CompatRequest, form: Form, name: string) {
  const { base, codes, toValue, amount, sent } = readTable(request, form)
  const start = readDay('start_date', sent.start_date)
  const end = readDay('end_date', sent.end_date)
  if (start > end) {
    throw new RatesError('invalid_parameter', 'start_date must not be after end_date', {
      parameter: 'order',
    })
  }
  const last = earlierDay(end, request.today)
  requireRangeAmount(amount, workOfRange(codes?.join(), start, last))
  const others = codes?.filter((code) => code !== base)
  const latest = await request.rates.latest({ base, date: last })
  const about = form === QUOTES ? terms(latest) : SUCCESS
  const ends = { [name]: true, start_date: start, end_date: end, [form.base]: base }
  return {
    params: { base, codes: others, start, end: last, isStrict: true },
    head: { ...about, ...ends },
    toValue,
    hasBase: form === RATES && (codes?.includes(base) ?? true),
  }
}

async function list(rates: CompatRequest['rates'], name: string): Promise<object> {
  const names = namesByCode(await coveredCurrencies(rates, 'latest'))
  const about = name === 'symbols' ? SUCCESS : terms(await rates.latest())
  return { ...about, [name]: names }
}

const SUCCESS = { success: true }

function terms({ source }: Pick<LatestRates, 'source'>): object {
  return { ...SUCCESS, terms: source.url, privacy: source.url }
}

function timed({ updatedAt }: { updatedAt: number }): object {
  return { timestamp: toSeconds(updatedAt) }
}

function byPair(source: string, values: readonly [code: string, value: unknown][]): object {
  return Object.fromEntries(values.map(([code, value]) => [source + code, value]))
}

function requireKnown(
  { list: name }: Form,
  codes: readonly string[] = [],
  known: readonly string[],
) {
  if (codes.every((code) => known.includes(code))) return
  throw new RatesError('invalid_currency', CODES_INVALID, { parameter: name })
}

type Failure = readonly [code: number, type: string, info: string]

const CODES_INVALID = 'One or more currency codes are invalid'

/** The services' errors by invalid parameter; `MISSING` has those for a missing parameter that differ. */
const ERRORS: Readonly<Record<string, Failure>> = {
  base: [201, 'invalid_base_currency', 'The base currency is invalid; example: base=EUR'],
  source: [201, 'invalid_source_currency', 'The source currency is invalid; example: source=EUR'],
  symbols: [202, 'invalid_currency_codes', CODES_INVALID],
  currencies: [202, 'invalid_currency_codes', CODES_INVALID],
  date: [302, 'invalid_date', 'The date is invalid; example: date=2026-11-20'],
  from: [401, 'invalid_from_currency', 'The currency "from" is invalid; example: from=EUR'],
  to: [402, 'invalid_to_currency', 'The currency "to" is invalid; example: to=GBP'],
  amount: [403, 'invalid_conversion_amount', 'The amount is invalid; example: amount=5'],
  start_date: [502, 'invalid_start_date', 'The start date is invalid'],
  end_date: [503, 'invalid_end_date', 'The end date is invalid'],
  order: [504, 'invalid_time_frame', 'The start date is after the end date'],
  timeframe: [505, 'time_frame_too_long', `The time frame exceeds ${MAX_TIME_FRAME_DAYS} days`],
}
const MISSING: Readonly<Record<string, Failure>> = {
  date: [301, 'no_date_supplied', 'The date is missing; example: date=2026-11-20'],
  start_date: [501, 'no_timeframe_supplied', 'A start date and an end date are required'],
  end_date: [501, 'no_timeframe_supplied', 'A start date and an end date are required'],
}
const NO_FUNCTION: Failure = [103, 'invalid_api_function', 'Unknown path']
const NO_RATES: Failure = [106, 'no_rates_available', 'No rates are available for this request']

const ACCESS_ERRORS: Partial<Record<RatesErrorCode, readonly [code: number, type: string]>> = {
  unauthorized: [101, 'invalid_access_key'],
  forbidden: [105, 'function_access_restricted'],
  rate_limited: [104, 'usage_limit_reached'],
}

/** The services report client errors with status 200. Only conversions have no form. */
function toErrorResponse(error: RatesError, form?: Form) {
  const [code, type, info] = failureOf(error, form)
  const isMistake = error.code === 'no_data' || error.status === 400
  return {
    status: isMistake ? 200 : error.status,
    body: { success: false, error: { code, type, info } },
  }
}

function failureOf({ code, message, parameter = '' }: RatesError, form: Form | undefined): Failure {
  if (code === 'not_found' || code === 'method_not_allowed') return NO_FUNCTION
  if (code === 'no_data') return NO_RATES
  const access = ACCESS_ERRORS[code]
  if (access) return [...access, message]
  // The parameters of a table by the names that the operations use.
  const names: Partial<Record<string, string>> = form
    ? { base: form.base, from: form.base, to: form.list }
    : {}
  const name = names[parameter] ?? parameter
  const known = (code === 'missing_parameter' ? MISSING[name] : undefined) ?? ERRORS[name]
  return known ?? [NO_RATES[0], NO_RATES[1], message]
}
