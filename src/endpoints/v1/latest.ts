import type { Endpoint } from '../../http/endpoint.ts'
import type { Memories } from '../../http/memory.ts'
import { createQueryParser } from '../../http/query.ts'
import { NOT_OF_TABLES } from '../../records/mistaken-names.ts'
import type { RateSources } from '../../sources/sources.ts'
import { base, date, failures, format, symbols } from '../parameters.ts'
import { tableEndpoint } from '../table-endpoint.ts'
import type { AskedTable } from '../table-endpoint.ts'

const parse = createQueryParser({
  parameters: { base, symbols, date, format },
  failures,
  mistaken: NOT_OF_TABLES.advice,
  toQuestion: ({ date: on, ...question }) => ({ question, key: toKey(question, on), date: on }),
  isRecurring: true,
})

/** `GET /api/v1/latest` */
export function latest(
  sources: RateSources,
  { latest: memory, dated }: Memories,
  now: () => number,
): Endpoint {
  return tableEndpoint({
    sources,
    memory,
    parse,
    toRecord: (record) => record,
    async answerDated(asked, waiter) {
      const { answerDated } = await import('./dated-latest.ts')
      return answerDated({ sources, memory: dated, now }, asked, waiter)
    },
  })
}

function toKey(
  { base: from = 'USD', symbols: to = [], format: of = 'json' }: AskedTable['question'],
  on: string | undefined,
): string {
  const codes = new Set(to.map((code) => code.toUpperCase()))
  return `latest ${of} ${from.toUpperCase()} ${[...codes].sort().join()} ${on ?? ''}`
}
