import { schemaReference } from './components.ts'
import { errorSchemas, generationOf } from './error-responses.ts'
import type { Operation } from './operations.ts'
import { reference } from './reference.ts'
import { describeResponses } from './responses.ts'
import type { Example, Schemas } from './responses.ts'
import type { Samples } from './samples.ts'

/** Returns the Path Item Object of an operation, with examples from `samples`. */
export async function describePath(operation: Operation, samples: Samples): Promise<object> {
  const { path, operationId, tag, summary, description, parameters } = operation
  const generation = generationOf(path)
  const errors = await fetchErrorExamples(operation, samples)
  const schemasOf = (status: number): Schemas => {
    if (status < 400) return bodySchemas(operation)
    const ofStatus = errors.filter(({ response }) => response.status === status)
    const codes = ofStatus.map(({ name }) => name)
    return errorSchemas(generation, codes)
  }
  const examples = [...(await fetchExamples(operation, samples)), ...errors]
  const { status } = await samples.requestWithoutData(targetsOf(operation)[0] ?? path)
  const unavailable = { 502: reference('responses', `${generation}ProviderUnavailable`) }
  const responses = {
    ...describeResponses(examples, schemasOf),
    412: reference('responses', `${generation}PreconditionFailed`),
    500: reference('responses', `${generation}InternalError`),
    ...(status === 502 ? unavailable : {}),
    503: reference('responses', `${generation}Overloaded`),
  }
  const described = { operationId, summary, description, tags: [tag] }
  const references = parameters.map((name) => reference('parameters', name))
  return { get: { ...described, parameters: references, responses } }
}

function bodySchemas({ bodies, csv }: Operation): Schemas {
  const json = oneOf(bodies.map(schemaReference))
  return csv ? { json, csv: oneOf(csv) } : { json }
}

function oneOf(schemas: readonly object[]): object {
  const [only, ...others] = schemas
  return only && others.length === 0 ? only : { oneOf: schemas }
}

function targetsOf({ path, examples }: Operation): string[] {
  return Object.values(examples).map((query) => path + query)
}

/** Fetches the examples of 200, including that of a service without data, and of 304. */
async function fetchExamples(operation: Operation, samples: Samples): Promise<Example[]> {
  const { path, examples, shorten } = operation
  const successes = await Promise.all(
    Object.entries(examples).map(async ([name, query]) => {
      return { name, response: await samples.request(path + query), shorten }
    }),
  )
  const [target = path] = targetsOf(operation)
  const unchanged = await samples.request(target, { header: () => '*' })
  const cold = await samples.requestWithoutData(target)
  return [
    ...successes,
    ...(cold.status === 200 ? [{ name: 'withoutData', response: cold, shorten }] : []),
    ...(unchanged.status === 304 ? [{ name: 'unchanged', response: unchanged }] : []),
  ]
}

async function fetchErrorExamples(
  { path, errorExamples }: Operation,
  samples: Samples,
): Promise<Example[]> {
  return Promise.all(
    Object.entries(errorExamples).map(async ([name, query]) => {
      return { name, response: await samples.request(path + query) }
    }),
  )
}
