import { describe, expect, it } from 'vitest'

import { readAmount } from '../../explorer/amount.ts'
import { parseView } from '../../explorer/view.ts'
import { amountInWords, formatAmount } from '../../explorer/figures.ts'
import { nextSort, sortRows } from '../../explorer/order.ts'
import { rowsOf } from '../fixtures/rows.ts'

describe('a typed amount', () => {
  it.each([
    ...rowsOf('100 100 | $100 100 USD | 20usd 20 USD | ¥1.5k 1.5e3 JPY | abc | $ | 400GBp'),
    ['', ''],
    [' ', ''],
    ['100 €', '100', 'EUR'],
    ['eur 1,000.5', '1000.5', 'EUR'],
    ['kr 5'],
    ['abc 5'],
    ['$5 eur'],
  ])('%j is %s %s', (text = '', ...expected) => {
    const { amount, code } = readAmount(text, ['CHF', 'EUR', 'USD'], '.')
    expect([amount, code]).toEqual([expected[0], expected[1]])
  })

  it('has the first currency that shares its sign', () => {
    expect(readAmount('$5', ['CAD', 'USD'], '.').code).toBe('CAD')
    expect(readAmount('£5', ['CAD', 'FKP'], '.').code).toBe('GBP')
  })

  it('has the separators of the user', () => {
    expect(readAmount('1.500', [], ',').amount).toBe('1500')
    expect(readAmount('1,500 eur', ['EUR'], ',').amount).toBe('1.500')
  })
})

describe('a result', () => {
  it.each([
    [85.367936, 2, '85.37'],
    [16_170.394, 0, '16,170'],
    [307.1, 3, '307.100'],
    [105_392_512.72361657, 2, '105,392,512.72'],
    [0.0000061, 2, '0.0000061'],
    [0.5, 0, '0.5'],
    [0, 2, '0.00'],
    [5, undefined, '5.00'],
  ])('of %d with %s digits is %s', (amount, digits, text) => {
    expect(formatAmount(amount, digits)).toBe(text)
  })

  it.each([
    [100, 'USD', '100 US dollars'],
    [1000.5, 'USD', '1,000.50 US dollars'],
    [1, 'USD', '1 US dollar'],
    [0.0012345, 'JPY', '0.0012345 Japanese yen'],
    [2.5, 'USDT', '2.5 USDT'],
  ])('of %d %s is given as %s', (amount, code, text) => {
    expect(amountInWords(amount, code)).toBe(text)
  })
})

describe('the order of rates', () => {
  const rows = [
    { code: 'USD', name: 'US Dollar', rate: 1, change: 0 },
    { code: 'JPY', name: 'Japanese Yen', rate: 160, change: -0.6 },
    { code: 'AED', name: 'UAE Dirham', rate: 3.67 },
    { code: 'EUR', name: 'Euro', rate: 0.9, change: 1 },
  ]

  it.each([
    ['', 'EUR,JPY,AED,USD'],
    ...rowsOf(`
      code AED,EUR,JPY,USD   | rate EUR,USD,AED,JPY  | change JPY,USD,EUR,AED  | nonsense EUR,JPY,AED,USD
      -code USD,JPY,EUR,AED  | -rate JPY,AED,USD,EUR | -change EUR,USD,JPY,AED`),
  ])('%j is %s', (sort = '', codes = '') => {
    const sorted = sortRows(rows, sort, ['EUR', 'JPY'])
    expect(sorted.map(({ code }) => code).join()).toBe(codes)
  })

  it('is rising, falling and usual after clicks on the same head', () => {
    const first = nextSort('', 'rate')
    const second = nextSort(first, 'rate')
    expect([first, second, nextSort(second, 'rate')]).toEqual(['rate', '-rate', ''])
    expect(nextSort('-rate', 'code')).toBe('code')
  })
})

describe('a view', () => {
  it('has upper-case codes, and what the address leaves out', () => {
    const view = parseView('#from=chf&compare=gbp,jpy&sort=-rate&toString=1')
    expect(view).toMatchObject({ from: 'CHF', compare: 'GBP,JPY', sort: '-rate', to: 'EUR' })
    expect(Object.hasOwn(view, 'toString')).toBe(false)
  })

  it('leaves out the tab of earlier versions', () => {
    expect(parseView('#from=CHF&tab=api')).toEqual(parseView('#from=CHF'))
  })
})
