import { describe, expect, it } from 'vitest'
import type * as z from 'zod/mini'

import { conversionFailures, targets, truth } from '../../src/endpoints/conversion-parameters.ts'
import {
  amount,
  base,
  currency,
  date,
  format,
  interval,
  isAmount,
  period,
  splitSymbols,
  symbols,
} from '../../src/endpoints/parameters.ts'
import { createQueryParser } from '../../src/http/query.ts'

const SCHEMAS = { amount, base, currency, date, format, interval, period, symbols, targets, truth }

type Name = keyof typeof SCHEMAS

/** What is made of `text` as the parameter `x`, or the message of the error. */
function read(name: Name, text: string | undefined): unknown {
  const x: z.ZodMiniType = SCHEMAS[name]
  const parse = createQueryParser({
    parameters: { x },
    failures: conversionFailures,
    toQuestion: (question) => question.x,
  })
  try {
    return parse(text === undefined ? '' : `x=${encodeURIComponent(text)}`)
  } catch (error) {
    return Object(error).message
  }
}

/** A list of so many codes, filled up with spaces to so many characters. */
function listOf(codes: number, characters: number): string {
  return Array.from({ length: codes }, () => 'EUR')
    .join()
    .padEnd(characters)
}

/** What is said of more. */
const TOO_LONG = 'Invalid parameter: x (at most 250 codes in 2048 characters)'

describe('a parameter', () => {
  it.each<[Name, string | undefined, unknown]>([
    ['currency', 'EUR', 'EUR'],
    ['currency', 'eUr', 'eUr'],
    ['base', 'EUR', 'EUR'],
    ['base', undefined, undefined],
    ['symbols', undefined, undefined],
    ['symbols', '', []],
    ['symbols', ' ,,  , ', []],
    ['symbols', 'EUR', ['EUR']],
    ['symbols', ' EUR,  usd  ,,JPY,', ['EUR', 'usd', 'JPY']],
    ['targets', 'EUR', 'EUR'],
    ['targets', 'EUR,', ['EUR']],
    ['targets', ' EUR,usd ,,', ['EUR', 'usd']],
    ['amount', undefined, undefined],
    ['amount', '1.50', '1.50'],
    ['period', undefined, undefined],
    ['period', '1W', '1W'],
    ['period', '5Y', '5Y'],
    ['date', undefined, undefined],
    ['date', '2026-11-20', '2026-11-20'],
    ['interval', undefined, undefined],
    ['interval', 'day', 'day'],
    ['interval', 'week', 'week'],
    ['interval', 'month', 'month'],
    ['format', undefined, undefined],
    ['format', 'json', 'json'],
    ['format', 'csv', 'csv'],
    ['truth', undefined, undefined],
    ['truth', 'true', true],
    ['truth', 'false', false],
  ])('that is a %s is read: %j is %j', (name, text, value) => {
    expect(read(name, text)).toEqual(value)
  })

  it.each<[Name, string | undefined, string]>([
    ['currency', undefined, 'Missing required parameter: x'],
    ['currency', 'EURO', 'Invalid x currency: EURO'],
    ['base', '', 'Invalid x currency: '],
    ['base', 'E1R', 'Invalid x currency: E1R'],
    ['symbols', 'EUR,EURO,US', 'Invalid x currency: EURO'],
    ['symbols', 'EUR,\tUSD', 'Invalid x currency: \\u{9}USD'],
    ['targets', undefined, 'Missing required parameter: x'],
    ['targets', 'EURO', 'Invalid x currency: EURO'],
    ['targets', ' EUR', 'Invalid x currency:  EUR'],
    ['targets', ', ,', 'Invalid x currency: , ,'],
    ['targets', 'EUR,EURO,US', 'Invalid x currency: EURO'],
    ['amount', '', 'Invalid amount: '],
    ['amount', 'one', 'Invalid amount: one'],
    ['period', '1w', 'Invalid period: 1w (one of 1W, 1M, 3M, 6M, 1Y, 5Y)'],
    ['date', '2026-02-29', 'Invalid parameter: x (YYYY-MM-DD)'],
    ['interval', 'year', 'Invalid parameter: x (day, week or month)'],
    ['format', 'xml', 'Invalid parameter: x (json or csv)'],
    ['format', '', 'Invalid parameter: x (json or csv)'],
    ['truth', 'yes', 'Invalid parameter: x (true or false)'],
    ['truth', '', 'Invalid parameter: x (true or false)'],
  ])('that is a %s is refused: %j', (name, text, message) => {
    expect(read(name, text)).toBe(message)
  })
})

describe.each(['symbols', 'targets'] as const)('a list of %s', (name) => {
  it('has at most 250 codes in 2048 characters', () => {
    expect(read(name, listOf(250, 2_048))).toEqual(Array.from({ length: 250 }, () => 'EUR'))
    expect(read(name, listOf(251, 1_003))).toBe(TOO_LONG)
    expect(read(name, listOf(250, 2_049))).toBe(TOO_LONG)
  })

  it('is not looked into where it has more characters', () => {
    expect(read(name, `EURO,${listOf(1, 2_044)}`)).toBe(TOO_LONG)
  })
})

describe('the codes of a list', () => {
  it.each([
    ['', []],
    [' ', []],
    ['   ', []],
    ['a', ['a']],
    [' a ', ['a']],
    ['  a  b  ', ['a  b']],
    [',a, b ,\u00a0c\t', ['a', 'b', '\u00a0c\t']],
  ])('in %j are %j', (text, codes) => {
    expect(splitSymbols(text)).toEqual(codes)
  })
})

describe('an amount', () => {
  const ACCEPTED =
    '0 7 12 100 1.5 12.34 .5 .25 007 0.0 1e3 1E3 1e+3 1e-3 12e10 1.5e10 .5e-7 0e5 0.0e999 0E5 5e-324 1e308'

  const REFUSED =
    '. 1. 1.2.3 1..2 e3 1e 1e+ 1e+-3 1e3.5 e -1 +1 x1 1x 0x10 1_000 1,5 Infinity NaN ٣ ' +
    '1.x .x 1ex 1exx 1e309 1e-400 1E-400 0.1e-400 .001e-400 10e-400'

  it.each(ACCEPTED.split(' '))('is %s', (text) => {
    expect(isAmount(text)).toBe(true)
  })

  it.each(['', ' ', ' 1', '1 ', '1\n', ...REFUSED.split(' ')])('is not %j', (text) => {
    expect(isAmount(text)).toBe(false)
  })

  it('has 64 characters at most', () => {
    expect(isAmount('1'.padStart(64, '0'))).toBe(true)
    expect(isAmount('1'.padStart(65, '0'))).toBe(false)
  })
})
