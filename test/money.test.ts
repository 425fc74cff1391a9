import { Big } from 'big.js'
import { convert, dinero, toDecimal } from 'dinero.js'
import {
  convert as convertBig,
  dinero as dineroBig,
  toDecimal as toDecimalBig,
} from 'dinero.js/bigint'
import { describe, expect, it } from 'vitest'

import { roundResult } from '../src/api/rounded.ts'
import { currencies, withdrawnCurrencies } from '../src/currencies.ts'
import { createRatesHandler } from '../src/index.ts'
import {
  allocate,
  digitsOf,
  fromMinorUnits,
  roundTo,
  toDineroRates,
  toMinorUnits,
} from '../src/money/index.ts'
import type { RoundingMode } from '../src/money/index.ts'
import { fixedProviders } from '../src/testing/index.ts'
import { rowsOf } from './fixtures/rows.ts'
import { requestsTo } from './fixtures/service.ts'
import { randomFrom } from './access/fleet.ts'

const MODES: readonly (readonly [RoundingMode, 0 | 1 | 2 | 3])[] = [
  ['trunc', 0],
  ['halfExpand', 1],
  ['halfEven', 2],
  ['expand', 3],
]

const OTHER_MODES = ['ceil', 'floor', 'halfCeil', 'halfFloor', 'halfTrunc'] as const
const ALL_MODES: readonly RoundingMode[] = [...MODES.map(([mode]) => mode), ...OTHER_MODES]

/** Smallest amounts in cash: CLDR 48.2, `supplemental/currencyData.json`. */
const CASH = rowsOf(`
  CAD 0.05 | CHF 0.05 | DKK 0.50 | SEK 1.00 | NOK 1.00
  CZK 1.00 | HUF 5.00 | IQD 1.000 | JPY 1 | EUR 0.01`)

/** Returns a decimal with up to 16 digits and an exponent; one in three is a tie of two decimals. */
function decimalOf(random: () => number): string {
  const digits = Math.floor(random() * 10 ** Math.ceil(random() * 16))
  const sign = random() < 0.5 ? '-' : ''
  if (random() < 0.33) return `${sign}${digits}.${Math.floor(random() * 100)}5`
  return `${sign}${digits}e${Math.floor(random() * 24) - 18}`
}

describe('roundTo', () => {
  it('agrees with big.js on 200,000 decimals, in its modes', () => {
    const random = randomFrom(1)
    const different: string[] = []
    for (let index = 0; index < 200_000; index += 1) {
      const value = decimalOf(random)
      const code = ['USD', 'JPY', 'KWD', 'CLF'][index % 4] ?? ''
      const [mode, of] = MODES[Math.floor(random() * 4)] ?? ['trunc', 0]
      const expected = new Big(value).round(digitsOf(code), of).toFixed(digitsOf(code))
      const rounded = roundTo(value, code, { mode })
      if (rounded !== expected.replace(/^-(?=[0.]+$)/, ''))
        different.push(`${value} ${code} ${mode}`)
    }
    expect(different).toEqual([])
  })

  it.each(ALL_MODES)('rounds as Intl.NumberFormat does in the mode %s', (mode) => {
    const format = new Intl.NumberFormat('en', {
      maximumFractionDigits: 2,
      minimumFractionDigits: 2,
      useGrouping: false,
      roundingMode: mode,
    })
    for (const value of ['1.004', '1.005', '1.006', '1.015', '2', '0', '0.0001', '0.005']) {
      for (const signed of [value, `-${value}`]) {
        const expected = format.format(Object(signed).valueOf()).replace(/^-(?=[0.]+$)/, '')
        expect(roundTo(signed, 'USD', { mode }), signed).toBe(expected)
      }
    }
  })

  it.each(CASH)('rounds %s in cash to multiples of %s', (code = '', step = '') => {
    const random = randomFrom(2)
    for (let index = 0; index < 500; index += 1) {
      const value = (random() * 1_000).toFixed(4)
      const steps = new Big(value).div(step).round(0, 1)
      const expected = steps.times(step).toFixed(digitsOf(code))
      expect(roundTo(value, code, { cash: true }), value).toBe(expected)
    }
  })

  it('takes a number by its shortest decimal form', () => {
    expect(roundTo(1.005, 'USD')).toBe('1.01')
    expect(roundTo(16170.394, 'JPY')).toBe('16170')
    expect(roundTo(3243148242410675.5, 'VND')).toBe('3243148242410676')
    expect(roundTo(1e-7, 'usd', { mode: 'ceil' })).toBe('0.01')
    expect(roundTo(-0.001, 'USD')).toBe('0.00')
    expect(roundTo(Number.MAX_VALUE, 'JPY')).toBe(`17976931348623157${'0'.repeat(292)}`)
    expect(roundTo(Number.MIN_VALUE, 'KWD', { mode: 'expand' })).toBe('0.001')
  })

  it.each([NaN, Infinity, '', '1 000', '1\n', ...'. 1. 1,5 0x10 ١ e5 1e 1e1000 --1'.split(' ')])(
    'throws a TypeError for %j',
    (value) => {
      expect(() => roundTo(value, 'USD')).toThrow(TypeError)
    },
  )

  it('bounds the length of a string, and takes a mode beside cash', () => {
    expect(roundTo('1e-999', 'USD', { mode: 'ceil' })).toBe('0.01')
    expect(roundTo('9'.repeat(400), 'JPY')).toBe('9'.repeat(400))
    expect(() => roundTo('9'.repeat(401), 'JPY')).toThrow(RangeError)
    expect(roundTo('1.01', 'CHF', { cash: true, mode: 'ceil' })).toBe('1.05')
    expect(roundTo('1.04', 'CHF', { cash: true, mode: 'floor' })).toBe('1.00')
  })

  it.each(['XXY', 'US', 'D A', 'GBp', 'XAU'])('throws a TypeError for the code %j', (code) => {
    const message = code === 'XAU' ? 'XAU has no minor unit' : `unknown currency code "${code}"`
    expect(() => roundTo(1, code)).toThrow(new TypeError(message))
  })
})

it('digitsOf has the digits of ISO 4217 for every currency in use, and some for every withdrawn one', () => {
  const digits = currencies.map(({ code, minorUnits }) =>
    minorUnits === null ? null : digitsOf(code),
  )
  expect(digits).toEqual(currencies.map(({ minorUnits }) => minorUnits))
  expect(withdrawnCurrencies.filter(({ code }) => digitsOf(code) > 2)).toEqual([])
  const none = currencies.filter(({ minorUnits }) => minorUnits === null)
  expect(none.length).toBeGreaterThan(5)
  for (const { code } of none) expect(() => digitsOf(code)).toThrow(`${code} has no minor unit`)
})

it('minor units are exact both ways, and lose no digits without a mode', () => {
  const random = randomFrom(3)
  for (let index = 0; index < 3_000; index += 1) {
    const units = BigInt(Math.floor((random() - 0.5) * 1e15))
    const code = ['USD', 'JPY', 'KWD'][index % 3] ?? ''
    expect(toMinorUnits(fromMinorUnits(units, code), code)).toBe(units)
  }
  expect(fromMinorUnits(-5, 'KWD')).toBe('-0.005')
  expect(() => toMinorUnits('1.005', 'USD')).toThrow(RangeError)
  expect(toMinorUnits('1.005', 'USD', { mode: 'floor' })).toBe(100n)
  expect(toMinorUnits('1.02', 'CHF', { cash: true })).toBe(100n)
  expect(toMinorUnits('1.0500', 'USD')).toBe(105n)
  for (const units of [0.5, 2 ** 53]) expect(() => fromMinorUnits(units, 'USD')).toThrow(RangeError)
})

describe('allocate', () => {
  it('loses nothing, and gives nothing to a ratio of 0', () => {
    const random = randomFrom(4)
    for (let index = 0; index < 2_000; index += 1) {
      const amount = fromMinorUnits(Math.floor((random() - 0.5) * 1e9), 'USD')
      const ratios = [1, ...Array.from({ length: 5 }, () => Math.floor(random() * 4) / 4), 0]
      const parts = allocate(amount, ratios, 'USD')
      const sum = parts.reduce((total, part) => total.plus(part), new Big(0))
      const total = ratios.reduce((all, ratio) => all + ratio, 0)
      const errors = parts.map((part, at) =>
        new Big(amount)
          .times(ratios[at] ?? 0)
          .div(total)
          .minus(part)
          .abs()
          .toNumber(),
      )
      expect(sum.eq(amount)).toBe(true)
      expect(parts.filter((part, at) => ratios[at] === 0 && Number(part) !== 0)).toEqual([])
      expect(Math.max(...errors)).toBeLessThan(0.01)
    }
  })

  it.each<[...Parameters<typeof allocate>, string[]]>([
    ['100.00', 3, 'USD', ['33.34', '33.33', '33.33']],
    ['-0.05', [7, 3, 0], 'EUR', ['-0.04', '-0.01', '0.00']],
    ['10', ['0.5', '1e-1'], 'JPY', ['8', '2']],
  ])('divides %s by %j %s', (amount, parts, code, expected) => {
    expect(allocate(amount, parts, code)).toEqual(expected)
  })

  it('takes 10,000 parts', () => {
    const parts = allocate('1.00', 10_000, 'USD')
    expect([parts.length, parts[99], parts[100]]).toEqual([10_000, '0.01', '0.00'])
    const ratios = Array(10_001).fill(1)
    expect(() => allocate(1, ratios, 'USD')).toThrow(RangeError)
  })

  it.each<Parameters<typeof allocate>>([
    ['0.001', 2, 'USD'],
    [1, 0, 'USD'],
    [1, 10_001, 'USD'],
    [1, [0, 0], 'USD'],
    [1, [2, -1], 'USD'],
    [1, [], 'USD'],
  ])('throws a RangeError for %s, %j', (amount, parts, code) => {
    expect(() => allocate(amount, parts, code)).toThrow(RangeError)
  })
})

describe('toDineroRates', () => {
  const USD = { code: 'USD', base: 10, exponent: 2 }
  const VND = { code: 'VND', base: 10, exponent: 0 }
  const BIG_USD = { code: 'USD', base: 10n, exponent: 2n }
  const BIG_VND = { code: 'VND', base: 10n, exponent: 0n }

  it.each([26345.12345, 0.8536793581, 1e-7, 1.234567891e-9, 156.25, 1, 123456])(
    'converts exactly at the rate %s',
    (rate) => {
      const expected = new Big(rate).times('12.34')
      const rates = toDineroRates({ base: 'USD', rates: { VND: rate } })
      const converted = toDecimal(convert(dinero({ amount: 1234, currency: USD }), VND, rates))
      expect(new Big(converted).eq(expected)).toBe(true)
    },
  )

  it('converts exactly where a product of numbers overflows', () => {
    const source = { from: 'USD', to: 'VND', rate: 26345.12345 } as const
    const amount = 324_314_824_241_067_550n
    const rates = toDineroRates(source, { bigint: true })
    const converted = convertBig(dineroBig({ amount, currency: BIG_USD }), BIG_VND, rates)
    expect(
      new Big(toDecimalBig(converted)).eq(new Big('3243148242410675.5').times(26345.12345)),
    ).toBe(true)
    const shown = toDineroRates({ to: 'VND', rate: 3243148242410675.5 })
    expect(shown.VND).toEqual({ amount: 3243148242410676, scale: 0 })
    expect(toDineroRates({ to: 'VND', rate: 3243148242410675.5 }, { bigint: true }).VND).toEqual({
      amount: 32431482424106755n,
      scale: 1n,
    })
    expect(() => toDineroRates({ to: 'VND', rate: 1e21 })).toThrow(RangeError)
  })

  it.each([
    [{ results: { EUR: { rate: 0.85 } } }, 85],
    // Quotes with a markup.
    [{ to: 'EUR', rate: 0.85, quotedRate: 0.87 }, 87],
    [{ results: { EUR: { rate: 0.85, quotedRate: 0.87 } } }, 87],
  ])('takes the rates of %j', (source, amount) => {
    expect(toDineroRates(Object(source))).toEqual({ EUR: { amount, scale: 2 } })
  })
})

describe('roundResult', () => {
  it.each([
    ['90071992547409.93', 1, false, 'USD', '90071992547409.93'],
    ['123456789012345678901234.5', 1, false, 'JPY', '123456789012345678901235'],
    [-2.5, 1, false, 'JPY', '-3'],
    [-0, 1, false, 'USD', '0.00'],
    ['-1', 3, true, 'USD', '-0.33'],
    ['-.125e1', 2, true, 'USD', '-0.63'],
    ['0e99999999', 1, false, 'USD', '0.00'],
  ] as const)('of %s at %d is %s', (amount, rate, reverse, code, expected) => {
    expect(roundResult({ amount, rate, reverse, from: code, to: code, day: '' }, 'minor')).toBe(
      expected,
    )
  })

  it('agrees with big.js on texts in both directions', () => {
    const random = randomFrom(5)
    // Enough digits that a quotient is a tie only if it is one.
    Big.DP = 80
    for (let index = 0; index < 10_000; index += 1) {
      const [amount, rate] = [decimalOf(random), 1 / (random() + 1e-6)]
      const [code, reverse] = [['USD', 'JPY', 'KWD'][index % 3] ?? '', random() < 0.5]
      const exact = reverse ? new Big(amount).div(rate) : new Big(amount).times(rate)
      const expected = exact.round(digitsOf(code), 1).toFixed(digitsOf(code))
      const rounded = roundResult({ amount, rate, reverse, from: code, to: code, day: '' }, 'minor')
      expect(rounded, `${amount} ${rate}`).toBe(expected.replace(/^-(?=[0.]+$)/, ''))
    }
  })
})

describe('a conversion with round', () => {
  const providers = fixedProviders({ base: 'USD', rates: { EUR: 0.85, JPY: 156.255, CHF: 0.9 } })
  const handler = createRatesHandler({ providers })
  const { rates } = handler
  const { get, text } = requestsTo(handler, '/api/v1')

  it('adds rounded amounts after each result, and changes nothing else', async () => {
    const plain = await rates.convert({ from: 'USD', to: 'JPY', amount: 2.5 })
    const rounded = await rates.convert({ from: 'USD', to: 'JPY', amount: 2.5, round: 'minor' })
    expect(rounded).toEqual({ ...plain, rounded: '391' })
    expect(Object.keys(rounded).slice(0, 6)).toEqual([...Object.keys(plain).slice(0, 5), 'rounded'])
    const cash = { from: 'USD', to: ['EUR', 'CHF'], amount: 1.03, round: 'cash' } as const
    const { results } = await rates.convert(cash)
    expect(results).toMatchObject({ EUR: { rounded: '0.88' }, CHF: { rounded: '0.95' } })
  })

  it('has the digits of the source currency in reverse', async () => {
    const pair = { from: 'USD', to: 'JPY', amount: 100, reverse: true, round: 'minor' } as const
    expect(await rates.convert(pair)).toMatchObject({ rounded: '0.64' })
    const { results } = await rates.convert({ ...pair, from: 'JPY', to: ['USD', 'CHF'], amount: 3 })
    expect(results).toMatchObject({ USD: { rounded: '469' }, CHF: { rounded: '521' } })
  })

  const of = (base: string, code: string, rate: number) => ({ base, rates: { [code]: rate } })
  const IN_EURO = { base: 'EUR', rates: { BGN: 1.95583, DEM: 1.95583, FRF: 6.55957 } }
  const IN_DOLLARS = { base: 'USD', rates: { EUR: 0.85, BGN: 1.6624555 } }

  // Products with the rate of ten digits end in 71, 91, 41, 33 and 71.
  it.each<[string, Parameters<typeof fixedProviders>[0], string, string]>([
    ['a hand-written ratio', IN_EURO, 'BGN EUR 39427', '20158.70'],
    ['its inverse in reverse', IN_EURO, 'BGN EUR 500 reverse', '977.92'],
    ['two currencies of one successor', IN_EURO, 'DEM FRF 3480', '11671.42'],
    ['these in reverse', IN_EURO, 'DEM FRF 6796 reverse', '2026.32'],
    ['a table in dollars', IN_DOLLARS, 'BGN EUR 39427', '20158.70'],
    ['a table in the currency', of('BGN', 'EUR', 0.511291881196628), 'BGN EUR 39427', '20158.70'],
    ['a quotient without a decimal form', of('CUP', 'CUC', 1 / 24), 'CUP CUC 0.12', '0.01'],
    ['zeros lost twice', of('VES', 'VEB', 1e14), 'VEB VES 12345678901234567.89', '123.46'],
    // Not by a law.
    ['another number', of('EUR', 'BGN', 1.9558), 'BGN EUR 39427', '20159.01'],
    ['its day', { ...IN_EURO, updatedAt: '2025-12-31' }, 'BGN EUR 39427', '20158.71'],
  ])('divides once by a ratio that a law fixed: %s', async (_, table, asked, rounded) => {
    const [from = '', to = '', amount = '', reverse] = asked.split(' ')
    const priced = createRatesHandler({ providers: fixedProviders(table) })
    const row = { from, to, amount, ...(reverse && { reverse: true }), round: 'minor' } as const
    expect(await priced.rates.convert(row)).toMatchObject({ rounded })
    expect(await priced.rates.convertMany([row])).toMatchObject([{ rounded }])
    const query = new URLSearchParams({
      ...row,
      reverse: String(reverse !== undefined),
      format: 'csv',
    })
    const csv = await requestsTo(priced, '/api/v1').text(`/convert?${query}`)
    expect(csv.split(',').includes(rounded)).toBe(true)
  })

  it('is a column of CSV, which many rows have only if one asks for it', async () => {
    const target = 'convert?from=USD&to=EUR,JPY&amount=3&round=minor&format=csv'
    const [head, line] = (await text(`/${target}`)).split('\r\n')
    expect(head).toMatch(/^from,to,amount,rate,result,rounded,/)
    expect(line).toMatch(/^USD,EUR,3,0\.85,2\.55,2\.55,/)
    const post = async (body: string) => {
      const headers = { 'content-type': 'text/csv' }
      const response = await get('/convert', { method: 'POST', body, headers })
      return (await response.text()).split('\r\n')
    }
    const [columns, first, second] = await post(
      'from,to,amount,round\nUSD,JPY,2.5,minor\nUSD,JPY,2.5,',
    )
    expect(columns).toMatch(/^from,to,amount,rate,result,rounded,reverse/)
    expect(first).toMatch(/^USD,JPY,2\.5,156\.255,390\.6375,391,/)
    expect(second).toMatch(/^USD,JPY,2\.5,156\.255,390\.6375,,/)
    const [plain] = await post('from,to,amount\nUSD,JPY,1')
    expect(plain).toMatch(/^from,to,amount,rate,result,reverse/)
  })
})
