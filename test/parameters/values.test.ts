import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Parameter } from '../../src/api/parameter-kinds.ts'
import * as z from 'zod/mini'

import { OPERATIONS, ROW } from '../../src/api/parameters.ts'
import type { Schema } from '../openapi/document.ts'
import { nearTexts } from '../openapi/texts.ts'
import { askCells, askClient, askFunction, askQuery, askRow, askRowFunction } from './doors.ts'
import type { Answer, OperationName, Texts } from './doors.ts'

const RUNS = { seed: 20_261_126, numRuns: 150 }

const PAIR = { from: 'USD', to: 'EUR' }
const DATED = { date: '2026-11-12' }

/** The other parameters of a request in which the value alone decides. */
const BESIDE: Readonly<Record<string, Texts>> = {
  rule: DATED,
  maxAge: DATED,
  source: DATED,
  end: { start: '2026-11-02' },
  value: { interval: 'year' },
  layout: { format: 'csv' },
}

/** A list in a query is a text with commas. */
interface AnySchema extends Schema {
  readonly items?: AnySchema
}

/** Generates texts that the schema of a parameter just accepts or refuses, as its JSON schema describes it. */
function textsOf({ schema }: Parameter): fc.Arbitrary<string> {
  const described: AnySchema = Object(z.toJSONSchema(schema))
  const of = (each: AnySchema): fc.Arbitrary<string> => {
    if (each.anyOf) return fc.oneof(...each.anyOf.map(of))
    if (!each.items) return nearTexts(each)
    const listed = fc.array(of(each.items), { minLength: 1, maxLength: 4 })
    return listed.map((items) => items.join())
  }
  return fc.oneof(of(described), fc.constantFrom('ecb', 'GBp', 'usd'))
}

const isText = (text: string): boolean => text.isWellFormed()

const codeOf = (answer: Answer): string => Object(answer)['error']?.code ?? 'answered'

describe.each<[name: OperationName, required: Texts]>([
  ['latest', {}],
  ['convert', PAIR],
  ['history', { ...PAIR, start: '2026-11-02' }],
  ['days', { start: '2026-11-02' }],
  ['currencies', {}],
])('any value of a parameter of %s', (operation, required) => {
  const { parameters } = OPERATIONS[operation]
  const each = Object.entries(parameters).filter(([name]) => name !== 'expand')

  it.each(each)('has the same answer in a query, a function and a client: %s', async (...row) => {
    const [name, parameter] = row
    const outcomes = new Set<string>()
    const isDated = 'date' in parameters
    const beside = BESIDE[name] === DATED && !isDated ? {} : BESIDE[name]
    const others: Texts = { ...(name === 'period' ? PAIR : required), ...beside }
    const property = fc.asyncProperty(textsOf(parameter).filter(isText), async (text) => {
      const texts = { ...others, [name]: text }
      const value = parameter.fromText(text)
      // A text with a comma is one code in a function.
      fc.pre(name !== 'to' || Array.isArray(value) || !text.includes(','))
      const answer = await askQuery(operation, texts)
      const values = { ...others, [name]: value }
      expect(await askFunction(operation, values)).toEqual(answer)
      expect(await askClient(operation, values)).toEqual(answer)
      outcomes.add(codeOf(answer))
      expect(
        parameter.schema.safeParse(value).success || codeOf(answer).startsWith('invalid'),
      ).toBe(true)
    })
    await fc.assert(property, RUNS)
    expect(outcomes).toContain('answered')
    expect(outcomes.size).toBeGreaterThan(1)
  })
})

describe('any value of a parameter of a row', () => {
  // Amounts of queries, which have no sign.
  const { amount } = OPERATIONS.convert.parameters
  const each = Object.entries({ ...ROW.parameters, ...(amount && { amount }) })

  it.each(each)(
    'has the answer of its query, as JSON and in a cell: %s',
    async (name, parameter) => {
      const outcomes = new Set<string>()
      const others: Texts = { ...PAIR, amount: '1', ...BESIDE[name] }
      const property = fc.asyncProperty(textsOf(parameter).filter(isText), async (text) => {
        // Rows may be negative, and cells are trimmed.
        fc.pre(!(name === 'amount' && text.startsWith('-')))
        const value = parameter.fromText(text)
        const texts = { ...others, [name]: text }
        const answer = await askQuery('convert', texts)
        expect(await askRow({ ...others, [name]: value })).toEqual(answer)
        expect(await askRowFunction({ ...others, [name]: value })).toEqual(answer)
        outcomes.add(codeOf(answer))
        const isCell = text.trim() === text && text !== '' && !(name === 'to' && text.includes(','))
        if (!isCell || name === 'source' || /^(true|false)$/i.test(text)) return
        const cell = await askCells(texts)
        const { rate, result } = Object(answer)
        const expected = 'error' in answer ? answer : { rate: `${rate}`, result: `${result}` }
        expect(cell).toMatchObject(expected)
      })
      await fc.assert(property, RUNS)
      expect(outcomes).toContain('answered')
      expect(outcomes.size).toBeGreaterThan(1)
    },
  )

  it.each(['-1', '-0.005', '-1e-7', -12.5, '-99.90'])(
    'has the sign of a negative amount: %j',
    async (amount) => {
      const positive = await askRow({ ...PAIR, amount: String(amount).slice(1), round: 'minor' })
      const negative = await askRow({ ...PAIR, amount, round: 'minor' })
      const { result, rounded } = Object(positive)
      const isZero = Number(rounded) === 0
      expect(negative).toMatchObject({ result: -result, rounded: isZero ? rounded : `-${rounded}` })
      expect(await askCells({ ...PAIR, amount: String(amount) })).toMatchObject({
        result: `${-result}`,
      })
      for (const ask of [askQuery, askFunction, askClient]) {
        expect(await ask('convert', Object({ ...PAIR, amount }))).toMatchObject({
          error: {
            code: 'invalid_amount',
            message: `Invalid amount: ${amount} (must not be negative)`,
          },
        })
      }
    },
  )
})
