import { describe, expect, it } from 'vitest'

import type { Rates } from '../../src/index.ts'
import { NOW, openMarket } from '../fixtures/hand-written-market.ts'

const PAIR = { from: 'USD', to: 'EUR' }

type Operation = 'latest' | 'convert' | 'snapshot' | 'history'

/** Calls `operation` like JavaScript without types. */
function call(rates: Rates, operation: Operation, params: unknown): Promise<unknown> {
  return Reflect.apply(rates[operation], undefined, [params])
}

describe('an operation of handler.rates', () => {
  it.each<[Operation, params?: object]>([
    ['latest', { date: '2000-03-01', base: 'jpy', symbols: ['USD', 'grd'] }],
    ['convert', { from: 'USD', to: ['EUR', 'jpy', 'EUR'] }],
    ['convert', { ...PAIR, date: '2023-01-02', rule: 'previous-business-day', maxAge: 3 }],
    ['snapshot', { base: 'jpy', symbols: ['USD'] }],
    ['snapshot', { date: '2000-03-01', rule: 'on-or-before' }],
    ['history', { from: 'eur', to: ['usd', 'JPY', 'USD'], period: '1W' }],
  ])('%s(%j) has no private field of a provider', async (operation, params) => {
    const record = await call(openMarket().handler.rates, operation, params)
    expect(JSON.stringify(record)).not.toContain('secret')
  })

  // Values that cannot be written in a query. The others have the error of the query.
  it.each<[Operation, params: unknown, code: string, parameter?: string]>([
    ['latest', { symbols: 'EUR' }, 'invalid_parameter', 'symbols'],
    ['latest', { date: 20_200_101 }, 'invalid_parameter', 'date'],
    ['latest', [], 'invalid_parameter', 'parameters'],
    ['snapshot', [], 'invalid_parameter', 'parameters'],
    ['snapshot', { symbols: 'EUR' }, 'invalid_parameter', 'symbols'],
    ['snapshot', { change: '1D' }, 'invalid_parameter', 'change'],
    ['snapshot', { rule: 'next' }, 'invalid_parameter', 'rule'],
    ['convert', 'USD', 'invalid_parameter', 'parameters'],
    ['convert', { from: ['USD'], to: 'EUR' }, 'invalid_currency', 'from'],
    ['convert', { from: 'USD', to: [] }, 'invalid_currency', 'to'],
    ['convert', { from: 'USD', to: {} }, 'invalid_currency', 'to'],
    ['convert', { from: 'USD', to: ['EUR', 978] }, 'invalid_currency', 'to'],
    ['convert', { from: 'USD', to: 978 }, 'invalid_currency', 'to'],
    ['convert', { from: 'USD', to: 'EUR,JPY' }, 'invalid_currency', 'to'],
    ['convert', { ...PAIR, amount: NaN }, 'invalid_amount', 'amount'],
    ['convert', { ...PAIR, amount: [1] }, 'invalid_amount', 'amount'],
    ['convert', { ...PAIR, amount: null }, 'invalid_amount', 'amount'],
    ['convert', { ...PAIR, amount: 1n }, 'invalid_amount', 'amount'],
    ['convert', { ...PAIR, reverse: 'true' }, 'invalid_parameter', 'reverse'],
    ['convert', { ...PAIR, date: new Date(NOW) }, 'invalid_parameter', 'date'],
    ['convert', { ...PAIR, date: null }, 'invalid_parameter', 'date'],
    ['convert', { ...PAIR, date: '2020-01-02', rule: null }, 'invalid_parameter', 'rule'],
    ...[-1, 1.5, Infinity, '3', null].map((maxAge): [Operation, object, string, string] => [
      'convert',
      { ...PAIR, date: '2020-01-02', maxAge },
      'invalid_parameter',
      'maxAge',
    ]),
    ['history', undefined, 'missing_parameter', 'from'],
    ['history', { from: 'USD', to: Array(21).fill('EUR') }, 'invalid_parameter', 'to'],
    ['history', { ...PAIR, start: new Date(0) }, 'invalid_parameter', 'start'],
  ])('%s(%o) rejects with %s', async (operation, params, code, parameter) => {
    const { calls, handler } = openMarket()
    const expected = { name: 'RatesError', code, parameter }
    await expect(call(handler.rates, operation, params)).rejects.toMatchObject(expected)
    expect(calls).toEqual([])
  })
})
