import { RatesError } from '../errors.ts'
import type { RatesHandler } from '../handler.ts'
import type { Day } from '../rates/dates.ts'
import { publishedOn, representByDay } from './days.ts'
import { createQueryReader, readAmount, readCode, readDay, readList } from './parameters.ts'
import { mountService, requireOptions } from './route.ts'
import type {
  CompatEndpoint,
  CompatOptions,
  CompatRequest,
  CompatService,
  ErrorResponse,
} from './route.ts'
import { coveredCurrencies, earlier, multiply, namesByCode, notFound, ratesFor } from './tables.ts'

export type { CompatOptions } from './route.ts'

/** Options of `frankfurter()`. */
export interface FrankfurterCompatOptions extends CompatOptions {
  /**
   * Also serves the paths without `/v1`, like api.frankfurter.app and api.ratesapi.io: `/latest`, `/currencies`,
   * `/2026-04-01`, `/2026-04-01..`, and `/history` with `start_at` (default true).
   */
  unprefixed?: boolean | undefined
}

const DAY = String.raw`(\d{4}-\d\d-\d\d)`
const PATH = new RegExp(`^/(?:(latest|current)|(currencies)|${DAY}|${DAY}\\.\\.${DAY}?)$`)

/**
 * Serves the paths of Frankfurter's first version from the reference rates of `handler`; `handler` serves all other paths.
 * Rates against a base other than the euro have 10 significant digits.
 *
 * @throws {TypeError} naming the invalid option or argument
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { frankfurter } from 'ratesmith/compat/frankfurter'
 *
 * const handler = frankfurter(createRatesHandler())
 * await handler(new Request('http://localhost/v1/latest?base=USD&symbols=EUR'))
 * ```
 */
export function frankfurter(
  handler: RatesHandler,
  options: FrankfurterCompatOptions = {},
): RatesHandler {
  const { unprefixed = true } = requireOptions(options, { unprefixed: true })
  if (typeof unprefixed !== 'boolean') {
    throw new TypeError(`unprefixed must be true or false, got ${String(unprefixed)}`)
  }
  const service: CompatService = {
    name: 'frankfurter',
    find(path, query) {
      const isBelow = path === '/v1' || path.startsWith('/v1/')
      if (isBelow) return endpointAt(path.slice('/v1'.length)) ?? null
      if (!unprefixed) return undefined
      // Without `start_at`, the path may be a page of the app.
      return path === '/history' && query.includes('start_at=') ? namedRange : endpointAt(path)
    },
    toErrorResponse,
  }
  return mountService(handler, service, options)
}

function endpointAt(path: string): CompatEndpoint | undefined {
  const [, latest, currencies, day, start, end] = PATH.exec(path) ?? []
  if (latest) return (request) => ratesOfDay(request, request.today)
  if (currencies) return async ({ rates }) => namesByCode(await coveredCurrencies(rates, 'history'))
  if (day) return (request) => ratesOfDay(request, readDay('date', day))
  if (!start) return undefined
  return (request) => {
    const last = end === undefined ? request.today : readDay('date', end)
    return ratesOfRange(request, { start: readDay('date', start), end: last })
  }
}

const readQuery = createQueryReader('from', 'base', 'to', 'symbols', 'amount')
const readNamedRange = createQueryReader('start_at', 'end_at')

function readParameters(query: string) {
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

/** Returns the sorted `codes` without the base. Throws if none are left, like the service. */
function requireOthers(codes: readonly string[], base: string): string[] {
  const others = codes.filter((code) => code !== base)
  if (others.length === 0) throw notFound()
  return others.sort()
}

async function ratesOfDay({ rates, query, today }: CompatRequest, day: Day): Promise<object> {
  const { amount, base, codes: requested } = readParameters(query)
  const table = await rates.latest({ base, date: earlier(day, today) })
  const found = ratesFor(table, requested).map(([code]) => code)
  const codes = requireOthers(found, base)
  const amounts = codes.map((code) => [code, multiply(amount, table.rates[code] ?? NaN)])
  return { amount, base, date: table.date, rates: Object.fromEntries(amounts) }
}

async function ratesOfRange(
  request: CompatRequest,
  { start, end, more }: { start: Day; end: Day; more?: object },
): Promise<object> {
  const { rates, query, today } = request
  const { amount, base, codes: requested } = readParameters(query)
  const last = earlier(end, today)
  if (start > last) throw notFound()
  const first = await publishedOn(rates, base, start)
  const codes = requested && requireOthers(requested, base)
  return representByDay(request, {
    base,
    codes,
    start: first,
    end: last,
    head({ days }) {
      const ends = { start_date: days.at(0), end_date: days.at(-1) }
      return { amount, base, ...ends, ...more }
    },
    name: 'rates',
    toRated: (found) => found.map(([code, rate]) => [code, multiply(amount, rate)]),
  })
}

/** Serves `/history?start_at=…&end_at=…` of api.ratesapi.io. */
async function namedRange(request: CompatRequest): Promise<object> {
  const { start_at, end_at } = readNamedRange(request.query)
  const start = readDay('start_at', start_at)
  const end = end_at === undefined ? request.today : readDay('end_at', end_at)
  return ratesOfRange(request, { start, end, more: { start_at: start, end_at: end } })
}

const NO_RATES = ['no_data', 'invalid_currency', 'unsupported_currency']

function toErrorResponse({ code, message, status }: RatesError): ErrorResponse {
  if (NO_RATES.includes(code)) return { status: 404, body: { message: 'not found' } }
  if (status === 404) return { status, body: { status, message: 'not found' } }
  return { status: status === 400 ? 422 : status, body: { message } }
}
