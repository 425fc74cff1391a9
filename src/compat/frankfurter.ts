import { createTextReader, earlierDay } from '../core.ts'
import type { Day, Route } from '../core.ts'
import { RatesError } from '../index.ts'
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
  unlessNoData,
} from './respond.ts'
import type { CompatOptions, CompatRequest, ServiceRoute } from './respond.ts'

export type { CompatOptions } from './respond.ts'

/** Options of `frankfurter()`. */
export interface FrankfurterCompatOptions extends CompatOptions {
  /**
   * Also serves the paths without `/v1`, like api.frankfurter.app and api.ratesapi.io: `/latest`, `/currencies`,
   * `/2026-04-01`, `/2026-04-01..`, and `/history` with `start_at` (default true).
   */
  unprefixed?: boolean | undefined
}

/**
 * Returns routes with the paths of Frankfurter's first version, for reference rates. Rates against a base other than the euro
 * have 10 significant digits.
 *
 * @throws {TypeError} naming the invalid option
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { frankfurter } from 'ratesmith/compat/frankfurter'
 *
 * const handler = createRatesHandler({ routes: [frankfurter()] })
 * await handler(new Request('http://localhost/v1/latest?base=USD&symbols=EUR'))
 * ```
 */
export function frankfurter(options: FrankfurterCompatOptions = {}): Route[] {
  const basePath = requireBasePath(options, { unprefixed: true })
  const { unprefixed = true } = options
  if (typeof unprefixed !== 'boolean') {
    throw new TypeError(`unprefixed must be true or false, got ${String(unprefixed)}`)
  }
  const routes = [...routesBelow('/v1'), ...(unprefixed ? [...routesBelow(''), HISTORY] : [])]
  return toRoutes(
    basePath,
    routes.map((route) => ({ ...route, error: toErrorResponse })),
  )
}

const [START, END] = ['start', 'end'].map((name) => `(?<${name}>[0-9]{4}-[0-9]{2}-[0-9]{2})`)

function routesBelow(prefix: string): ServiceRoute[] {
  return [
    { path: `${prefix}/latest`, respond: (request) => ratesOfDay(request, request.today) },
    { path: `${prefix}/current`, respond: (request) => ratesOfDay(request, request.today) },
    {
      path: `${prefix}/currencies`,
      respond: async ({ rates }) => namesByCode(await coveredCurrencies(rates, 'history')),
    },
    {
      path: `${prefix}/${START}`,
      respond(request) {
        const { start } = request.params
        return ratesOfDay(request, readDay('date', start))
      },
    },
    {
      path: `${prefix}/${START}..${END}?`,
      cost: ({ params: { start, end }, query: { to, symbols } }, now) =>
        costOfRange(to ?? symbols, start, end ?? now),
      respond(request) {
        const { start, end } = request.params
        const last = end === undefined ? request.today : readDay('date', end)
        return ratesOfRange(request, { start: readDay('date', start), end: last })
      },
    },
  ]
}

const readQuery = createTextReader(['from', 'base', 'to', 'symbols', 'amount'])
const readNamedRange = createTextReader(['start_at', 'end_at'])

/** The range of api.ratesapi.io. */
const HISTORY: ServiceRoute = {
  path: '/history',
  cost: ({ query: { to, symbols, start_at, end_at } }, now) =>
    costOfRange(to ?? symbols, start_at, end_at ?? now),
  respond(request) {
    const { start_at, end_at } = readNamedRange(request.query)
    const start = readDay('start_at', start_at)
    const end = end_at === undefined ? request.today : readDay('end_at', end_at)
    return ratesOfRange(request, { start, end, more: { start_at: start, end_at: end } })
  },
}

function readParameters(query: CompatRequest['query']) {
  const { from, base, to, symbols, amount: sent } = readQuery(query)
  const sentBase = from ?? base
  const code = readCode('base', sentBase ?? 'EUR')
  const codes = readList('symbols', to ?? symbols)
  if (sentBase !== undefined && codes?.join() === code) {
    throw new RatesError('invalid_parameter', 'bad currency pair')
  }
  const amount = readAmount(sent)
  if (amount === 0) throw new RatesError('invalid_amount', 'Invalid amount: 0')
  return { amount, base: code, codes }
}

function notFound(): RatesError {
  return new RatesError('no_data', 'not found')
}

/** Returns the sorted `codes` without the base. Throws if none are left, like the service. */
function requireOthers(codes: readonly string[], base: string): string[] {
  const others = codes.filter((code) => code !== base)
  if (others.length === 0) throw notFound()
  return others.sort()
}

async function ratesOfDay({ rates, query, today }: CompatRequest, day: Day): Promise<object> {
  const { amount, base, codes: requested } = readParameters(query)
  const table = await rates.latest({ base, date: earlierDay(day, today) })
  const found = ratesFor(table, requested).map(([code]) => code)
  const codes = requireOthers(found, base)
  const amounts = codes.map((code) => [code, multiply(amount, table.rates[code] ?? NaN)])
  return { amount, base, date: table.date, rates: Object.fromEntries(amounts) }
}

async function ratesOfRange(
  request: CompatRequest,
  { start, end, more }: { start: Day; end: Day; more?: object },
): Promise<Response> {
  const { rates, query, today } = request
  const { amount, base, codes: requested } = readParameters(query)
  const last = earlierDay(end, today)
  requireRangeAmount(amount, workOfRange(requested?.join(), start, last))
  if (start > last) throw notFound()
  // Starts at the last published day up to `start`, like the service.
  const first = (await unlessNoData(rates.latest({ base, date: start })))?.date ?? start
  return respondWithDays(request, {
    base,
    codes: requested && requireOthers(requested, base),
    start: first,
    end: last,
    head: (days) => ({ amount, base, start_date: days.at(0), end_date: days.at(-1), ...more }),
    name: 'rates',
    toValue: (rate) => multiply(amount, rate),
  })
}

const NO_RATES = ['no_data', 'invalid_currency', 'unsupported_currency']

function toErrorResponse({ code, message, status }: RatesError) {
  if (NO_RATES.includes(code)) return { status: 404, body: { message: 'not found' } }
  if (status === 404) return { status, body: { status, message: 'not found' } }
  return { status: status === 400 ? 422 : status, body: { message } }
}
