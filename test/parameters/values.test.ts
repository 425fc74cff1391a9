import { describe, expect, it } from 'vitest'

import { OPERATIONS, ROW } from '../../src/api/parameters.ts'
import { lookUp, operations, textFaultsOf } from '../openapi/document.ts'
import type { Operation, Parameter } from '../openapi/document.ts'
import { coldOptions, exampleOf, outcomeOf } from '../openapi/live.ts'
import { openDoors, toQuery } from './doors.ts'
import type { OperationName, Texts, Values } from './doors.ts'
import { textsFor } from './texts.ts'

/** Without data, so that every valid request is a 502. Tomorrow is 9999-12-31, the last valid date. */
const lastDay = (): number => Date.UTC(9_999, 11, 30)
const cold = openDoors(coldOptions(lastDay))
/** There, a well-formed quote is `invalid_parameter`, and a malformed one `invalid_quote`. */
const withoutQuotes = openDoors({ ...coldOptions(lastDay), quotes: undefined })
const warm = openDoors()

const DATED = { date: '2020-02-29' }

/** The other parameters of a request in which the value alone decides. */
const BESIDE: Readonly<Record<string, Texts>> = {
  rule: DATED,
  maxAge: DATED,
  source: DATED,
  end: { start: '0000-01-01' },
  value: { interval: 'year' },
  layout: { format: 'csv' },
}

const PAIR = { from: 'USD', to: 'EUR' }

/** Codes of the errors of malformed parameters, except `invalid_parameter`. */
const ERRORS: Readonly<Record<string, RegExp>> = {
  base: /^400 invalid_currency$/,
  from: /^400 invalid_currency$/,
  to: /^400 invalid_(currency|parameter)$/,
  symbols: /^400 invalid_(currency|parameter)$/,
  amount: /^400 invalid_amount$/,
  period: /^400 invalid_period$/,
  quote: /^400 invalid_quote$/,
}

function errorOf(name: string, text: string): RegExp {
  // The advice to name the target currency otherwise.
  if (name === 'quote' && /^[a-z]{3}\b/i.test(text)) return /^400 invalid_parameter$/
  return ERRORS[name] ?? /^400 invalid_parameter$/
}

/** Returns the outcomes of a valid text of `name`; the service without data knows some currencies. */
function successOf({ path, operationId }: Operation, name: string): RegExp {
  if (path === '/v1/convert' && name === 'quote') return /^400 invalid_parameter$/
  if (path === '/v1/convert' && name === 'context') return /^400 invalid_quote$/
  return operationId === 'listCurrencies' ? /^(200$|502 )/ : /^502 /
}

/** Whether a text is allowed: by the document, and by what no schema can express. */
function isAllowed({ name, schema }: Pick<Parameter, 'name' | 'schema'>, text: string): boolean {
  const value = Number(text)
  const isBeyondDoubles =
    name === 'amount' && (value === Infinity || (value === 0 && /^[^eE]*[1-9]/.test(text)))
  const isTooLong = /^(symbols|to)$/.test(name) && text.length > 2_048
  const isUnknown = name === 'source' && text !== 'ecb'
  return textFaultsOf(schema, text) === '' && !isBeyondDoubles && !isTooLong && !isUnknown
}

function othersOf(operation: Operation, name: string): Texts {
  const required = Object.fromEntries(new URLSearchParams(exampleOf(operation)))
  const known = operation.parameters.map((parameter) => parameter.name)
  const beside = Object.entries(BESIDE[name] ?? {}).filter(([other]) => known.includes(other))
  const quote = operation.path === '/v1/convert' && name === 'context' ? { quote: 'a.b.c' } : {}
  const { start, ...pair } = required
  const base = name === 'period' ? pair : { ...pair, ...(start !== undefined && { start }) }
  return { ...base, ...Object.fromEntries(beside), ...quote }
}

const asking = operations.filter(({ parameters }) => parameters.length > 0)

describe.each(asking)('a text of a parameter of $operationId', (operation) => {
  const { path, parameters } = operation
  const isOperation = (name: string): name is OperationName =>
    ['latest', 'convert', 'history', 'days', 'currencies'].includes(name)
  const operationName = path.slice('/v1/'.length)

  it.each(parameters)(
    'is accepted exactly if the document allows it, by every door: $name',
    async (parameter) => {
      const { name, schema } = parameter
      const counts = { accepted: 0, refused: 0 }
      const others = othersOf(operation, name)
      const typed =
        path.startsWith('/v1/') && isOperation(operationName)
          ? Object.entries(OPERATIONS[operationName].parameters).find(([each]) => each === name)
          : undefined
      for (const text of textsFor(schema)) {
        const texts = { ...others, [name]: text }
        const { send } = name === 'quote' ? withoutQuotes : cold
        const sent = await send(`${path.slice(1)}${toQuery(texts)}`)
        const isValid = isAllowed(parameter, text)
        const wanted = isValid ? successOf(operation, name) : errorOf(name, text)
        expect([text, outcomeOf({ ...sent, body: sent.text })]).toEqual([
          text,
          expect.stringMatching(wanted),
        ])
        counts[isValid ? 'accepted' : 'refused'] += 1
        const value = typed?.[1].fromText(text)
        // A text with a comma is one code in a function.
        if (!typed || !isOperation(operationName)) continue
        if (name === 'to' && !Array.isArray(value) && text.includes(',')) continue
        const values: Values = { ...others, [name]: value }
        const answer = JSON.parse(sent.text)
        expect([text, await cold.askFunction(operationName, values)]).toEqual([text, answer])
        expect([text, await cold.askClient(operationName, values)]).toEqual([text, answer])
      }
      expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(0)
    },
  )
})

describe('a text of a parameter of a row', () => {
  const { schema = {} }: { schema?: object } = Object(lookUp('#/components/parameters/amount'))
  it.each(Object.entries(ROW.parameters))(
    'has the answer of its query, as JSON and in a cell: %s',
    async (name, parameter) => {
      const described: { schema?: object } = Object(lookUp(`#/components/parameters/${name}`))
      const others: Texts = { ...PAIR, amount: '1', ...BESIDE[name] }
      const codes = new Set<string>()
      for (const text of textsFor(described.schema ?? schema)) {
        // Rows may be negative.
        if (name === 'amount' && text.startsWith('-')) continue
        const texts = { ...others, [name]: text }
        const row = { ...others, [name]: parameter.fromText(text) }
        const answer = await warm.askQuery('convert', texts)
        codes.add(Object(answer).error?.code ?? 'answered')
        expect([text, await warm.askRow(row)]).toEqual([text, answer])
        expect([text, await warm.askRowFunction(row)]).toEqual([text, answer])
        // Cells are trimmed.
        const isCell = text.trim() === text && text !== '' && !(name === 'to' && text.includes(','))
        if (!isCell || name === 'source' || /^(true|false)$/i.test(text)) continue
        const { rate, result } = Object(answer)
        const expected = 'error' in answer ? answer : { rate: `${rate}`, result: `${result}` }
        expect([text, await warm.askCells(texts)]).toEqual([
          text,
          expect.objectContaining(expected),
        ])
      }
      expect(codes).toContain('answered')
      expect(codes.size).toBeGreaterThan(1)
    },
  )

  it.each(['-1', '-0.005', '-1e-7', -12.5, '-99.90'])(
    'has the sign of a negative amount: %j',
    async (amount) => {
      const positive = await warm.askRow({
        ...PAIR,
        amount: String(amount).slice(1),
        round: 'minor',
      })
      const { result, rounded } = Object(positive)
      const isZero = Number(rounded) === 0
      expect(await warm.askRow({ ...PAIR, amount, round: 'minor' })).toMatchObject({
        result: -result,
        rounded: isZero ? rounded : `-${rounded}`,
      })
      const cells = await warm.askCells({ ...PAIR, amount: String(amount) })
      expect(cells).toMatchObject({ result: `${-result}` })
      const message = `Invalid amount: ${amount} (must not be negative)`
      for (const ask of [warm.askQuery, warm.askFunction, warm.askClient]) {
        const refused = await ask('convert', Object({ ...PAIR, amount }))
        expect(refused).toEqual({ error: { code: 'invalid_amount', message } })
      }
    },
  )
})
