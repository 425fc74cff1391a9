import { schemaReference } from './components.ts'
import { errorSchemas, generationOf } from './error-responses.ts'
import type { Operation } from './operations.ts'
import { reference } from './reference.ts'
import { describeResponses } from './responses.ts'
import type { Example, Schemas } from './responses.ts'
import type { Samples } from './samples.ts'

/** The Path Item Object of an operation, with answers out of `samples`. */
export async function describePath(operation: Operation, samples: Samples): Promise<object> {
  const { path, operationId, tag, summary, description, parameters } = operation
  const generation = generationOf(path)
  const refusals = await fetchErrorExamples(operation, samples)
  const schemasOf = (status: number): Schemas => {
    if (status < 400) return recordSchemas(operation)
    const alike = refusals.filter(({ answer }) => answer.status === status)
    const codes = alike.map(({ name }) => name)
    return errorSchemas(generation, codes)
  }
  const examples = [...(await fetchExamples(operation, samples)), ...refusals]
  const { status } = await samples.askWithoutData(targetsOf(operation)[0] ?? path)
  const unavailable = { 502: reference('responses', `${generation}ProviderUnavailable`) }
  const responses = {
    ...describeResponses(examples, schemasOf),
    412: reference('responses', `${generation}PreconditionFailed`),
    500: reference('responses', `${generation}InternalError`),
    ...(status === 502 ? unavailable : {}),
    503: reference('responses', `${generation}Overloaded`),
  }
  const described = { operationId, summary, description, tags: [tag] }
  const asked = parameters.map((name) => reference('parameters', name))
  return { get: { ...described, parameters: asked, responses } }
}

function recordSchemas({ bodies: records, csv }: Operation): Schemas {
  const json = oneOf(records.map(schemaReference))
  return csv ? { json, csv: oneOf(csv) } : { json }
}

/** What has exactly one of `schemas`. */
function oneOf(schemas: readonly object[]): object {
  const [only, ...others] = schemas
  return only && others.length === 0 ? only : { oneOf: schemas }
}

function targetsOf({ path, examples: questions }: Operation): string[] {
  return Object.values(questions).map((query) => path + query)
}

/** Records, also those that are told without data, and what is told instead of one that is known already. */
async function fetchExamples(operation: Operation, samples: Samples): Promise<Example[]> {
  const { path, examples: questions, shorten } = operation
  const records = await Promise.all(
    Object.entries(questions).map(async ([name, query]) => {
      return { name, answer: await samples.ask(path + query), shorten }
    }),
  )
  const [target = path] = targetsOf(operation)
  const known = await samples.ask(target, { header: () => '*' })
  const cold = await samples.askWithoutData(target)
  return [
    ...records,
    ...(cold.status === 200 ? [{ name: 'withoutData', answer: cold, shorten }] : []),
    ...(known.status === 304 ? [{ name: 'known', answer: known }] : []),
  ]
}

async function fetchErrorExamples(
  { path, errorExamples: refusals }: Operation,
  samples: Samples,
): Promise<Example[]> {
  return Promise.all(
    Object.entries(refusals).map(async ([name, query]) => {
      return { name, answer: await samples.ask(path + query) }
    }),
  )
}
