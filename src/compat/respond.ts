import {
  assertBasePath,
  assertKnownOptions,
  bodyHeaders,
  exactProduct,
  invalidAmount,
  providerUnavailable,
  runInSlices,
  toDay,
  withDays,
  writeDays,
  yieldToEventLoop,
} from '../core.ts'
import type { Day, DayTable, DaysParams, Route, RouteContext, RouteRequest } from '../core.ts'
import { RatesError } from '../index.ts'
import type { CurrencyCoverage, LatestRates } from '../index.ts'
import { publishedRates } from './published-rates.ts'
import type { PublishedRates } from './published-rates.ts'

/** Options of every service. */
export interface CompatOptions {
  /** Prefix of the service's paths: absolute, without a trailing slash (default none). */
  basePath?: string | undefined
}

export interface CompatRequest extends Pick<RouteRequest, 'params' | 'query'> {
  rates: PublishedRates
  /** The current day in UTC. */
  today: Day
  run: RouteContext['run']
}

/** Returns the response, or its body; throws a `RatesError`. */
type Respond = (request: CompatRequest) => Promise<object>

export type ServiceRoute = Pick<Route, 'path' | 'cost' | 'error'> & { respond: Respond }

/** @throws {TypeError} that names the invalid option */
export function requireBasePath(options: CompatOptions, more: object = {}): string {
  assertKnownOptions<object>(options, { basePath: true, ...more })
  const { basePath = '' } = options
  assertBasePath(basePath)
  if (/^[\w/.~-]*$/.test(basePath)) return basePath
  throw new TypeError(`basePath must have letters, digits and -._~ only, got ${basePath}`)
}

export function toRoutes(basePath: string, routes: readonly ServiceRoute[]): Route[] {
  return routes.map(({ path, respond, cost, error }) => {
    const get: Route['get'] = ({ params, query }, rates, { now, run }) =>
      respond({ params, query, rates: publishedRates(rates), today: toDay(now()), run })
    return { path: `${basePath}${path}`, get, cost, error }
  })
}

interface DaysResponse extends DaysParams {
  /** Returns what is before the days. */
  head(days: readonly Day[]): object
  /** Name of the field with the days. */
  name: string
  /** Text before each code. */
  prefix?: string | undefined
  toValue?: (rate: number) => number
  /** Whether each day has the base as 1. */
  hasBase?: boolean
}

/** @throws {RatesError} as `withDays` does */
export function respondWithDays(
  { rates, run }: CompatRequest,
  { head, name, prefix, toValue = (rate) => rate, hasBase = false, ...params }: DaysResponse,
): Promise<Response> {
  return withDays(rates, params, run, async (found) => {
    const table = hasBase ? withBase(found, params.base) : found
    const before = `${JSON.stringify(head(table.days)).slice(0, -1)},"${name}":`
    const work = writeDays(table, { before, after: '}', prefix, toValue })
    const headers = bodyHeaders({ lifetime: 'minute' })
    return new Response(await runInSlices(work, yieldToEventLoop), {
      headers: headers.map(([...header]) => header),
    })
  })
}

/** Adds a column of the base, after the others. */
export function withBase(table: DayTable, base: string): DayTable {
  const [first = new Float64Array()] = table.columns.values()
  const ones = new Float64Array(first.length).fill(1)
  return { ...table, columns: new Map([...table.columns, [base, ones]]) }
}

const RETRY_AFTER_SECONDS = 5

/** @throws {RatesError} `provider_unavailable` before the data are loaded */
export async function coveredCurrencies(
  rates: PublishedRates,
  data: 'latest' | 'history',
): Promise<CurrencyCoverage[]> {
  const { currencies } = await rates.currencies()
  if (currencies.every((currency) => currency[data] === null))
    throw providerUnavailable(RETRY_AFTER_SECONDS)
  return currencies.filter((currency) => currency[data])
}

export function namesByCode(currencies: readonly CurrencyCoverage[]): Record<string, string> {
  return Object.fromEntries(currencies.map(({ code, name }) => [code, name ?? code]))
}

/** Returns the rates of a table for `codes` (default all); like the services, omits unknown codes. */
export function ratesFor(
  { rates }: Pick<LatestRates, 'rates'>,
  codes: readonly string[] | undefined,
): [code: string, rate: number][] {
  return Object.entries(rates).filter(([code]) => codes?.includes(code) ?? true)
}

/** Returns the exact product. Throws `invalid_amount` if it is not finite. */
export function multiply(amount: number, rate: number): number {
  const product = amount === 1 ? rate : exactProduct(amount, rate)
  if (Number.isFinite(product)) return product
  throw invalidAmount(String(amount), 'the result is too large')
}

export function toSeconds(instant: number): number {
  return Math.floor(instant / 1_000)
}

/** Returns the result of `work`, or `undefined` for missing rates, as opposed to a code without any rates ever. */
export async function unlessNoData<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof RatesError && error.code === 'no_data') return undefined
    throw error
  }
}
