import type { RatesErrorCode } from '../../src/errors.ts'
import type { RawResponse } from '../../src/http/messages.ts'
import { schemaReference } from './components.ts'
import { errorBodySchema, unversionedError } from './error-schemas.ts'
import { describeResponse } from './responses.ts'
import type { Schemas } from './responses.ts'
import type { Samples } from './samples.ts'

/** The two error formats, as prefixes of component names. */
export type Generation = '' | 'Unversioned'

/** Returns the error format of the endpoint at `path`, which is relative to the base path. */
export function generationOf(path: string): Generation {
  return path.startsWith('/v1/') ? '' : 'Unversioned'
}

/** Returns the schemas of errors with one of `codes`; unversioned errors have no code. */
export function errorSchemas(generation: Generation, codes: string[]): Schemas {
  return { json: errorSchema(generation, codes) }
}

function errorSchema(generation: Generation, codes: string[]): object {
  if (generation === 'Unversioned') return schemaReference(unversionedError)
  const code = { type: 'string', enum: codes }
  // Lists every property, for validators that reject properties missing from a part of `allOf`.
  const error = {
    type: 'object',
    required: ['code', 'message'],
    properties: { code, message: true },
  }
  const narrowed = { type: 'object', required: ['error'], properties: { error } }
  return { allOf: [schemaReference(errorBodySchema), narrowed] }
}

/** Returns the Response Objects that operations share, by name. */
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
  const describe = (code: RatesErrorCode, response: RawResponse): object =>
    describeResponse(response.status, [{ name: code, response }], errorSchemas(generation, [code]))
  const fail = (): never => {
    throw new Error('header lookup failed')
  }
  // The handler refuses expensive requests of a disconnected client as overloaded.
  const expensive = `${path}?${'-'.repeat(1_000)}`
  const [unmatched, broken, cold, refused] = await Promise.all([
    samples.request(path, { header: () => '"another"' }),
    samples.request(path, { header: fail }),
    samples.requestWithoutData(path),
    samples.request(expensive, { signal: AbortSignal.abort() }),
  ])
  return {
    [`${generation}PreconditionFailed`]: describe('precondition_failed', unmatched),
    [`${generation}InternalError`]: describe('internal_error', broken),
    [`${generation}ProviderUnavailable`]: describe('provider_unavailable', cold),
    [`${generation}Overloaded`]: describe('overloaded', refused),
  }
}
