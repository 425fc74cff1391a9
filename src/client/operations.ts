import { onlyInQueries } from '../query-names.ts'
import type { RatesOperations } from '../api/operations.ts'
import type { Call, CallOptions } from './request.ts'

/** A field that identifies the body of each operation, also where the operation has several. */
const FIELDS: Record<keyof RatesOperations, (params: Params) => string> = {
  latest: () => 'rates',
  convert: ({ to }) => (Array.isArray(to) ? 'results' : 'result'),
  convertMany: () => 'length',
  history: ({ to }) => (Array.isArray(to) ? 'series' : 'points'),
  currencies: () => 'currencies',
  sources: () => 'sources',
  status: () => 'ready',
}

type Params = CallOptions & Readonly<Record<string, unknown>>

/** Creates the operations on top of `call`. The service refuses parameters that it does not have. */
export function createOperations(call: Call): RatesOperations<CallOptions> {
  const operation =
    (endpoint: keyof RatesOperations) =>
    async ({ signal, ...params }: Params = {}): Promise<unknown> =>
      call({ endpoint, query: toQuery(params), field: FIELDS[endpoint](params), signal })

  const operations: Record<keyof RatesOperations, (...given: never[]) => Promise<unknown>> = {
    latest: operation('latest'),
    convert: operation('convert'),
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
