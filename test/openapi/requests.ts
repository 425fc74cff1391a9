import * as fc from 'fast-check'

import { textFaultsOf } from './document.ts'
import type { Operation, Parameter } from './document.ts'
import { acceptedTexts, days } from './texts.ts'

/** Values of parameters by name. */
export type Query = Record<string, string>

/** Codes that an operation covers. */
export interface Covered {
  /** Without a date. */
  now: readonly string[]
  /** With a date. */
  onDays: readonly string[]
}

/** Paths of operations that always have a range of days. */
export const RANGES: ReadonlySet<string> = new Set(['/v1/history', '/v1/days'])

/** First and newest day of the handler's reference rates. */
const FIRST_DAY = '1999-01-04'
const LAST_DAY = '2026-11-20'

/** Longer than any gap between published days. */
const MAX_GAP_DAYS = 10
const MAX_GAP_MS = MAX_GAP_DAYS * 86_400_000

/** Returns the query with a leading question mark, or an empty string. */
export function toSearch(query: Query): string {
  const search = new URLSearchParams(query).toString()
  return search === '' ? '' : `?${search}`
}

/** Queries with values that the document allows, including unknown currencies. */
export function allowedQueries(operation: Operation, { now }: Covered): fc.Arbitrary<Query> {
  return queries(operation, (parameter) =>
    fc.oneof(acceptedTexts(parameter.schema), answerable(parameter, now)),
  )
}

/** Queries with covered codes, which return rates. */
export function answerableQueries(operation: Operation, covered: Covered): fc.Arbitrary<Query> {
  const isRange = RANGES.has(operation.path)
  const isQuotable = operation.parameters.some(({ name }) => name === 'quote')
  const answered = operation.parameters.filter(
    ({ name }) => !/^(expand|change|quote)$/.test(name) && (name !== 'context' || !isQuotable),
  )
  const undated = answered.filter(
    ({ name }) => !/^(date|rule|maxAge)$/.test(name) && (name !== 'source' || isRange),
  )
  const ofNow = queries({ parameters: undated }, (parameter) => answerable(parameter, covered.now))
  if (isRange || undated.length === answered.length) return ofNow.map(withoutContradiction)
  const ofDays = queries(
    { parameters: answered },
    (parameter) => answerable(parameter, covered.onDays),
    ['date'],
  )
  return fc.oneof(ofNow, ofDays.map(withPublication))
}

function queries(
  { parameters }: Pick<Operation, 'parameters'>,
  textsOf: (parameter: Parameter) => fc.Arbitrary<string>,
  alsoRequired: string[] = [],
): fc.Arbitrary<Query> {
  const texts = parameters.map((parameter) => [parameter.name, textsOf(parameter)])
  const required = parameters.filter(({ required }) => required).map(({ name }) => name)
  const requiredKeys = [...required, ...alsoRequired]
  return fc.record<Query>(Object.fromEntries(texts), { requiredKeys })
}

function answerable({ name, schema }: Parameter, codes: readonly string[]): fc.Arbitrary<string> {
  const code = fc
    .tuple(fc.constantFrom(...codes), fc.boolean())
    .map(([each, isLow]) => (isLow ? each.toLowerCase() : each))
  const { maxItems = 250 } = schema.anyOf?.find(({ type }) => type === 'array') ?? schema
  // Together with the code before it.
  const list = fc
    .array(code, { maxLength: Math.min(10, maxItems - 1) })
    .map((each) => each.join(', '))
  if (name === 'symbols') return list
  if (name === 'source') return fc.constant('ecb')
  if (name === 'amount') return fc.double({ min: 0, max: 1e15, noNaN: true }).map(String)
  if (schema.format === 'date') return days(FIRST_DAY, LAST_DAY)
  if (textFaultsOf(schema, 'EUR') !== '') return acceptedTexts(schema)
  if (textFaultsOf(schema, 'EUR,GBP') !== '') return code
  const several = fc.tuple(code, list).map((each) => each.join())
  return fc.oneof(code, several)
}

/** Makes a query consistent: either a period or a range, which contains a published day, and points of one kind. */
function withoutContradiction({ period, start, end, ...rest }: Query): Query {
  const others = withoutConflictingPoints(rest)
  if (start === undefined) return period === undefined ? others : { ...others, period }
  const until = end ?? LAST_DAY
  const [first, last] = start < until ? [start, until] : [until, start]
  const isLong = Date.parse(last) - Date.parse(first) > MAX_GAP_MS
  const ended = end === undefined ? {} : { end: last }
  return { ...others, start: isLong ? first : FIRST_DAY, ...ended }
}

/** Makes a query with a date one that a published day matches. */
function withPublication({ rule, maxAge, ...others }: Query): Query {
  const isMatched =
    rule !== 'exact' && (rule !== 'previous-business-day' || others['date'] !== FIRST_DAY)
  return {
    ...others,
    ...(rule !== undefined && isMatched && { rule }),
    ...(maxAge !== undefined && { maxAge: String(Number(maxAge) + MAX_GAP_DAYS).slice(0, 4) }),
  }
}

function withoutConflictingPoints({ value, fill, layout, ...others }: Query): Query {
  const { interval = 'day', format } = others
  const isDaily = interval === 'day'
  return {
    ...others,
    ...(value !== undefined && (!isDaily || value === 'last') && { value }),
    ...(fill !== undefined && isDaily && { fill }),
    ...(layout !== undefined && (format === 'csv' || layout === 'long') && { layout }),
  }
}

/** Whether `round` may name a currency without a minor unit, which no pattern can express. */
export function isUnrounded(query: object): boolean {
  return 'round' in query && /XDR|XA[GU]|XP[DT]/i.test(JSON.stringify(query))
}

/** The day after the handlers' current day. */
const TOMORROW = '2026-11-21'

/** Returns the possible outcomes of `query`, whose values the document allows. */
export function expectedOutcome({ path }: Operation, query: Query): RegExp {
  const conflict = conflictIn(path, query)
  const isOfDays = query['date'] !== undefined || query['start'] !== undefined
  const isOfReferenceRates = isOfDays || RANGES.has(path)
  // Without an exponent, no 64 digits are beyond the doubles.
  const mayBeTooLarge = /e/i.test(query['amount'] ?? '')
  const withoutConflict = [
    '200',
    isOfReferenceRates ? '400 unsupported_currency' : '400 invalid_currency',
    // Days are empty instead.
    ...((isOfDays && path !== '/v1/days') || query['change'] !== undefined ? ['404 no_data'] : []),
    ...(query['change'] === undefined ? [] : ['400 unsupported_currency', '400 invalid_parameter']),
  ]
  const outcomes = conflict === undefined ? withoutConflict : [`400 ${conflict}`]
  if (mayBeTooLarge) outcomes.push('400 invalid_amount')
  if (isUnrounded(query)) outcomes.push('400 invalid_parameter')
  return new RegExp(`^(${outcomes.join('|')})$`)
}

/** Returns the error code of valid parameters that conflict, or of an unknown source, which no schema describes. */
function conflictIn(path: string, query: Query): string | undefined {
  const { date, rule, maxAge, source, expand, quote, to = '', format, period, start, end } = query
  const isUndated = date === undefined && !RANGES.has(path)
  if (expand !== undefined && (to.includes(',') || format === 'csv' || quote))
    return 'invalid_parameter'
  if (date !== undefined && date > TOMORROW) return 'invalid_parameter'
  if (date === undefined && (rule ?? maxAge) !== undefined) return 'invalid_parameter'
  if (start !== undefined || end !== undefined) {
    if (period !== undefined) return 'invalid_parameter'
    if (start === undefined) return 'missing_parameter'
    if (end !== undefined && start > end) return 'invalid_parameter'
  }
  const kept = withoutConflictingPoints(query)
  const isUnknown = source !== undefined && (source !== 'ecb' || isUndated)
  const isConflict = Object.keys(kept).length < Object.keys(query).length
  if (isConflict || isUnknown) return 'invalid_parameter'
  return path === '/v1/convert' ? conflictWithQuote(query) : undefined
}

/** No quote of a query is one of the service. */
function conflictWithQuote({ quote, context, reverse, date, format }: Query): string | undefined {
  if (quote === undefined) return context === undefined ? undefined : 'invalid_parameter'
  const isConflict = (reverse ?? date) !== undefined || format === 'csv'
  return isConflict ? 'invalid_parameter' : 'invalid_quote'
}
