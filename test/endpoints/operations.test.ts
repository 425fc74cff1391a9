import { describe, expect, it } from 'vitest'

import { NOW, openMarket } from '../fixtures/hand-written-market.ts'

const PAIR = { from: 'USD', to: 'EUR' }

type Operation = 'latest' | 'convert' | 'history'

/** Calls `operation` like JavaScript without types. */
function call(
  { rates }: ReturnType<typeof openMarket>['handler'],
  operation: Operation,
  params: unknown,
): Promise<unknown> {
  const untyped: Record<Operation, (params: never) => Promise<unknown>> = rates
  // @ts-expect-error accepts any params
  return untyped[operation](params)
}

describe('an operation of handler.rates', () => {
  it.each<[Operation, params?: object]>([
    ['latest'],
    ['latest', {}],
    ['latest', { base: 'jpy', symbols: ['eur', 'USD'] }],
    ['latest', { date: '2000-03-01', base: 'jpy', symbols: ['USD', 'grd'] }],
    ['convert', { from: 'usd', to: 'EUR', amount: 0.1 }],
    ['convert', { from: 'USD', to: ['EUR', 'jpy', 'EUR'] }],
    ['convert', { from: 'USD', to: ['eur'] }],
    ['convert', { ...PAIR, reverse: true }],
    ['convert', { ...PAIR, reverse: false }],
    ['convert', { ...PAIR, date: '2000-03-01' }],
    ['convert', { from: 'EUR', to: ['USD', 'JPY'], date: '2023-01-08', reverse: true, amount: 7 }],
    ['latest', { date: '2000-02-20', symbols: ['USD', 'grd'], rule: 'next', maxAge: 0 }],
    ['convert', { ...PAIR, date: '2023-01-02', rule: 'previous-business-day', maxAge: 3 }],
    ['history', { from: 'usd', to: 'EUR' }],
    ['history', { ...PAIR, start: '1999-01-04' }],
    ['history', { ...PAIR, start: '2022-12-01', end: '2026-11-19' }],
    ['history', { ...PAIR, start: '2022-12-01', interval: 'month' }],
    ['history', { ...PAIR, period: '5Y', interval: 'month' }],
    ['history', { from: 'eur', to: ['usd', 'JPY', 'USD'], period: '1W' }],
    ['history', { from: 'EUR', to: ['USD'], start: '2026-11-13', fill: 'previous' }],
  ])('%s(%j) resolves to the response of its endpoint', async (operation, params) => {
    const { handler, get } = openMarket()
    const record = await call(handler, operation, params)
    // In HTTP, a trailing comma makes a list of one.
    const query = Object.entries(params ?? {}).map(([name, value]) => {
      return `${name}=${Array.isArray(value) ? `${value.join()},` : value}`
    })
    const response = await get(`/v1/${operation}?${query.join('&')}`)
    expect(response.status).toBe(200)
    expect(JSON.stringify(record)).toBe(await response.text())
    expect(JSON.stringify(record)).not.toContain('secret')
  })

  it.each<[Operation, params: unknown, code: string, parameter?: string, loads?: number]>([
    ['latest', { base: 'DOLLAR' }, 'invalid_currency', 'base'],
    ['latest', { base: 'EURO', date: '2020-01-01' }, 'invalid_currency', 'base'],
    ['latest', { symbols: 'EUR' }, 'invalid_parameter', 'symbols'],
    ['latest', { symbols: ['EURO'] }, 'invalid_currency', 'symbols'],
    ['latest', { date: '2026-2-30' }, 'invalid_parameter', 'date'],
    ['latest', { date: '' }, 'invalid_parameter', 'date'],
    ['latest', { date: '2026-11-22' }, 'invalid_parameter', 'date'],
    ['latest', { date: 20_200_101 }, 'invalid_parameter', 'date'],
    ['convert', { to: 'EUR' }, 'missing_parameter', 'from'],
    ['convert', { to: ['EUR'] }, 'missing_parameter', 'from'],
    ['convert', { from: 'USD' }, 'missing_parameter', 'to'],
    ['convert', { from: '', to: 'EUR' }, 'invalid_currency', 'from'],
    ['convert', { from: ['USD'], to: 'EUR' }, 'invalid_currency', 'from'],
    ['convert', { from: 'USD', to: [] }, 'invalid_currency', 'to'],
    ['convert', { from: 'USD', to: ['EUR', 'EURO'] }, 'invalid_currency', 'to'],
    ['convert', { from: 'USD', to: ['EUR', 978] }, 'invalid_currency', 'to'],
    ['convert', { from: 'USD', to: 978 }, 'invalid_currency', 'to'],
    ['convert', { from: 'USD', to: 'EUR,JPY' }, 'invalid_currency', 'to'],
    ['convert', { from: 'USD', to: ['EUR,JPY'] }, 'invalid_currency', 'to'],
    ['convert', { ...PAIR, amount: -1 }, 'invalid_amount', 'amount'],
    ['convert', { ...PAIR, amount: NaN }, 'invalid_amount', 'amount'],
    ['convert', { from: 'USD', to: ['EUR'], amount: -1 }, 'invalid_amount', 'amount'],
    ['convert', { ...PAIR, reverse: true, amount: NaN }, 'invalid_amount', 'amount'],
    ['convert', { ...PAIR, reverse: 'true' }, 'invalid_parameter', 'reverse'],
    ['convert', { ...PAIR, date: '2026-11-31' }, 'invalid_parameter', 'date'],
    ['convert', { ...PAIR, date: new Date(NOW) }, 'invalid_parameter', 'date'],
    ['convert', { ...PAIR, date: null }, 'invalid_parameter', 'date'],
    ['convert', { ...PAIR, date: '2026-11-22' }, 'invalid_parameter', 'date'],
    ['history', undefined, 'missing_parameter', 'from'],
    ['history', { from: 'USD', to: '' }, 'invalid_currency', 'to'],
    ['history', { ...PAIR, period: '2W' }, 'invalid_period', 'period'],
    ['history', { ...PAIR, start: '2026-11-02', period: '2W' }, 'invalid_period', 'period'],
    ['history', { ...PAIR, start: '2026-11-02', period: '1M' }, 'invalid_parameter', 'period'],
    ['history', { ...PAIR, start: '2026-2-30' }, 'invalid_parameter', 'start'],
    ['history', { ...PAIR, start: '' }, 'invalid_parameter', 'start'],
    ['history', { ...PAIR, start: new Date(0) }, 'invalid_parameter', 'start'],
    ['history', { ...PAIR, start: '2026-11-02', end: '2026-11-31' }, 'invalid_parameter', 'end'],
    ['history', { ...PAIR, start: '2026-11-02', end: '2026-11-01' }, 'invalid_parameter', 'start'],
    ['history', { ...PAIR, interval: 'decade' }, 'invalid_parameter', 'interval'],
    ['history', { ...PAIR, interval: 'year', value: 'median' }, 'invalid_parameter', 'value'],
    ['history', { ...PAIR, value: 'average' }, 'invalid_parameter', 'value'],
    ['history', { ...PAIR, value: 'high', interval: 'day' }, 'invalid_parameter', 'value'],
    ['history', { ...PAIR, fill: 'next' }, 'invalid_parameter', 'fill'],
    ['history', { ...PAIR, fill: 'previous', interval: 'week' }, 'invalid_parameter', 'fill'],
    ['history', { from: 'USD', to: [] }, 'invalid_currency', 'to'],
    ['history', { from: 'USD', to: ['EUR', 'E'] }, 'invalid_currency', 'to'],
    ['history', { from: 'USD', to: Array(21).fill('EUR') }, 'invalid_parameter', 'to'],
    ['history', { ...PAIR, end: '2026-11-02' }, 'missing_parameter', 'start'],
    ['latest', { rule: 'next' }, 'invalid_parameter', 'rule'],
    ['convert', { ...PAIR, maxAge: 3 }, 'invalid_parameter', 'maxAge'],
    ['convert', { ...PAIR, date: '2026-11-22', rule: 'next' }, 'invalid_parameter', 'date'],
    ['history', { ...PAIR, rule: 'next' }, 'invalid_parameter', 'rule'],
    ['history', { ...PAIR, maxAge: 3 }, 'invalid_parameter', 'maxAge'],
    ['history', { ...PAIR, end: '2026-11-02', interval: 'day' }, 'missing_parameter', 'start'],
    // Once data is loaded.
    ['latest', { base: 'ZZZ' }, 'invalid_currency', 'base', 1],
    ['latest', { symbols: ['ZZZ'] }, 'invalid_currency', 'symbols', 1],
    ['convert', { from: 'USD', to: ['EUR', 'ZZZ'] }, 'invalid_currency', 'to', 1],
    ['convert', { from: 'USD', to: 'JPY', amount: 1e308 }, 'invalid_amount', 'amount', 1],
    ['convert', { from: 'USD', to: ['JPY'], amount: 1e307 }, 'invalid_amount', 'amount', 1],
    ['convert', { from: 'KWD', to: 'EUR', date: '2026-11-20' }, 'unsupported_currency', 'from', 1],
    ['convert', { from: 'EUR', to: ['HRK'], date: '2026-11-20' }, 'no_data', 'to', 1],
    ['convert', { from: 'EUR', to: 'USD', date: '1998-11-20' }, 'no_data', 'date', 1],
    ['history', { from: 'AED', to: 'EUR' }, 'unsupported_currency', 'from', 1],
  ])('%s(%j) rejects with %s', async (operation, params, code, parameter, loads = 0) => {
    const { calls, handler } = openMarket()
    const expected = { name: 'RatesError', code, parameter }
    await expect(call(handler, operation, params)).rejects.toMatchObject(expected)
    expect(calls).toHaveLength(loads)
  })
})
