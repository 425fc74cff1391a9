import { onlyInQueries } from '../query-names.ts'
import type { ManyConversions } from '../api/convert-many.ts'
import type { Quote } from '../api/convert.ts'
import type { RatesDay } from '../api/days.ts'
import type { ConversionRow, QuotedRow, QuoteParams, Targets } from '../api/parameter-types.ts'
import type { RatesOperations } from '../api/operations.ts'
import type { Call, CallOptions } from './request.ts'

/**
 * The operations of `/api/v1`, as those of `createRates`, and quotes. Each call resolves to a new object, and rejects with a
 * `RatesError` on failure or with the reason of `signal` after an abort.
 */
export interface RatesClient extends RatesOperations<CallOptions> {
  /** Converts an amount, or, with `quote`, at the rates of a quote. */
  convert: RatesOperations<CallOptions>['convert'] &
    (<const To extends Targets = Targets>(
      params: QuotedRow<To> & CallOptions,
    ) => Promise<Quote<To>>)
  /** Converts many amounts; a row may have a quote, at whose rates it is converted. */
  convertMany: RatesOperations<CallOptions>['convertMany'] &
    (<const Rows extends readonly (ConversionRow | QuotedRow)[]>(
      rows: Rows,
      options?: CallOptions,
    ) => Promise<ManyConversions<Rows>>)
  /**
   * Converts an amount at rates that hold until the quote expires; `GET /api/v1/quote`.
   *
   * @throws {RatesError} `not_found` if the service has no quotes
   * @example
   * ```ts
   * import { createRatesClient } from 'ratesmith/client'
   *
   * const client = createRatesClient({ baseUrl: 'https://app.example/api' })
   * const { result, quote } = await client.quote({ from: 'USD', to: 'EUR', amount: '99.90' })
   * const charged = await client.convert({ quote, from: 'USD', to: 'EUR', amount: '99.90' })
   * console.log(charged.result === result) // true
   * ```
   */
  quote<const To extends Targets>(params: QuoteParams<To> & CallOptions): Promise<Quote<To>>
}

/** A field that identifies the body of each operation, also where the operation has several. */
const FIELDS: Record<Exclude<keyof RatesClient, 'days'>, (params: Params) => string> = {
  latest: () => 'rates',
  convert: ({ to, quote }) => (quote ? 'quote' : Array.isArray(to) ? 'results' : 'result'),
  quote: () => 'quote',
  convertMany: () => 'length',
  history: ({ to }) => (Array.isArray(to) ? 'series' : 'points'),
  currencies: () => 'currencies',
  sources: () => 'sources',
  status: () => 'ready',
}

type Params = CallOptions & Readonly<Record<string, unknown>>

/** Creates the operations on top of `call`. The service refuses parameters that it does not have. */
export function createOperations(call: Call): RatesClient {
  const operation =
    (endpoint: keyof typeof FIELDS) =>
    async ({ signal, ...params }: Params = {}): Promise<unknown> =>
      call({ endpoint, query: toQuery(params), field: FIELDS[endpoint](params), signal })

  async function* days({ signal, ...params }: Params = {}): AsyncGenerator<RatesDay> {
    const { readDays } = await import('./days.ts')
    const query = toQuery(params)
    const read = ({ body }: Response) => readDays(body, signal)
    yield* await call({ endpoint: 'days', query, signal, field: 'next', read })
  }

  const operations: Record<keyof RatesClient, (...given: never[]) => unknown> = {
    latest: operation('latest'),
    convert: operation('convert'),
    quote: operation('quote'),
    convertMany: async (rows?: unknown, { signal, ...options }: Params = {}) => {
      const content = rows ?? null
      return call({
        endpoint: 'convert',
        query: toQuery(options),
        content,
        field: 'length',
        signal,
      })
    },
    history: operation('history'),
    days,
    currencies: operation('currencies'),
    sources: operation('sources'),
    status: operation('status'),
  }
  return Object(operations)
}

/** @throws {RatesError} `invalid_parameter` for a name that the service would ignore */
function toQuery(params: Readonly<Record<string, unknown>>): Record<string, string> {
  const query: Record<string, string> = {}
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue
    const error = onlyInQueries(name)
    if (error) throw error
    query[name] = LISTS.includes(name) ? toCodes(value) : toText(value)
    // Of one code, a comma makes a list of results.
    if (name === 'to' && Array.isArray(value) && value.length === 1) query[name] += ','
  }
  return query
}

/** Parameters whose text may be a list. */
const LISTS: readonly string[] = ['to', 'symbols']

/** A comma inside a code must not make a list. */
function toCodes(value: unknown): string {
  return Array.isArray(value) ? value.map(toCodes).join() : toText(value).replaceAll(',', ';')
}

function toText(value: unknown): string {
  return String(value)
}
