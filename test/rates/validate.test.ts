import { describe, expect, it } from 'vitest'

import { validateHistory, validateTable } from '../../src/rates/validate.ts'
import { codes } from '../fixtures/codes.ts'

const NOW = Date.UTC(2026, 10, 20, 18)
const HOUR = 3_600_000
const YEAR = 366 * 24 * HOUR

const LAST_INSTANT = 8_640_000_000_000_000

const TIMES = { updatedAt: NOW - HOUR, nextUpdateAt: NOW + HOUR }

/** Returns a good table of `count` codes, AAA, AAB, …, and the base, with `changes` in its fields. */
function table(changes: object = {}, count = 39): Record<string, unknown> {
  const quoted = codes(count).map((code, index) => [code, index + 1])
  return { base: 'USD', ...TIMES, rates: { USD: 1, ...Object.fromEntries(quoted) }, ...changes }
}

function withRates(rates: object, count?: number): Record<string, unknown> {
  const whole = table({}, count)
  return { ...whole, rates: { ...Object(whole['rates']), ...rates } }
}

const accepted = (changes: object, now = NOW): ReturnType<typeof validateTable>['data'] =>
  validateTable(table(changes), now).data

const NO_RATES = 'the rates are not an object'

function expectRejected(accept: () => unknown, message: string): void {
  const error = { name: 'RejectedError', message: expect.stringContaining(message) }
  expect(accept).toThrow(expect.objectContaining(error))
}

describe('a table', () => {
  it('keeps its order, its digits and its times, and gets a missing base before all others', () => {
    const rates = { EUR: 0.8512, USD: 1, AED: 3.6725 }
    const { data, dropped } = validateTable(table({ rates }), NOW)
    expect([...data.rates]).toEqual(Object.entries(rates))
    expect([data, dropped]).toMatchObject([{ base: 'USD', ...TIMES }, []])
    const withBase = Object.entries({ USD: 1, EUR: 0.85 })
    expect([...accepted({ rates: { EUR: 0.85 } }).rates]).toEqual(withBase)
  })

  it.each([1.0001, 0, 100, null, '1'])('is rejected with its base quoted at %j', (rate) => {
    expect(() => validateTable(withRates({ USD: rate }), NOW)).toThrow(/base must be 1$/)
  })

  const NO_RATE = [0, -0.86, NaN, Infinity, 1e300, 5e-324, '0.86', null, true, {}, []]

  it.each(NO_RATE)('drops a rate of %j if at most one in twenty is invalid', (rate) => {
    const { data, dropped } = validateTable(withRates({ AAA: rate }), NOW)
    expect([dropped, data.rates.has('AAA'), data.rates.size]).toEqual([['AAA'], false, 39])
    expect(data.rates.get('AAB')).toBe(2)
    const message = '1 of 19 rates are not numbers from 1e-100 to 1e+100: AAA'
    expect(() => validateTable(withRates({ AAA: rate }, 18), NOW)).toThrow(message)
  })

  it('drops keys that are not codes, which are not counted as invalid', () => {
    const bad = ['eur', '__proto__', 'toString', 'USDT', '', 'ÄÖÜ', '@AA', 'AA[', 'US ']
    const entries = bad.map((key) => `${JSON.stringify(key)}:2`)
    const rates: unknown = JSON.parse(`{"EUR":0.85,${entries.join()}}`)
    const { data, dropped } = validateTable(table({ rates }), NOW)
    expect([[...data.rates.keys()], dropped]).toEqual([['USD', 'EUR'], bad])
  })

  it.each([
    ['a day later if absent', undefined, NOW + 23 * HOUR],
    ['before the last one', 0, 0],
    ['eight days later', NOW + 191 * HOUR, NOW + 191 * HOUR],
    ['eight days later if announced a ms later', NOW + 191 * HOUR + 1, NOW + 191 * HOUR],
    ['eight days later if announced for the last instant', LAST_INSTANT, NOW + 191 * HOUR],
  ])('has its next update %s', (_when, nextUpdateAt, expected) => {
    expect(accepted({ nextUpdateAt }).nextUpdateAt).toBe(expected)
  })

  it.each([
    ['any age', 0, NOW],
    ['two days ahead', NOW + 48 * HOUR, NOW],
    // Times that could be seconds are those of about this year.
    ['a year after 1970 in seconds', (NOW + YEAR) / 1_000, NOW],
    ['a year before now in seconds', (NOW - YEAR) / 1_000, NOW],
    ['any, on a clock in 1970', 7, 7_000],
    ['any, on a clock in 1973', 100_000_000, 100_000_000_000],
  ])('may be published at a time of %s', (_what, updatedAt, now) => {
    expect(accepted({ updatedAt }, now).updatedAt).toBe(updatedAt)
  })

  it.each([
    [NOW / 1_000, NOW],
    [(NOW + YEAR) / 1_000 - 1, NOW],
    [(NOW - YEAR) / 1_000 + 1, NOW],
    [100_000_000, 100_000_000_001],
  ])('is rejected with a time in seconds: %d at %d', (updatedAt, now) => {
    expect(() => accepted({ updatedAt }, now)).toThrow('in seconds, not in ms')
  })

  const NO_TIME = 'updatedAt must be an integer, ms since 1970, got undefined'
  const AHEAD = '48 hours ahead of the clock, got 2026-11-22T18:00:00.001Z'
  const LOWER_CASE = 'upper-case codes, got only the base, and 2 invalid codes, some in lower case'

  it.each([
    ['nothing', undefined, 'the response is not an object'],
    ['null', null, 'the response is not an object'],
    ['a text', '{}', 'the response is not an object'],
    ['a list', [], 'the response is not an object'],
    ['no base', table({ base: undefined }), 'base must be three capital letters'],
    ['a base in lower case', table({ base: 'usd' }), 'base must be three capital letters'],
    ['no rates', table({ rates: undefined }), NO_RATES],
    ['a list of rates', table({ rates: [1, 2] }), NO_RATES],
    ['empty rates', table({ rates: {} }), 'got only the base'],
    ['only the base', table({ rates: { USD: 1 } }), 'got only the base'],
    ['keys in lower case', table({ rates: { eur: 0.8, gbp: 0.7 } }), LOWER_CASE],
    ['no time', table({ updatedAt: undefined }), NO_TIME],
    ['a time as text', table({ updatedAt: '2026-11-20' }), 'got string'],
    ['a time in fractions of a ms', table({ updatedAt: 1.5 }), 'got 1.5'],
    ['a time before 1970', table({ updatedAt: -1 }), 'got -1'],
    ['a time that no Date holds', table({ updatedAt: 1e18 }), 'got 1000000000000000000'],
    ['a time ahead', table({ updatedAt: NOW + 48 * HOUR + 1 }), AHEAD],
    ['a next update that is NaN', table({ nextUpdateAt: NaN }), 'nextUpdateAt must be an integer'],
    ['a late next update', table({ nextUpdateAt: LAST_INSTANT + 1 }), 'nextUpdateAt must be'],
    ['unconfirmed rates as list', table({ unconfirmed: [7] }), 'the unconfirmed rates are not an'],
  ])('is rejected: %s', (_what, response, message) => {
    expectRejected(() => validateTable(response, NOW), message)
  })

  it('has rates from 1e-100 to 1e+100', () => {
    const rates = { USD: 1, AAA: 1e-100, AAB: 1e100 }
    expect([...accepted({ rates }).rates]).toEqual(Object.entries(rates))
    const beyond = Object.fromEntries(codes(6).map((code) => [code, 1.1e100]))
    expect(() => accepted({ rates: { USD: 1, ...beyond } })).toThrow(
      /^6 of 7 rates are not numbers from 1e-100 to 1e\+100: AAA, AAB, AAC, AAD, AAE$/,
    )
  })

  it('keeps quarantined rates that are valid, and does not count those without a good one as bad', () => {
    const rates = { AAA: 1, AAB: NaN, AAC: NaN, AAD: 4 }
    const doubtful = { rate: 7, publications: 1 }
    const both = table({ base: 'AAA', rates, unconfirmed: { AAB: doubtful, AAC: doubtful } })
    const { data, dropped } = validateTable(both, NOW)
    expect([[...data.rates.keys()], dropped]).toEqual([['AAA', 'AAD'], []])
    expect(data.unavailable).toEqual(['AAB', 'AAC'])
    const one = { ...both, unconfirmed: { AAB: doubtful } }
    expect(() => validateTable(one, NOW)).toThrow('1 of 3 rates')
    const AAA = { rate: 7, publications: 2, good: 1e-100 }
    const AAB = { rate: 1e-100, publications: 1 }
    const wrong = {
      aac: AAA,
      AAD: 7,
      AAE: { rate: '9', publications: 1 },
      AAF: { ...AAA, good: -1 },
      AAG: { rate: 7 },
      AAH: { rate: 7, publications: 0.5 },
    }
    expect(accepted({ unconfirmed: { AAA, AAB, ...wrong } }).unconfirmed).toEqual({ AAA, AAB })
    for (const none of [undefined, null, {}, { AAA: { rate: 0 } }])
      expect(accepted({ unconfirmed: none })).not.toHaveProperty('unconfirmed')
  })

  it('gets the legally fixed rates, where it is checked', () => {
    const received = withRates({ EUR: 0.85, HRK: 64 })
    const context = { previous: undefined, seenCodes: [], maxStale: Infinity }
    const { data, corrections } = validateTable(received, NOW, { ...context, isChecked: true })
    expect(corrections).toEqual([{ code: 'HRK', published: 64, corrected: 6.404325 }])
    expect(data.rates.get('HRK')).toBe(6.404325)
    expect(validateTable(received, NOW, context).data.rates.get('HRK')).toBe(64)
  })
})

describe('a history', () => {
  type Days = { date: unknown; rates: Record<string, unknown> }[]

  const days = (...dates: string[]): Days =>
    dates.map((date, index) => ({ date, rates: { USD: index + 1, GBP: 2 } }))
  const accept = (listed: Days) => {
    const { data, dropped } = validateHistory({ base: 'EUR', days: listed }, NOW)
    const columns = Array.from(data.columns, ([code, column]) => [code, [...column]])
    return { dates: data.dates, columns: Object.fromEntries(columns), dropped }
  }

  it('is sorted, with the later one of two rows for a day, and may be empty', () => {
    expect(accept(days('2026-11-19', '2026-11-18', '2026-11-19'))).toEqual({
      dates: ['2026-11-18', '2026-11-19'],
      columns: { USD: [2, 3], GBP: [2, 2] },
      dropped: ['2026-11-19'],
    })
    expect(accept([]).dates).toEqual([])
  })

  it('has NaN for a missing rate, needs no base in its days, and accepts it only at 1', () => {
    const of = (EUR: number): Days => [
      { date: '2026-11-18', rates: { USD: 1.1, EUR } },
      { date: '2026-11-19', rates: { GBP: 0.88 } },
    ]
    expect(accept(of(1)).columns).toEqual({ USD: [1.1, NaN], GBP: [NaN, 0.88] })
    expect(() => accept(of(1.1))).toThrow(/base must be 1$/)
  })

  it('drops days that are invalid, more than a week ahead or without rates, and other keys', () => {
    const bad = ['2026-1-5', '20260105', '2026-02-30', '__proto__', '', '2026-11-28', '2099-01-01']
    const { dates, dropped } = accept(days('2026-11-27', ...bad))
    expect([dates, dropped]).toEqual([['2026-11-27'], bad])
    const rates = { USD: 1.1 }
    const odd = accept([
      { date: '2026-11-18', rates: {} },
      { date: '2026-11-19', rates: { usd: 1.1, GBP: 0.88 } },
      { date: 20_261_120, rates },
      { date: ['2026-11-20'], rates },
    ])
    expect([odd.dates, odd.columns]).toEqual([['2026-11-19'], { GBP: [0.88] }])
    expect(odd.dropped).toEqual(['2026-11-19 usd', '20261120', '2026-11-20'])
  })

  it('drops at most one invalid rate in twenty', () => {
    const dates = Array.from({ length: 10 }, (_, index) => `2026-11-${10 + index}`)
    const [first, ...others] = days(...dates)
    const good = [{ date: first?.date, rates: { USD: null, GBP: 2 } }, ...others]
    expect(accept(good).dropped).toEqual(['2026-11-10 USD'])
    expect(() => accept(good.slice(0, 9))).toThrow('1 of 18 rates')
  })

  it.each([
    ['nothing', undefined, 'the response is not an object'],
    ['no base', { days: [] }, 'base must be three capital letters'],
    ['no days', { base: 'EUR' }, 'days must be an array'],
    ['an object of days', { base: 'EUR', days: {} }, 'days must be an array'],
    ['a day that is null', { base: 'EUR', days: [null] }, 'a day is not an object'],
    ['only unusable days', { base: 'EUR', days: days('yesterday') }, '0 of 1 days are valid'],
    ['a list of rates', { base: 'EUR', days: [{ date: '2026-11-19', rates: [1] }] }, NO_RATES],
  ])('is rejected: %s', (_what, response, message) => {
    expectRejected(() => validateHistory(response, NOW), message)
  })
})
