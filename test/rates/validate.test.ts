import { describe, expect, it } from 'vitest'

import { validateHistory, validateTable } from '../../src/rates/validate.ts'
import { codes } from '../fixtures/codes.ts'

const NOW = Date.UTC(2026, 10, 20, 18)
const HOUR = 3_600_000
const YEAR = 366 * 24 * HOUR

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

const NO_RATES = 'the rates are not an object'

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

  it('gets a missing base, before all others', () => {
    const { rates } = accepted({ rates: { EUR: 0.85 } })
    expect([...rates]).toEqual(Object.entries({ USD: 1, EUR: 0.85 }))
  })

  it.each([1.0001, 0, 100, null, '1'])('is rejected with its base quoted at %j', (rate) => {
    expect(() => validateTable(withRates({ USD: rate }), NOW)).toThrow(/base must be 1$/)
  })

  const NO_RATE = [0, -0.86, NaN, Infinity, 1e300, 5e-324, '0.86', null, true, {}, []]

  it.each(NO_RATE)('drops a rate of %j if at most one in twenty is invalid', (rate) => {
    const { data, dropped } = validateTable(withRates({ AAA: rate }), NOW)
    expect(dropped).toEqual(['AAA'])
    expect(data.rates.has('AAA')).toBe(false)
    expect(data.rates.size).toBe(39)
    expect(data.rates.get('AAB')).toBe(2)
    expect(() => validateTable(withRates({ AAA: rate }, 18), NOW)).toThrow(
      '1 of 19 rates are not numbers from 1e-100 to 1e+100: AAA',
    )
  })

  it('drops keys that are not codes, which are not counted as invalid', () => {
    const text =
      '{"EUR":0.85,"eur":1,"__proto__":2,"toString":3,"USDT":1,"":4,"ÄÖÜ":5,"@AA":6,"AA[":7,"US ":8}'
    const rates: unknown = JSON.parse(text)
    const { data, dropped } = validateTable(table({ rates }), NOW)
    expect([...data.rates.keys()]).toEqual(['USD', 'EUR'])
    expect(dropped).toEqual([
      'eur',
      '__proto__',
      'toString',
      'USDT',
      '',
      'ÄÖÜ',
      '@AA',
      'AA[',
      'US ',
    ])
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

  it.each([0, NOW + 48 * HOUR])('may be published at %d: any age, or two days ahead', (instant) => {
    expect(accepted({ updatedAt: instant }).updatedAt).toBe(instant)
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
    ['no time', table({ updatedAt: undefined }), NO_TIME],
    ['a time as text', table({ updatedAt: '2026-11-20' }), 'got string'],
    ['a time in fractions of a ms', table({ updatedAt: 1.5 }), 'got 1.5'],
    ['a time before 1970', table({ updatedAt: -1 }), 'got -1'],
    ['a time that no Date holds', table({ updatedAt: 1e18 }), 'got 1000000000000000000'],
    ['a time in seconds', table({ updatedAt: NOW / 1_000 - 86_400 }), 'updatedAt is in seconds'],
    ['keys in lower case', table({ rates: { eur: 0.8, gbp: 0.7 } }), LOWER_CASE],
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

  it.each([0, YEAR - 1_000, 1_000 - YEAR])('has no time in seconds %d ms from now', (offset) => {
    const updatedAt = (NOW + offset) / 1_000
    expect(() => accepted({ updatedAt })).toThrow('in seconds, not in ms')
  })

  it.each([YEAR, -YEAR])('may have a time that would be %d ms from now in seconds', (offset) => {
    const updatedAt = (NOW + offset) / 1_000
    expect(accepted({ updatedAt }).updatedAt).toBe(updatedAt)
  })

  it('is accepted with any time on a clock up to 1973', () => {
    expect(accepted({ updatedAt: 7 }, 7_000).updatedAt).toBe(7)
    const updatedAt = 100_000_000
    expect(accepted({ updatedAt }, 1_000 * updatedAt).updatedAt).toBe(updatedAt)
    expect(() => accepted({ updatedAt }, 1_000 * updatedAt + 1)).toThrow('in seconds')
  })

  it('does not count quarantined rates without a good one as bad', () => {
    const rates = { AAA: 1, AAB: NaN, AAC: NaN, AAD: 4 }
    const AAB = { rate: 7, publications: 1 }
    const both = { ...table({ base: 'AAA', rates }), unconfirmed: { AAB, AAC: AAB } }
    const { data, dropped } = validateTable(both, NOW)
    expect([[...data.rates.keys()], dropped]).toEqual([['AAA', 'AAD'], []])
    expect(data.unavailable).toEqual(['AAB', 'AAC'])
    expect(() => validateTable({ ...both, unconfirmed: { AAB } }, NOW)).toThrow('1 of 3 rates')
  })

  it('keeps quarantined rates that are valid', () => {
    const [AAA, AAB] = [
      { rate: 7, publications: 2, good: 1e-100 },
      { rate: 1e-100, publications: 1 },
    ]
    const wrong = {
      aac: AAA,
      AAD: 7,
      AAE: { rate: '9', publications: 1 },
      AAF: { ...AAA, good: -1 },
    }
    const uncounted = { AAG: { rate: 7 }, AAH: { rate: 7, publications: 0.5 } }
    const unconfirmed = { AAA, AAB, ...wrong, ...uncounted }
    expect(accepted({ unconfirmed }).unconfirmed).toEqual({ AAA, AAB })
    for (const none of [undefined, null, {}, { AAA: { rate: 0 } }]) {
      expect(accepted({ unconfirmed: none })).not.toHaveProperty('unconfirmed')
    }
  })

  it('gets the legally fixed rates', () => {
    const received = withRates({ EUR: 0.85, HRK: 64 })
    const context = { previous: undefined, seenCodes: [], maxStale: Infinity }
    const { data, corrections } = validateTable(received, NOW, { ...context, isChecked: true })
    expect(corrections).toEqual([{ code: 'HRK', published: 64, corrected: 6.404325 }])
    expect(data.rates.get('HRK')).toBe(6.404325)
    expect(validateTable(received, NOW, context).data.rates.get('HRK')).toBe(64)
  })
})

describe('a history', () => {
  const days = (...dates: string[]): { date: string; rates: Record<string, unknown> }[] =>
    dates.map((date, index) => ({ date, rates: { USD: index + 1, GBP: 2 } }))
  const accept = (listed: unknown): ReturnType<typeof validateHistory> =>
    validateHistory({ base: 'EUR', days: listed }, NOW)

  it('is sorted, with the later one of two rows for a day', () => {
    const { data, dropped } = accept(days('2026-11-19', '2026-11-18', '2026-11-19'))
    expect(dropped).toEqual(['2026-11-19'])
    expect(data.dates).toEqual(['2026-11-18', '2026-11-19'])
    expect([...(data.columns.get('USD') ?? [])]).toEqual([2, 3])
  })

  it('has NaN for a missing rate of a day', () => {
    const [first] = days('2026-11-18')
    const { data } = accept([first, { date: '2026-11-19', rates: { GBP: 2 } }])
    expect([...(data.columns.get('USD') ?? [])]).toEqual([1, NaN])
  })

  it('drops days that are invalid or more than a week ahead', () => {
    const bad = ['2026-1-5', '20260105', '2026-02-30', '__proto__', '', '2026-11-28', '2099-01-01']
    const { data, dropped } = accept(days('2026-11-27', ...bad))
    expect(data.dates).toEqual(['2026-11-27'])
    expect(dropped).toEqual(bad)
  })

  it('drops at most one invalid rate in twenty', () => {
    const good = days(...Array.from({ length: 10 }, (_, index) => `2026-11-${10 + index}`))
    const [first] = good
    if (first) first.rates = { USD: null, GBP: 2 }
    expect(accept(good).dropped).toEqual(['2026-11-10 USD'])
    expect(() => accept(good.slice(0, 9))).toThrow('1 of 18 rates')
  })

  it('needs no base in its days, and accepts it only at 1', () => {
    const quoted = (rate: number): unknown =>
      accept([{ date: '2026-11-19', rates: { USD: 1.1, EUR: rate, GBP: 0.88 } }]).data
    const columns = Object.entries({ USD: Float64Array.of(1.1), GBP: Float64Array.of(0.88) })
    expect(quoted(1)).toMatchObject({ columns: new Map(columns) })
    expect(() => quoted(1.1)).toThrow(/base must be 1$/)
  })

  it('may have no day', () => {
    expect(accept([]).data.dates).toEqual([])
  })

  it('drops keys that are not codes and days without rates', () => {
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
