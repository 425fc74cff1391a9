import type { RatesErrorCode } from '../errors.ts'
import type { RawResponse } from '../http/raw.ts'
import { schemaReference } from './components.ts'
import { errorRecord, unversionedError } from './error-records.ts'
import { describeResponse } from './responses.ts'
import type { Schemas } from './responses.ts'
import type { Samples } from './samples.ts'

/** The two forms of errors, as they stand in the names of components. */
export type Generation = '' | 'Unversioned'

/** Which form of errors the endpoint at `path`, below the base path, has. */
export function generationOf(path: string): Generation {
  return path.startsWith('/v1/') ? '' : 'Unversioned'
}

/** The schemas of errors that have one of `codes`; unversioned ones tell no code. */
export function errorSchemas(generation: Generation, codes: string[]): Schemas {
  return { json: errorSchema(generation, codes) }
}

function errorSchema(generation: Generation, codes: string[]): object {
  if (generation === 'Unversioned') return schemaReference(unversionedError)
  const code = { type: 'string', enum: codes }
  // All that the record has, for validators that refuse what neither part of `allOf` names.
  const error = {
    type: 'object',
    required: ['code', 'message'],
    properties: { code, message: true },
  }
  const narrowed = { type: 'object', required: ['error'], properties: { error } }
  return { allOf: [schemaReference(errorRecord), narrowed] }
}

/** The Response Objects that operations share, by their names. */
export async function errorResponses(samples: Samples): Promise<Record<string, object>> {
  return {
    ...(await responsesOf('', '/v1/latest', samples)),
    ...(await responsesOf('Unversioned', '/rates', samples)),
  }
}

async function responsesOf(
  generation: Generation,
  path: string,
  samples: Samples,
): Promise<Record<string, object>> {
  const response = (code: RatesErrorCode, answer: RawResponse): object =>
    describeResponse(answer.status, [{ name: code, answer }], errorSchemas(generation, [code]))
  const fail = (): never => {
    throw new Error('a defect')
  }
  // For a request whose client has left, nothing expensive is computed.
  const expensive = `${path}?${'-'.repeat(1_000)}`
  const [unmatched, broken, cold, refused] = await Promise.all([
    samples.ask(path, { header: () => '"another"' }),
    samples.ask(path, { header: fail }),
    samples.askWithoutData(path),
    samples.ask(expensive, { signal: AbortSignal.abort() }),
  ])
  return {
    [`${generation}PreconditionFailed`]: response('precondition_failed', unmatched),
    [`${generation}InternalError`]: response('internal_error', broken),
    [`${generation}ProviderUnavailable`]: response('provider_unavailable', cold),
    [`${generation}Overloaded`]: response('overloaded', refused),
  }
}
