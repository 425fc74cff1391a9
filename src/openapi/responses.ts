import type { Answer } from '../http/answer.ts'
import { describeHeaders } from './headers.ts'

/** An answer that the document shows. */
export interface Example {
  name: string
  answer: Answer
  /** What is shown of its record (default all). */
  shorten?: ((record: object) => object | undefined) | undefined
}

/** The schema of bodies by their media type. */
export type Schemas = Readonly<Record<string, object>>

const DESCRIPTIONS: Record<number, string> = {
  200: 'The record.',
  304: '`If-None-Match` named the `ETag` of the record, which is not sent again.',
  400: 'The question cannot be answered.',
  404: 'There is nothing.',
  405: 'Another method than `GET`, `HEAD` and `OPTIONS`.',
  412: '`If-Match` does not name the `ETag` of the record.',
  500: 'Anything unforeseen.',
  502: 'There are no usable data, and the provider failed.',
  503: 'There are too many expensive requests at once.',
}

/** The Response Objects of answers by their status, whose schemas `schemasOf` tells. */
export function describeResponses(
  examples: Example[],
  schemasOf: (status: number) => Schemas,
): Record<string, object> {
  const byStatus = Object.groupBy(examples, ({ answer }) => answer.status)
  const entries = Object.entries(byStatus).map(([status, alike = []]) => [
    status,
    describeResponse(Number(status), alike, schemasOf(Number(status))),
  ])
  return Object.fromEntries(entries)
}

/** The Response Object of answers with one status. */
export function describeResponse(status: number, alike: Example[], schemas: Schemas): object {
  const headers = describeHeaders(alike.map(({ answer }) => answer.headers))
  const described = { description: DESCRIPTIONS[status], headers }
  return status === 304 ? described : { ...described, content: describeContent(alike, schemas) }
}

function describeContent(alike: Example[], schemas: Schemas): Record<string, object> {
  const entries = Object.entries(schemas).map(([type, schema]) => {
    const ofType = alike.filter(({ answer }) => mediaTypeOf(answer) === type)
    return [type, { schema, examples: Object.fromEntries(ofType.flatMap(toExample)) }]
  })
  return Object.fromEntries(entries)
}

function toExample(example: Example): [name: string, example: object][] {
  const { name, answer, shorten = (record) => record } = example
  const body = String(answer.body)
  const isJson = mediaTypeOf(answer) === 'application/json'
  const value: unknown = isJson ? shorten(JSON.parse(body)) : body
  return value === undefined ? [] : [[name, { value }]]
}

function mediaTypeOf({ headers }: Answer): string | undefined {
  return headers.find(([name]) => name === 'content-type')?.[1].split(';', 1)[0]
}
