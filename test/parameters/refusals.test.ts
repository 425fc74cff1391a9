import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { createRatesClient } from '../../src/client/index.ts'
import type { Rates } from '../../src/index.ts'
import { expand } from '../catalogue/catalogue.ts'
import { withFacts } from '../fixtures/facts.ts'
import { NOW, openMarket } from '../fixtures/hand-written-market.ts'
import { longService } from '../fixtures/long-market.ts'
import { messageOf, openDoors } from './doors.ts'
import type { OperationName, Values } from './doors.ts'

const PAIR = { from: 'USD', to: 'EUR' }

interface Refusal {
  rates: 'none' | 'few' | 'many'
  target: string
  status: number
  code: string
  /** Facts of the message; values.test.ts tries texts of all parameters against the document. */
  facts: string
}

const REFUSALS = readFileSync(new URL('refusals.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line): Refusal => JSON.parse(line))

const long = longService()

describe('an invalid request', () => {
  // Those over no rates are refused before any data is loaded.
  it.each(REFUSALS)('$target with $rates rates is $status $code: $facts', async (refusal) => {
    const { rates, target, status, code, facts } = refusal
    const market = openMarket()
    const { handler } = rates === 'many' ? long : market
    const response = await handler(new Request(`http://localhost/api/v1/${expand(target)}`))
    const text = await response.text()
    const { error } = JSON.parse(text)
    expect([response.status, error.code]).toEqual([status, code])
    expect(error.message).toMatch(withFacts(facts))
    expect(text.length).toBeLessThan(1_024)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(rates === 'none' ? market.calls : []).toEqual([])
  })
})

const { send, askFunction, askClient, askRow, askRowFunction, askCells } = openDoors()

describe('an operation', () => {
  const { handler, calls } = openMarket()

  const call = (name: 'latest' | 'convert' | 'snapshot' | 'history', params: unknown) => {
    const { rates }: { rates: Rates } = handler
    return Reflect.apply(rates[name], undefined, [params])
  }

  // Values that cannot be written in a query. The others have the error of the query.
  it.each<[Parameters<typeof call>[0], params: unknown, code: string, parameter?: string]>([
    ['latest', { symbols: 'EUR' }, 'invalid_parameter', 'symbols'],
    ['latest', { date: 20_200_101 }, 'invalid_parameter', 'date'],
    ['latest', [], 'invalid_parameter', 'parameters'],
    ['snapshot', [], 'invalid_parameter', 'parameters'],
    ['convert', 'USD', 'invalid_parameter', 'parameters'],
    ['convert', { from: ['USD'], to: 'EUR' }, 'invalid_currency', 'from'],
    ...[[], {}, ['EUR', 978], 978, 'EUR,JPY'].map(
      (to): [any: 'convert', object, string, string] => [
        'convert',
        { from: 'USD', to },
        'invalid_currency',
        'to',
      ],
    ),
    ...[NaN, [1], null, 1n].map((amount): ['convert', object, string, string] => [
      'convert',
      { ...PAIR, amount },
      'invalid_amount',
      'amount',
    ]),
    ['convert', { ...PAIR, reverse: 'true' }, 'invalid_parameter', 'reverse'],
    ['convert', { ...PAIR, date: new Date(NOW) }, 'invalid_parameter', 'date'],
    ['convert', { ...PAIR, date: null }, 'invalid_parameter', 'date'],
    ['convert', { ...PAIR, date: '2020-01-02', rule: null }, 'invalid_parameter', 'rule'],
    ...[-1, 1.5, Infinity, '3', null].map((maxAge): ['convert', object, string, string] => [
      'convert',
      { ...PAIR, date: '2020-01-02', maxAge },
      'invalid_parameter',
      'maxAge',
    ]),
    ['history', undefined, 'missing_parameter', 'from'],
    ['history', { from: 'USD', to: Array(21).fill('EUR') }, 'invalid_parameter', 'to'],
    ['history', { ...PAIR, start: new Date(0) }, 'invalid_parameter', 'start'],
  ])('%s(%o) rejects with %s', async (name, params, code, parameter) => {
    const expected = { name: 'RatesError', code, parameter }
    await expect(call(name, params)).rejects.toMatchObject(expected)
    expect(calls).toEqual([])
  })

  it.each<[OperationName, Values | undefined, string]>([
    ['convert', { ...PAIR, amount: '100' }, 'answered'],
    ['convert', undefined, 'Missing required parameter: from'],
    ['history', undefined, 'Missing required parameter: from'],
  ])('%s(%j) is %s', async (name, values, message) => {
    for (const ask of [askFunction, askClient]) {
      expect(messageOf(await ask(name, Object(values)))).toBe(message)
    }
  })
})

it('a client without options has a clear error', () => {
  const error = new TypeError('options must be an object, got undefined')
  expect(() => Reflect.apply(createRatesClient, undefined, [])).toThrow(error)
})

describe('a row', () => {
  it.each(['GBp', 'GBX'])('has the advice about %s in its error', async (from) => {
    for (const ask of [askRow, askRowFunction, askCells]) {
      const message = messageOf(await ask({ from, to: 'GBP', amount: '1' }))
      expect(message).toContain(`Invalid from currency: ${from} (`)
    }
  })

  // Browsers on Windows send files so, and spreadsheets save text with tabs.
  it.each([
    ['application/csv', ','],
    ['application/vnd.ms-excel', ';'],
    ['text/tab-separated-values; charset=utf-8', '\t'],
  ])('of a body of the type %s is read as CSV', async (type, separator) => {
    const lines = ['from,to,amount', 'USD,EUR,1'].map((line) => line.replaceAll(',', separator))
    const { status, text } = await send('v1/convert?format=json', { type, text: lines.join('\n') })
    expect([status, JSON.parse(text)]).toEqual([200, [await askRow({ ...PAIR, amount: 1 })]])
  })
})
