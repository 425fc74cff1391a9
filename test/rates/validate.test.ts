import { describe, expect, it } from 'vitest'

import { validateHistory, validateTable } from '../../src/rates/validate.ts'
import { codes } from '../fixtures/codes.ts'

const NOW = Date.UTC(2026, 10, 20, 18)
const HOUR = 3_600_000
const YEAR = 366 * 24 * HOUR

/** The last instant that a `Date` holds. */
const LAST_INSTANT = 8_640_000_000_000_000

/** Returns a good table of `count` codes, AAA, AAB, …, and the base, with `changes` in its fields. */
function table(changes: object = {}, count = 39): Record<string, unknown> {
  const quoted = codes(count).map((code, index) => [code, index + 1])
  const rates = { USD: 1, ...Object.fromEntries(quoted) }
  return { base: 'USD', updatedAt: NOW - HOUR, nextUpdateAt: NOW + HOUR, rates, ...changes }
}

function withRates(rates: object, count?: number): Record<string, unknown> {
  const whole = table({}, count)
  return { ...whole, rates: { ...Object(whole['rates']), ...rates } }
}

function accepted(changes: object, now = NOW): ReturnType<typeof validateTable>['data'] {
  return validateTable(table(changes), now).data
}

function expectRejected(accept: () => unknown, message: string): void {
  const error = { name: 'RejectedError', message: expect.stringContaining(message) }
  expect(accept).toThrow(expect.objectContaining(error))
}

describe('a table', () => {
  it('keeps its order, its digits and its times', () => {
    const rates = { EUR: 0.8512, USD: 1, AED: 3.6725 }
    const { data, dropped } = validateTable(table({ rates }), NOW)
    expect([...data.rates]).toEqual(Object.entries(rates))
    expect(data).toMatchObject({ base: 'USD', updatedAt: NOW - HOUR, nextUpdateAt: NOW + HOUR })
    expect(dropped).toEqual([])
  })

  it('gets a base that it lacks, before all others', () => {
    const { rates } = accepted({ rates: { EUR: 0.85 } })
    expect([...rates]).toEqual(Object.entries({ USD: 1, EUR: 0.85 }))
  })

  it.each([1.0001, 0, 100, null, '1'])('is refused with its base quoted at %j', (rate) => {
    expect(() => validateTable(withRates({ USD: rate }), NOW)).toThrow('not quoted at 1')
  })

  it.each([0, -0.86, NaN, Infinity, 1e300, 5e-324, '0.86', null, true, {}, []])(
    'loses a rate of %j, where it is one in twenty at most',
    (rate) => {
      const { data, dropped } = validateTable(withRates({ AAA: rate }), NOW)
      expect(dropped).toEqual(['AAA'])
      expect(data.rates.has('AAA')).toBe(false)
      expect(data.rates.size).toBe(39)
      expect(data.rates.get('AAB')).toBe(2)
      expect(() => validateTable(withRates({ AAA: rate }, 18), NOW)).toThrow(
        '1 of 19 rates are not numbers from 1e-100 to 1e+100: AAA',
      )
    },
  )

  it('loses keys that are not codes, which do not count', () => {
    const rates: unknown = JSON.parse(
      '{"EUR":0.85,"eur":1,"__proto__":2,"toString":3,"USDT":1,"":4,"ÄÖÜ":5}',
    )
    const { data, dropped } = validateTable(table({ rates }), NOW)
    expect([...data.rates.keys()]).toEqual(['USD', 'EUR'])
    expect(dropped).toEqual(['eur', '__proto__', 'toString', 'USDT', '', 'ÄÖÜ'])
  })

  it.each([
    ['a day later, where it is absent', undefined, NOW + 23 * HOUR],
    ['before the last one', 0, 0],
    ['eight days later', NOW + 191 * HOUR, NOW + 191 * HOUR],
    ['eight days later, where it is a ms more', NOW + 191 * HOUR + 1, NOW + 191 * HOUR],
    ['eight days later, where it is the last instant', LAST_INSTANT, NOW + 191 * HOUR],
  ])('has its next update %s', (_when, nextUpdateAt, expected) => {
    expect(accepted({ nextUpdateAt }).nextUpdateAt).toBe(expected)
  })

  it.each([0, NOW + 48 * HOUR])('may be published at %d: any age, or two days ahead', (instant) => {
    expect(accepted({ updatedAt: instant }).updatedAt).toBe(instant)
  })

  it.each([
    ['nothing', undefined, 'the answer is not an object'],
    ['null', null, 'the answer is not an object'],
    ['a text', '{}', 'the answer is not an object'],
    ['a list', [], 'the answer is not an object'],
    ['no base', table({ base: undefined }), 'the base is not a currency code'],
    ['a base in lower case', table({ base: 'usd' }), 'the base is not a currency code'],
    ['no rates', table({ rates: undefined }), 'the rates are not an object'],
    ['a list of rates', table({ rates: [1, 2] }), 'the rates are not an object'],
    ['empty rates', table({ rates: {} }), 'beside the base, nothing'],
    ['only the base', table({ rates: { USD: 1 } }), 'beside the base, nothing'],
    ['no time', table({ updatedAt: undefined }), 'updatedAt is not a time in ms'],
    ['a time as text', table({ updatedAt: '2026-11-20' }), 'updatedAt is not a time in ms'],
    ['a time in fractions of a ms', table({ updatedAt: 1.5 }), 'updatedAt is not a time in ms'],
    ['a time before 1970', table({ updatedAt: -1 }), 'updatedAt is not a time in ms'],
    ['a time that no Date holds', table({ updatedAt: 1e18 }), 'updatedAt is not a time in ms'],
    ['a time in seconds', table({ updatedAt: NOW / 1_000 - 86_400 }), 'updatedAt is in seconds'],
    [
      'only keys in lower case',
      table({ rates: { eur: 0.85, gbp: 0.74 } }),
      'there are no rates by upper-case codes beside the base, only 2 other names, some in lower case',
    ],
    ['a time ahead', table({ updatedAt: NOW + 48 * HOUR + 1 }), 'more than 48 hours ahead'],
    ['a next update that is none', table({ nextUpdateAt: NaN }), 'nextUpdateAt is not a time'],
    ['a late next update', table({ nextUpdateAt: LAST_INSTANT + 1 }), 'nextUpdateAt is not a time'],
    ['a list of held back rates', table({ unconfirmed: [7] }), 'the unconfirmed rates are not an'],
  ])('is refused: %s', (_what, answer, message) => {
    expectRejected(() => validateTable(answer, NOW), message)
  })

  it('has rates from 1e-100 to 1e+100', () => {
    const rates = { USD: 1, AAA: 1e-100, AAB: 1e100 }
    expect([...accepted({ rates }).rates]).toEqual(Object.entries(rates))
    const beyond = Object.fromEntries(codes(6).map((code) => [code, 1.1e100]))
    expect(() => accepted({ rates: { USD: 1, ...beyond } })).toThrow(
      /^6 of 7 rates are not numbers from 1e-100 to 1e\+100: AAA, AAB, AAC, AAD, AAE$/,
    )
  })

  it.each([0, YEAR - 1_000, 1_000 - YEAR])(
    'has its time in seconds where that is, as such, %d ms from the clock',
    (offset) => {
      const updatedAt = (NOW + offset) / 1_000
      expect(() => accepted({ updatedAt })).toThrow('in seconds, not in ms')
    },
  )

  it.each([YEAR, -YEAR])('has its time in ms where that is %d ms from the clock', (offset) => {
    const updatedAt = (NOW + offset) / 1_000
    expect(accepted({ updatedAt }).updatedAt).toBe(updatedAt)
  })

  it('has its time in ms on a clock up to 1973', () => {
    expect(accepted({ updatedAt: 7 }, 7_000).updatedAt).toBe(7)
    const updatedAt = 100_000_000
    expect(accepted({ updatedAt }, 1_000 * updatedAt).updatedAt).toBe(updatedAt)
    expect(() => accepted({ updatedAt }, 1_000 * updatedAt + 1)).toThrow('in seconds')
  })

  it('keeps the rates that were held back, as far as they are rates', () => {
    const unconfirmed = { AAA: 7, aab: 8, AAC: '9', AAD: -1, AAE: 1e-100 }
    expect(accepted({ unconfirmed }).unconfirmed).toEqual({ AAA: 7, AAE: 1e-100 })
    for (const none of [undefined, null, {}, { AAA: 0 }]) {
      expect(accepted({ unconfirmed: none })).not.toHaveProperty('unconfirmed')
    }
  })

  it('is corrected where it contradicts the law', () => {
    const { data, corrections } = validateTable(withRates({ EUR: 0.85, HRK: 64 }), NOW)
    expect(corrections).toEqual([{ code: 'HRK', published: 64, corrected: 6.404325 }])
    expect(data.rates.get('HRK')).toBe(6.404325)
  })
})

describe('a history', () => {
  const days = (...dates: string[]): { date: string; rates: Record<string, unknown> }[] =>
    dates.map((date, index) => ({ date, rates: { USD: index + 1, GBP: 2 } }))
  const accept = (listed: unknown): ReturnType<typeof validateHistory> =>
    validateHistory({ base: 'EUR', days: listed }, NOW)

  it('is sorted, and of two rows for one day the later one counts', () => {
    const { data, dropped } = accept(days('2026-11-19', '2026-11-18', '2026-11-19'))
    expect(dropped).toEqual(['2026-11-19'])
    expect(data.dates).toEqual(['2026-11-18', '2026-11-19'])
    expect([...(data.columns.get('USD') ?? [])]).toEqual([2, 3])
  })

  it('has NaN where a day lacks a rate', () => {
    const [first] = days('2026-11-18')
    const { data } = accept([first, { date: '2026-11-19', rates: { GBP: 2 } }])
    expect([...(data.columns.get('USD') ?? [])]).toEqual([1, NaN])
  })

  it('loses days that are invalid or lie more than two days ahead', () => {
    const bad = ['2026-1-5', '20260105', '2026-02-30', '__proto__', '', '2026-11-23', '2099-01-01']
    const { data, dropped } = accept(days('2026-11-22', ...bad))
    expect(data.dates).toEqual(['2026-11-22'])
    expect(dropped).toEqual(bad)
  })

  it('loses one bad rate in twenty at most', () => {
    const good = days(...Array.from({ length: 10 }, (_, index) => `2026-11-${10 + index}`))
    const [first] = good
    if (first) first.rates = { USD: null, GBP: 2 }
    expect(accept(good).dropped).toEqual(['2026-11-10 USD'])
    expect(() => accept(good.slice(0, 9))).toThrow('1 of 18 rates')
  })

  it('needs no base in its days, but none quoted at anything else than 1', () => {
    const quoted = (rate: number): unknown =>
      accept([{ date: '2026-11-19', rates: { USD: 1.1, EUR: rate, GBP: 0.88 } }]).data
    expect(quoted(1)).toMatchObject({
      columns: new Map([
        ['USD', Float64Array.of(1.1)],
        ['GBP', Float64Array.of(0.88)],
      ]),
    })
    expect(() => quoted(1.1)).toThrow('not quoted at 1')
  })

  it('may have no day', () => {
    expect(accept([]).data.dates).toEqual([])
  })

  it('loses keys that are not codes and days without rates', () => {
    const { data, dropped } = accept([
      { date: '2026-11-18', rates: {} },
      { date: '2026-11-19', rates: { usd: 1.1, GBP: 0.88 } },
      { date: 20_261_120, rates: { USD: 1.1 } },
      { date: ['2026-11-20'], rates: { USD: 1.1 } },
    ])
    expect(data.dates).toEqual(['2026-11-19'])
    expect([...data.columns.keys()]).toEqual(['GBP'])
    expect(dropped).toEqual(['2026-11-19 usd', '20261120', '2026-11-20'])
  })

  it.each([
    ['nothing', undefined, 'the answer is not an object'],
    ['no base', { days: [] }, 'the base is not a currency code'],
    ['no days', { base: 'EUR' }, 'the days are not a list'],
    ['days that are no list', { base: 'EUR', days: {} }, 'the days are not a list'],
    ['a day that is none', { base: 'EUR', days: [null] }, 'a day is not an object'],
    ['only unusable days', { base: 'EUR', days: days('yesterday') }, 'there is no usable day'],
    [
      'a list of rates',
      { base: 'EUR', days: [{ date: '2026-11-19', rates: [1] }] },
      'the rates are not an object',
    ],
  ])('is refused: %s', (_what, answer, message) => {
    expectRejected(() => validateHistory(answer, NOW), message)
  })
})
