import { RatesError } from '../errors.ts'
import type { RatesErrorCode } from '../errors.ts'
import type { RatesHandler } from '../handler.ts'
import { STATUS } from '../http/respond.ts'
import { DISCLAIMER } from '../records/latest.ts'
import type { LatestRates } from '../records/latest.ts'
import { coveredCurrencies, namesByCode } from './currencies.ts'
import { isNoData, ratesAt, withDailyRates, writeByDay } from './days.ts'
import { createQueryReader, readAmount, readCode, readDay, readList } from './parameters.ts'
import { requireOptions } from './options.ts'
import type { CompatOptions } from './options.ts'
import { mountService } from './route.ts'
import type { CompatEndpoint, CompatRequest, CompatService, Refusal } from './route.ts'

export type { CompatOptions } from './options.ts'

/**
 * Serves the paths of Open Exchange Rates, `/api/….json` and `/api/convert/…`, and all others as `handler` does: latest rates
 * and conversions from the latest rates of `handler`, those of past days from its reference rates. `app_id` is not read.
 *
 * @throws {TypeError} naming the option or argument that cannot be used
 * @example
 * const handler = openExchangeRates(createRatesHandler())
 * await handler(new Request('http://localhost/api/latest.json?base=GBP&symbols=EUR'))
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
  refuse,
}

const readQuery = createQueryReader('base', 'symbols', 'start', 'end')

/** What a query says of a table. */
function readTable(query: string) {
  const { base = 'USD', symbols, start, end } = readQuery(query)
  return { base: readCode('base', base), symbols: readList('symbols', symbols), start, end }
}

async function table(query: string, read: (base: string) => Promise<LatestRates>): Promise<object> {
  const { base, symbols } = readTable(query)
  const record = await read(base)
  // The service leaves out codes that it does not know.
  const rates = Object.entries(record.rates).filter(([code]) => symbols?.includes(code) ?? true)
  return { ...terms(record), ...timed(record), base, rates: Object.fromEntries(rates) }
}

async function timeSeries(request: CompatRequest): Promise<object> {
  const { rates, today } = request
  const { base, symbols, ...sent } = readTable(request.query)
  const start = readDay('start', sent.start)
  const end = readDay('end', sent.end)
  if (start > end) throw new RatesError('invalid_parameter', 'start must not be after end')
  const window = { base, start, end: end < today ? end : today }
  const record = await rates.latest({ base, date: window.end })
  const own: [string, number][] = symbols?.includes(base) === false ? [] : [[base, 1]]
  const head = { ...terms(record), start_date: start, end_date: end, base }
  const codes = symbols?.filter((code) => code !== base)
  return withDailyRates(request, { ...window, codes }, (daily, pause) =>
    writeByDay(daily, pause, {
      head,
      name: 'rates',
      ratesOf: (row) => [...ratesAt(daily, row), ...own],
    }),
  ).catch((error: unknown) => {
    if (isNoData(error)) return { ...head, rates: {} }
    throw error
  })
}

async function convert(
  { rates }: CompatRequest,
  [sent = '', from = '', to = '']: readonly string[],
): Promise<object> {
  const asked = { amount: readAmount(sent), from: readCode('from', from), to: readCode('to', to) }
  const found = await rates.convert(asked)
  return {
    ...terms(found),
    request: { query: `/convert/${sent}/${from}/${to}`, ...asked },
    meta: { ...timed(found), rate: found.rate },
    response: found.result,
  }
}

function terms({ source }: Pick<LatestRates, 'source'>): object {
  return { disclaimer: DISCLAIMER, license: source.url }
}

function timed({ updatedAt }: { updatedAt: number }): object {
  return { timestamp: Math.floor(updatedAt / 1_000) }
}

/** Errors that have another name at the service. */
const NAMES: Partial<Record<RatesErrorCode, string>> = {
  unsupported_currency: 'invalid_currency',
  no_data: 'not_available',
}

/** The parameters that are days. */
const DAYS = ['date', 'start', 'end']

function refuse({ code, message: description, parameter = '' }: RatesError): Refusal {
  const status = code === 'no_data' ? 400 : STATUS[code]
  const isDay = code.endsWith('_parameter') && DAYS.includes(parameter)
  const named = isDay ? 'invalid_date' : (NAMES[code] ?? code)
  const message = parameter === 'base' ? 'invalid_base' : named
  return { status, body: { error: true, status, message, description } }
}
