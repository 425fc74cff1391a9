import type { Endpoint } from '../../http/endpoint.ts'
import type { Memory } from '../../http/memory.ts'
import { createQueryParser } from '../../http/query.ts'
import type { RateSources } from '../../sources/sources.ts'
import { base, failures, format, symbols } from '../parameters.ts'
import { tableEndpoint } from '../table-endpoint.ts'
import type { AskedTable } from '../table-endpoint.ts'

const parse = createQueryParser({
  parameters: { base, symbols, format },
  failures,
  mistaken: { from: 'base' },
  toQuestion: (question) => ({ question, key: toKey(question) }),
  isRecurring: true,
})

/** `GET /api/v1/latest` */
export function latest(sources: RateSources, memory: Memory): Endpoint {
  return tableEndpoint(sources, memory, parse, (record) => record)
}

function toKey({
  base: from = 'USD',
  symbols: to = [],
  format: of = 'json',
}: AskedTable['question']): string {
  const codes = new Set(to.map((code) => code.toUpperCase()))
  return `latest ${of} ${from.toUpperCase()} ${[...codes].sort().join()}`
}
