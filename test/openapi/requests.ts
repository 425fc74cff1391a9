import * as fc from 'fast-check'

import { textFaultsOf } from './document.ts'
import type { Operation, Parameter } from './document.ts'
import { acceptedTexts, days } from './texts.ts'

/** Values of parameters by their names. */
export type Query = Record<string, string>

/** The codes that an operation covers. */
export interface Covered {
  /** Where it is not asked for a day. */
  now: readonly string[]
  /** Where it is. */
  onDays: readonly string[]
}

/** The first day of the reference rates, and the newest of those that the handler has. */
const FIRST_DAY = '1999-01-04'
const LAST_DAY = '2026-11-20'

/** Between days that are further apart something is published. */
const LONGEST_PAUSE_MS = 10 * 86_400_000

/** What follows the path; empty without a query. */
export function toSearch(query: Query): string {
  const search = new URLSearchParams(query).toString()
  return search === '' ? '' : `?${search}`
}

/** Queries whose every value the document allows, whether there is such a currency or not. */
export function allowedQueries(operation: Operation, { now }: Covered): fc.Arbitrary<Query> {
  return queries(operation, (parameter) =>
    fc.oneof(acceptedTexts(parameter.schema), answerable(parameter, now)),
  )
}

/** Queries that can be answered with rates, as all codes of `covered` are. */
export function answerableQueries(operation: Operation, covered: Covered): fc.Arbitrary<Query> {
  const undated = operation.parameters.filter(({ name }) => name !== 'date')
  const ofNow = queries({ parameters: undated }, (parameter) => answerable(parameter, covered.now))
  if (undated.length === operation.parameters.length) return ofNow.map(withoutContradiction)
  const ofDays = queries(operation, (parameter) => answerable(parameter, covered.onDays), ['date'])
  return fc.oneof(ofNow, ofDays)
}

function queries(
  { parameters }: Pick<Operation, 'parameters'>,
  textsOf: (parameter: Parameter) => fc.Arbitrary<string>,
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
  const list = fc.array(code, { maxLength: 10 }).map((each) => each.join(', '))
  if (name === 'symbols') return list
  if (name === 'amount') return fc.double({ min: 0, max: 1e15, noNaN: true }).map(String)
  if (schema.format === 'date') return days(FIRST_DAY, LAST_DAY)
  if (textFaultsOf(schema, 'EUR') !== '') return acceptedTexts(schema)
  if (textFaultsOf(schema, 'EUR,GBP') !== '') return code
  const several = fc.tuple(code, list).map((each) => each.join())
  return fc.oneof(code, several)
}

/** A query as one question of history, and of a range in which something is published. */
function withoutContradiction({ period, start, end, ...others }: Query): Query {
  if (start === undefined) return period === undefined ? others : { ...others, period }
  const until = end ?? LAST_DAY
  const [first, last] = start < until ? [start, until] : [until, start]
  const isLong = Date.parse(last) - Date.parse(first) > LONGEST_PAUSE_MS
  const ended = end === undefined ? {} : { end: last }
  return { ...others, start: isLong ? first : FIRST_DAY, ...ended }
}

/** The day after the one on which the handlers of the tests are. */
const TOMORROW = '2026-11-21'

/** The status and the code of what answers `query`, every value of which the document allows. */
export function expectedOutcome({ path }: Operation, query: Query): RegExp {
  const refusal = contradictionIn(query)
  const isOfDays = query['date'] !== undefined || query['start'] !== undefined
  const isOfReferenceRates = isOfDays || path === '/v1/history'
  // Without an exponent, no 64 digits are beyond the doubles.
  const mayBeTooLarge = /e/i.test(query['amount'] ?? '')
  const answers = [
    '200',
    isOfReferenceRates ? '400 unsupported_currency' : '400 invalid_currency',
    ...(isOfDays ? ['404 no_data'] : []),
  ]
  const outcomes = refusal === undefined ? answers : [`400 ${refusal}`]
  if (mayBeTooLarge) outcomes.push('400 invalid_amount')
  return new RegExp(`^(${outcomes.join('|')})$`)
}

/** The error of parameters that each are as they should be, where no schema tells it. */
function contradictionIn({ date, period, start, end }: Query): string | undefined {
  if (date !== undefined && date > TOMORROW) return 'invalid_parameter'
  if (start === undefined && end === undefined) return undefined
  if (period !== undefined) return 'invalid_parameter'
  if (start === undefined) return 'missing_parameter'
  return end !== undefined && start > end ? 'invalid_parameter' : undefined
}
