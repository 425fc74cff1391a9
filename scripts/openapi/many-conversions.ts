import { TimeoutError } from '../../src/async.ts'
import type { RawRequest, RawResponse } from '../../src/http/messages.ts'
import type { Samples } from './examples.ts'
import type { HeaderTable } from './headers.ts'
import { describeResponses, errorSchemas } from './responses.ts'
import type { Example } from './responses.ts'
import { manyConversionsCsv } from './schemas.ts'
import { reference } from './type-schemas.ts'

const PATH = '/v1/convert'

const MAX_ROWS = 10_000

const ROWS = [
  { date: '2020-02-29', from: 'USD', to: 'EUR', amount: 100 },
  { from: 'USD', to: ['EUR', 'GBP'], amount: '12.50' },
  { from: 'USD', to: 'XYZ' },
]

const CSV = 'date,from,to,amount\r\n2020-02-29,USD,EUR,100\r\n,USD,XYZ,1\r\n'

const JSON_TYPE = 'application/json'

/** Returns the Operation Object of `POST /v1/convert`, with examples from `samples` and the responses `refusals`. */
export async function describeManyConversions(
  table: HeaderTable,
  samples: Samples,
  refusals: object,
): Promise<object> {
  const rows = {
    type: 'array',
    maxItems: MAX_ROWS,
    items: reference('schemas', 'ConversionRow'),
  }
  const results = ['Conversion', 'ConversionList', 'Error'].map((name) =>
    reference('schemas', name),
  )
  const json = { type: 'array', items: { oneOf: results } }
  const schemasOf = (status: number) =>
    status < 400 ? { json, csv: manyConversionsCsv } : errorSchemas('', ['invalid_parameter'])
  return {
    operationId: 'convertMany',
    summary: 'Convert many amounts at once',
    description:
      'Takes at most 10,000 conversions in a body of at most 1 MiB, in JSON or in CSV with the parameters as columns. The result of each row is that of the single request, or its error: an invalid row does not fail the others. The response has the format of the body, unless `format` says otherwise; in CSV, an empty cell is an absent parameter. Not cacheable.',
    tags: ['Rates'],
    parameters: [reference('parameters', 'format')],
    requestBody: {
      required: true,
      content: {
        [JSON_TYPE]: { schema: rows, examples: { rows: { value: ROWS } } },
        'text/csv': { schema: { type: 'string' }, examples: { csv: { value: CSV } } },
      },
    },
    responses: {
      ...describeResponses(table, await fetchExamples(samples), schemasOf),
      ...refusals,
      412: reference('responses', 'PreconditionFailed'),
      500: reference('responses', 'InternalError'),
      503: reference('responses', 'Overloaded'),
    },
  }
}

async function fetchExamples(samples: Samples): Promise<Example[]> {
  const post = (type: string, readBody: RawRequest['readBody'], query = ''): Promise<RawResponse> =>
    samples.request(`${PATH}${query}`, {
      method: 'POST',
      header: (name) => (name === 'content-type' ? type : null),
      readBody,
    })
  const sending =
    (text: string): RawRequest['readBody'] =>
    async (onChunk) =>
      onChunk(new TextEncoder().encode(text))
  const tooSlow = (): Promise<never> => Promise.reject(new TimeoutError('too slow'))
  const name = 'invalid_parameter'
  return Promise.all([
    post(JSON_TYPE, sending(JSON.stringify(ROWS))).then((response) => ({ name: 'rows', response })),
    post('text/csv', sending(CSV)).then((response) => ({ name: 'csv', response })),
    post(JSON_TYPE, sending('{}')).then((response) => ({ name, response })),
    post(JSON_TYPE, tooSlow).then((response) => ({ name, response })),
    post(JSON_TYPE, sending(' '.repeat(1_048_577))).then((response) => ({ name, response })),
    post('text/plain', sending('')).then((response) => ({ name, response })),
  ])
}
