import type { RawResponse } from '../http/raw.ts'
import { describeHeaders } from './headers.ts'

/** An answer that the document shows. */
export interface Example {
  name: string
  answer: RawResponse
  /** What is shown of its record (default all). */
  shorten?: ((record: object) => object | undefined) | undefined
}

/** The schemas of bodies. */
export interface Schemas {
  json: object
  /** Of what is answered in place of JSON where the query asks for it. */
  csv?: object
}

const JSON_TYPE = 'application/json'
const CSV_TYPE = 'text/csv'

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
  const entries = Object.entries(byStatus).map(([status, examples = []]) => [
    status,
    describeResponse(Number(status), examples, schemasOf(Number(status))),
  ])
  return Object.fromEntries(entries)
}

/** The Response Object of answers with one status. */
export function describeResponse(status: number, examples: Example[], schemas: Schemas): object {
  const headers = describeHeaders(examples.map(({ answer }) => answer.headers))
  const description = DESCRIPTIONS[status]
  if (status === 304) return { description, headers }
  const content = { [JSON_TYPE]: mediaTypeObject(JSON_TYPE, examples, schemas.json) }
  if (!schemas.csv) return { description, headers, content }
  return {
    description: `${description} Where \`format\` is \`csv\`, \`${CSV_TYPE}\` as in \`x-csv\`.`,
    headers,
    content,
    'x-csv': mediaTypeObject(CSV_TYPE, examples, schemas.csv),
  }
}

function mediaTypeObject(type: string, examples: Example[], schema: object): object {
  const ofType = examples.filter(({ answer }) => mediaTypeOf(answer) === type)
  return { schema, examples: Object.fromEntries(ofType.flatMap(toExample)) }
}

function toExample(example: Example): [name: string, example: object][] {
  const { name, answer, shorten = (record) => record } = example
  const body = String(answer.body)
  const isJson = mediaTypeOf(answer) === JSON_TYPE
  const value: unknown = isJson ? shorten(JSON.parse(body)) : body
  return value === undefined ? [] : [[name, { value }]]
}

function mediaTypeOf({ headers }: RawResponse): string | undefined {
  return headers.find(([name]) => name === 'content-type')?.[1].split(';', 1)[0]
}
