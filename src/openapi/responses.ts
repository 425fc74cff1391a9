import type { Answer } from '../http/answer.ts'
import { describeHeaders } from './headers.ts'

/** An answer that the document shows. */
export interface Example {
  name: string
  answer: Answer
  /** What is shown of its record (default all). */
  shorten?: ((record: object) => object | undefined) | undefined
}

const DESCRIPTIONS: Record<number, string> = {
  200: 'The record.',
  304: '`If-None-Match` named the `ETag` of the record, which is not sent again.',
  400: 'The question cannot be answered.',
  404: 'There is nothing.',
  405: 'Another method than `GET`, `HEAD` and `OPTIONS`.',
  500: 'Anything unforeseen.',
  502: 'There are no usable data, and the provider failed.',
}

/** The Response Objects of answers, by status; `schemaOf` tells the schema of a status. */
export function describeResponses(
  examples: Example[],
  schemaOf: (status: number) => object,
): Record<string, object> {
  const byStatus = Object.groupBy(examples, ({ answer }) => answer.status)
  const entries = Object.entries(byStatus).map(([status, alike = []]) => [
    status,
    describeResponse(Number(status), alike, schemaOf(Number(status))),
  ])
  return Object.fromEntries(entries)
}

/** The Response Object of answers with one status. */
export function describeResponse(status: number, alike: Example[], schema: object): object {
  const described = {
    description: DESCRIPTIONS[status],
    headers: describeHeaders(alike.map(({ answer }) => answer.headers)),
  }
  if (status === 304) return described
  const examples = Object.fromEntries(alike.flatMap(toExample))
  return { ...described, content: { 'application/json': { schema, examples } } }
}

function toExample({ name, answer, shorten }: Example): [name: string, example: object][] {
  const record: object = JSON.parse(String(answer.body))
  const value = shorten ? shorten(record) : record
  return value ? [[name, { value }]] : []
}
