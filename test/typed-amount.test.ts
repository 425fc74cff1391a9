import { describe, expect, it } from 'vitest'

import { readTypedAmount } from '../src/typed-amount.ts'
import type { DecimalSeparator } from '../src/typed-amount.ts'
import { randomFrom } from './access/fleet.ts'
import { rowsOf } from './fixtures/rows.ts'

describe('readTypedAmount', () => {
  it.each([
    ...rowsOf(`
      100 100   | 1,000 1000 | 1,000.50 1000.50 | 1.000,50 1000.50 | 1'000.5 1000.5 | 1’000 1000 | 1_000 1000
      1,5 1.5   | 1.500 1.500 | 12,34,567 1234567 | .5 .5 | ,5 .5 | 1. 1 | 1k 1e3 | 3mio 3e6 | 1,5bn 1.5e9 | 1e3 1e3 | 1,000e-3 1000e-3 | 0 0`),
    ['1 000 000', '1000000'],
    ['1\u202f000,5', '1000.5'],
    [' 7 ', '7'],
    ['2.5 M', '2.5e6'],
  ])('reads %j as %j', (text = '', amount = '') => {
    expect(readTypedAmount(text)).toEqual({ amount })
  })

  it.each(
    rowsOf('1.500 1500 | 1.500.000 1500000 | 1,500 1.500 | 1.5 1.5 | 0,05 0.05 | 1,5e3 1.5e3'),
  )('reads %j as %j where the comma separates decimals', (text = '', amount = '') => {
    expect(readTypedAmount(text, { decimal: ',' })).toEqual({ amount })
  })

  it.each([
    ...'. , -5 +5 1,00,0 1.2.3 1,2.3,4 1k5 k 1x 0x10 NaN Infinity 1e ١ 1e3k'.split(' '),
    '',
    ' ',
    '1 00',
    '1 000 00',
  ])('names the problem of %j', (text) => {
    for (const decimal of ['.', ','] as const) {
      const problem = `amount must be a number such as 1000${decimal}50, got ${text.trim()}`
      expect(readTypedAmount(text, { decimal, digits: 2 })).toEqual({ problem })
    }
  })

  it.each([
    ['10.000', '.', '10000 or 10'],
    [' 1.500 ', '.', '1500 or 1.5'],
    ['1.799', '.', '1799 or 1.7990'],
    ['10,000', ',', '10000 or 10'],
    ['1,234', ',', '1234 or 1,2340'],
  ] as const)('has two meanings for %j with decimals after %j: %s', (text, decimal, meanings) => {
    const problem = `${text.trim()} has two meanings: write ${meanings}`
    const amount = text.trim().replace(',', '.')
    const read = [0, 2, 3, null].map((digits) => readTypedAmount(text, { decimal, digits }))
    expect(read).toEqual([{ problem }, { problem }, { amount }, { amount }])
    for (const each of meanings.split(' or ')) {
      expect(readTypedAmount(each, { decimal, digits: 2 }).problem).toBeUndefined()
    }
  })

  it.each([
    ...rowsOf(`
      10.00 . 10.00 | 10.0000 . 10.0000 | 1000.500 . 1000.500 | 0.500 . 0.500 | .500 . .500 | 10,000 . 10000 | 1.500k . 1.500e3
      10.000.000 . 10000000 | 10000 . 10000 | 1.2345 . 1.2345 | 10.000 , 10000 | 1.234 , 1234 | 0,500 , 0.500
      10,000,000 , 10000000 | 1,2345 , 1.2345 | 1.234,567 , 1234.567`),
  ])('has one meaning for %s with decimals after %s: %s', (text = '', separator, amount = '') => {
    const decimal = separator === ',' ? ',' : '.'
    expect(readTypedAmount(text, { decimal, digits: 0 })).toEqual({ amount })
  })

  it.each<[locale: string, decimal: DecimalSeparator]>([
    ['en', '.'],
    ['de', ','],
    ['fr', ','],
    ['de-CH', '.'],
    ['en-IN', '.'],
  ])('reads what Intl.NumberFormat writes in %s', (locale, decimal) => {
    const format = new Intl.NumberFormat(locale, { maximumFractionDigits: 6 })
    const random = randomFrom(20_261_120)
    for (let round = 0; round < 500; round += 1) {
      const digits = Math.floor(random() * 7)
      const scaled = Math.floor(random() * 10 ** (1 + Math.floor(random() * 14)))
      const value = Number(`${scaled}e-${digits}`)
      const written = format.format(value)
      const { amount } = readTypedAmount(written, { decimal })
      expect({ written, read: Number(amount) }).toEqual({ written, read: value })
      expect(amount).toMatch(/^\d+(\.\d+)?$/)
    }
  })

  it('returns only undefined or an amount of the API, for any text of its characters', () => {
    const random = randomFrom(7)
    const characters = Array.from("0123456789..,,  '_kme+-")
    for (let round = 0; round < 5_000; round += 1) {
      const length = 1 + Math.floor(random() * 10)
      const text = Array.from(
        { length },
        () => characters[Math.floor(random() * characters.length)],
      ).join('')
      const { amount = '0' } = readTypedAmount(text)
      expect(amount, text).toMatch(/^(\d+(\.\d+)?|\.\d+)(e[+-]?\d+)?$/i)
    }
  })
})
