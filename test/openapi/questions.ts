import * as fc from 'fast-check'

import { faultsOf } from './document.ts'
import type { Operation, Parameter } from './document.ts'
import { acceptedTexts, nearTexts } from './texts.ts'

/** Values of parameters by their names. */
export type Query = Record<string, string>

/** The texts of a parameter. */
type Texts = (parameter: Parameter) => fc.Arbitrary<string>

/** What follows the path; empty without a query. */
export function toSearch(query: Query): string {
  const search = new URLSearchParams(query).toString()
  return search === '' ? '' : `?${search}`
}

/** Queries whose every value the document allows, whether there is such a currency or not. */
export function allowedQueries(
  operation: Operation,
  codes: readonly string[],
): fc.Arbitrary<Query> {
  return queries(operation, (parameter) =>
    fc.oneof(acceptedTexts(parameter.schema), answerable(parameter, codes)),
  )
}

/** Queries that can be answered with rates, as all of `codes` are covered. */
export function answerableQueries(
  operation: Operation,
  codes: readonly string[],
): fc.Arbitrary<Query> {
  return queries(operation, (parameter) => answerable(parameter, codes))
}

/** Queries in which the value of `wrong` is not as the document has it, and all others could be answered. */
export function refusedQueries(
  operation: Operation,
  wrong: string,
  codes: readonly string[],
): fc.Arbitrary<Query> {
  const isRefused = ({ schema }: Parameter, text: string): boolean => faultsOf(schema, text) !== ''
  const refused = (parameter: Parameter): fc.Arbitrary<string> =>
    nearTexts(parameter.schema).filter((text) => isRefused(parameter, text))
  return queries(
    operation,
    (parameter) => (parameter.name === wrong ? refused(parameter) : answerable(parameter, codes)),
    [wrong],
  )
}

function queries(
  { parameters }: Operation,
  textsOf: Texts,
  asked: string[] = [],
): fc.Arbitrary<Query> {
  const texts = parameters.map((parameter) => [parameter.name, textsOf(parameter)])
  const required = parameters.filter(({ required }) => required).map(({ name }) => name)
  return fc.record<Query>(Object.fromEntries(texts), { requiredKeys: [...required, ...asked] })
}

function answerable({ name, schema }: Parameter, codes: readonly string[]): fc.Arbitrary<string> {
  const code = fc
    .tuple(fc.constantFrom(...codes), fc.boolean())
    .map(([each, isLow]) => (isLow ? each.toLowerCase() : each))
  if (name === 'symbols') return fc.array(code, { maxLength: 10 }).map((list) => list.join(', '))
  if (name === 'amount') return fc.double({ min: 0, max: 1e15, noNaN: true }).map(String)
  return faultsOf(schema, 'EUR') === '' ? code : acceptedTexts(schema)
}
