import type { Endpoint } from '../../http/endpoint.ts'
import type { Memory } from '../../http/memory.ts'
import { createQueryParser } from '../../http/query.ts'
import type { RateSources } from '../../sources/sources.ts'
import { base, failures } from '../parameters.ts'
import { tableEndpoint } from '../table-endpoint.ts'
import { providerText } from './provider-text.ts'

const parse = createQueryParser({
  parameters: { base },
  failures,
  mistaken: { from: 'base' },
  toQuestion: (question) => ({ question, key: `rates ${(question.base ?? 'USD').toUpperCase()}` }),
  isRecurring: true,
})

/** `GET /api/rates` */
export function rates(sources: RateSources, memory: Memory): Endpoint {
  return tableEndpoint(sources, memory, parse, (latest) => ({
    base: latest.base,
    rates: latest.rates,
    updatedAt: latest.updatedAt,
    nextUpdateAt: latest.nextUpdateAt,
    provider: providerText(latest.source),
  }))
}
