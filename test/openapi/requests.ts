import * as fc from 'fast-check'

import { acceptedTexts, days } from '../parameters/texts.ts'
import { textFaultsOf } from './document.ts'
import type { Operation, Parameter } from './document.ts'

type Query = Record<string, string>

/** Codes that an operation covers, without a date and with one. */
export interface Covered {
  now: readonly string[]
  onDays: readonly string[]
}

/** Paths of operations that always have a range of days. */
export const RANGES: ReadonlySet<string> = new Set(['/v1/history', '/v1/days'])

const [FIRST_DAY, LAST_DAY] = ['1999-01-04', '2026-11-20']

/** Longer than any gap between published days. */
const MAX_GAP_DAYS = 10

export function toSearch(query: Query): string {
  const search = new URLSearchParams(query).toString()
  return search === '' ? '' : `?${search}`
}

/** Queries of any parameters that do not contradict each other, with covered codes, which return rates. */
export function answerableQueries(operation: Operation, covered: Covered): fc.Arbitrary<Query> {
  const isRange = RANGES.has(operation.path)
  const names = operation.parameters.map(({ name }) => name)
  const excluded = ['expand', 'change', 'quote', ...(names.includes('quote') ? ['context'] : [])]
  const answered = operation.parameters.filter(({ name }) => !excluded.includes(name))
  const ofDays = ['date', 'rule', 'maxAge', ...(isRange ? [] : ['source'])]
  const undated = answered.filter(({ name }) => !ofDays.includes(name))
  const ofNow = queries(undated, (parameter) => answerable(parameter, covered.now))
  if (undated.length === answered.length) return ofNow.map(withoutContradiction)
  const dated = queries(answered, (parameter) => answerable(parameter, covered.onDays), ['date'])
  return fc.oneof(ofNow.map(withoutContradiction), dated.map(withPublication))
}

function queries(
  parameters: readonly Parameter[],
  textsOf: (parameter: Parameter) => fc.Arbitrary<string>,
  alsoRequired: readonly string[] = [],
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
  const list = fc.array(code, { maxLength: 9 }).map((each) => each.join(', '))
  if (name === 'symbols') return list
  if (name === 'source') return fc.constant('ecb')
  if (name === 'amount') return fc.double({ min: 0, max: 1e15, noNaN: true }).map(String)
  if (schema.format === 'date') return days(FIRST_DAY, LAST_DAY)
  if (textFaultsOf(schema, 'EUR') !== '') return acceptedTexts(schema)
  if (textFaultsOf(schema, 'EUR,GBP') !== '') return code
  return fc.oneof(
    code,
    fc.tuple(code, list).map((each) => each.join()),
  )
}

/** Makes a query consistent: either a period or a range, which contains a published day, and points of one kind. */
function withoutContradiction({ period, start, end, ...rest }: Query): Query {
  const { value, fill, layout, ...others } = rest
  const isDaily = (others['interval'] ?? 'day') === 'day'
  const kept: Query = {
    ...others,
    ...(value !== undefined && (!isDaily || value === 'last') && { value }),
    ...(fill !== undefined && isDaily && { fill }),
    ...(layout !== undefined && (others['format'] === 'csv' || layout === 'long') && { layout }),
  }
  if (start === undefined) return period === undefined ? kept : { ...kept, period }
  const [first = start, last = ''] = [start, end ?? LAST_DAY].toSorted()
  const isLong = Date.parse(last) - Date.parse(first) > MAX_GAP_DAYS * 86_400_000
  return { ...kept, start: isLong ? first : FIRST_DAY, ...(end !== undefined && { end: last }) }
}

function withPublication({ rule, maxAge, ...others }: Query): Query {
  const isMatched =
    rule !== 'exact' && (rule !== 'previous-business-day' || others['date'] !== FIRST_DAY)
  return {
    ...others,
    ...(rule !== undefined && isMatched && { rule }),
    ...(maxAge !== undefined && { maxAge: String(Number(maxAge) + MAX_GAP_DAYS).slice(0, 4) }),
  }
}
