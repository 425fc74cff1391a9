import type { Endpoint } from '../../http/endpoint.ts'
import type { Memory } from '../../http/memory.ts'
import { createQueryParser } from '../../http/query.ts'
import { NOT_OF_WHOLE_TABLES } from '../../records/mistaken-names.ts'
import type { RateSources } from '../../sources/sources.ts'
import { base, failures, format } from '../parameters.ts'
import { tableEndpoint } from '../table-endpoint.ts'
import type { AskedTable } from '../table-endpoint.ts'
import { providerText } from './provider-text.ts'

const parse = createQueryParser({
  parameters: { base, format },
  failures,
  mistaken: NOT_OF_WHOLE_TABLES.advice,
  toQuestion: (question) => ({ question, key: toKey(question) }),
  isRecurring: true,
})

/** `GET /api/rates` */
export function rates(sources: RateSources, memory: Memory): Endpoint {
  return tableEndpoint({
    sources,
    memory,
    parse,
    toRecord: (latest) => ({
      base: latest.base,
      rates: latest.rates,
      updatedAt: latest.updatedAt,
      nextUpdateAt: latest.nextUpdateAt,
      provider: providerText(latest.source),
    }),
  })
}

function toKey({ base: from = 'USD', format: of = 'json' }: AskedTable['question']): string {
  return `rates ${of} ${from.toUpperCase()}`
}
