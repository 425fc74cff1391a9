import type { Endpoint } from '../../http/endpoint.ts'
import { createQueryParser } from '../../http/query.ts'
import type { ResponseCaches } from '../../http/response-cache.ts'
import { MISTAKEN_TABLE_NAMES } from '../../records/mistaken-names.ts'
import type { RateSources } from '../../sources/rate-sources.ts'
import { base, date, failures, format, symbols } from '../parameters.ts'
import { tableEndpoint } from '../table-endpoint.ts'
import type { ParsedTableQuery } from '../table-endpoint.ts'

const parse = createQueryParser({
  parameters: { base, symbols, date, format },
  failures,
  mistaken: MISTAKEN_TABLE_NAMES.advice,
  toParams: ({ date: on, ...params }) => ({ params, key: toKey(params, on), date: on }),
  isRecurring: true,
})

/** Creates `GET /api/v1/latest`. */
export function latest(
  sources: RateSources,
  { latest: responseCache, dated }: ResponseCaches,
  now: () => number,
): Endpoint {
  return tableEndpoint({
    sources,
    responseCache,
    parse,
    toBody: (record) => record,
    async respondDated(query, request) {
      const { respondDated } = await import('./dated-latest.ts')
      return respondDated({ sources, responseCache: dated, now }, query, request)
    },
  })
}

function toKey(
  { base: from = 'USD', symbols: to = [], format: of = 'json' }: ParsedTableQuery['params'],
  on: string | undefined,
): string {
  const codes = new Set(to.map((code) => code.toUpperCase()))
  return `latest ${of} ${from.toUpperCase()} ${[...codes].sort().join()} ${on ?? ''}`
}
