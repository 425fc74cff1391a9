import type { Endpoint } from '../../http/endpoint.ts'
import { createQueryParser } from '../../http/query.ts'
import type { ResponseCache } from '../../http/response-cache.ts'
import { MISTAKEN_WHOLE_TABLE_NAMES } from '../../records/mistaken-names.ts'
import type { RateSources } from '../../sources/rate-sources.ts'
import { base, failures, format } from '../parameters.ts'
import { tableEndpoint } from '../table-endpoint.ts'
import type { ParsedTableQuery } from '../table-endpoint.ts'
import { providerText } from './provider-text.ts'

const parse = createQueryParser({
  parameters: { base, format },
  failures,
  mistaken: MISTAKEN_WHOLE_TABLE_NAMES.advice,
  toParams: (params) => ({ params, key: toKey(params) }),
  isRecurring: true,
})

/** Creates `GET /api/rates`. */
export function rates(sources: RateSources, responseCache: ResponseCache): Endpoint {
  return tableEndpoint({
    sources,
    responseCache,
    parse,
    toBody: (latest) => ({
      base: latest.base,
      rates: latest.rates,
      updatedAt: latest.updatedAt,
      nextUpdateAt: latest.nextUpdateAt,
      provider: providerText(latest.source),
    }),
  })
}

function toKey({ base: from = 'USD', format: of = 'json' }: ParsedTableQuery['params']): string {
  return `rates ${of} ${from.toUpperCase()}`
}
