import { describe, expect, it } from 'vitest'

import { acceptHistory, acceptTable } from '../../src/rates/accept.ts'
import { RejectedError } from '../../src/rates/rejected-error.ts'
import { codes } from '../fixtures/codes.ts'

const NOW = Date.UTC(2026, 10, 20, 18)
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** The last one that a `Date` holds. */
const LAST_INSTANT = 8_640_000_000_000_000

/** A good table of `count` codes, AAA, AAB, …, and the base, with `changes` in its fields. */
function table(changes: object = {}, count = 39): Record<string, unknown> {
  const quoted = codes(count).map((code, index) => [code, index + 1])
  const rates = { USD: 1, ...Object.fromEntries(quoted) }
  return { base: 'USD', updatedAt: NOW - HOUR, nextUpdateAt: NOW + HOUR, rates, ...changes }
}

function withRates(rates: object, count?: number): Record<string, unknown> {
  const whole = table({}, count)
  return { ...whole, rates: { ...Object(whole['rates']), ...rates } }
}

describe('acceptTable()', () => {
  it('keeps the order, the digits and the times of a good table', () => {
    const rates = { EUR: 0.8512, USD: 1, AED: 3.6725 }
    const { data, dropped } = acceptTable(table({ rates }), NOW)
    expect([...data.rates]).toEqual(Object.entries(rates))
    expect(data).toMatchObject({ base: 'USD', updatedAt: NOW - HOUR, nextUpdateAt: NOW + HOUR })
    expect(dropped).toEqual([])
  })

  it('inserts a base that is absent from its own table, before all others', () => {
    const { data } = acceptTable(table({ rates: { EUR: 0.85 } }), NOW)
    expect([...data.rates]).toEqual([
      ['USD', 1],
      ['EUR', 0.85],
    ])
  })

  it.each([1.0001, 0, 100, null, '1'])('refuses a base quoted at %j', (rate) => {
    expect(() => acceptTable(withRates({ USD: rate }), NOW)).toThrow('not quoted at 1')
  })

  it.each([0, -0.86, NaN, Infinity, 1e300, 5e-324, '0.86', null, true, {}, []])(
    'drops a code whose rate is %j, where it is one in twenty at most',
    (rate) => {
      const { data, dropped } = acceptTable(withRates({ AAA: rate }), NOW)
      expect(dropped).toEqual(['AAA'])
      expect(data.rates.has('AAA')).toBe(false)
      expect(data.rates.size).toBe(39)
      expect(data.rates.get('AAB')).toBe(2)
      expect(() => acceptTable(withRates({ AAA: rate }, 18), NOW)).toThrow(
        '1 of 19 rates are not numbers from 1e-100 to 1e+100: AAA',
      )
    },
  )

  it('leaves keys that are no codes behind without counting them', () => {
    const rates: unknown = JSON.parse(
      '{"EUR":0.85,"eur":1,"__proto__":2,"toString":3,"USDT":1,"":4,"ÄÖÜ":5}',
    )
    const { data, dropped } = acceptTable(table({ rates }), NOW)
    expect([...data.rates.keys()]).toEqual(['USD', 'EUR'])
    expect(dropped).toEqual(['eur', '__proto__', 'toString', 'USDT', '', 'ÄÖÜ'])
  })

  it('takes the next update for a day later where it is absent', () => {
    const { data } = acceptTable(table({ nextUpdateAt: undefined }), NOW)
    expect(data.nextUpdateAt).toBe(data.updatedAt + 24 * HOUR)
  })

  it('takes a next update before the last one as it comes', () => {
    expect(acceptTable(table({ nextUpdateAt: 0 }), NOW).data.nextUpdateAt).toBe(0)
  })

  it('says what is wrong with keys and times that are nearly right', () => {
    expect(() => acceptTable(table({ rates: { eur: 0.85, gbp: 0.74 } }), NOW)).toThrow(
      'there are no rates by upper-case codes beside the base, only eur, gbp',
    )
    const updatedAt = Math.floor(NOW / 1_000)
    expect(() => acceptTable(table({ updatedAt }), NOW)).toThrow('in seconds, not in ms')
    expect(acceptTable(table({ updatedAt: 7 }), 7_000).data.updatedAt).toBe(7)
  })

  it('accepts any age, and a clock that is two days behind', () => {
    expect(acceptTable(table({ updatedAt: 0 }), NOW).data.updatedAt).toBe(0)
    expect(acceptTable(table({ updatedAt: NOW + 48 * HOUR }), NOW).data.updatedAt).toBeGreaterThan(
      NOW,
    )
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
    ['only keys in lower case', table({ rates: { eur: 0.85 } }), 'beside the base, only eur'],
    [
      'a time more than two days ahead',
      table({ updatedAt: NOW + 48 * HOUR + 1 }),
      'updatedAt is more than 48 hours ahead',
    ],
    [
      'a next update that is none',
      table({ nextUpdateAt: NaN }),
      'nextUpdateAt is not a time in ms',
    ],
    [
      'a next update that no Date holds',
      table({ nextUpdateAt: LAST_INSTANT + 1 }),
      'nextUpdateAt is not a time in ms',
    ],
    ['a list of held back rates', table({ unconfirmed: [7] }), 'the unconfirmed rates are not an'],
  ])('refuses %s', (_what, answer, message) => {
    expect(() => acceptTable(answer, NOW)).toThrow(RejectedError)
    expect(() => acceptTable(answer, NOW)).toThrow(
      expect.objectContaining({ name: 'RejectedError', message: expect.stringContaining(message) }),
    )
  })

  it('accepts a next update at the last instant that there is', () => {
    const { data } = acceptTable(table({ nextUpdateAt: LAST_INSTANT }), NOW)
    expect(data.nextUpdateAt).toBe(LAST_INSTANT)
  })

  it('accepts rates from 1e-100 to 1e+100', () => {
    const rates = { USD: 1, AAA: 1e-100, AAB: 1e100 }
    expect([...acceptTable(table({ rates }), NOW).data.rates]).toEqual(Object.entries(rates))
    const beyond = Object.fromEntries(codes(6).map((code) => [code, 1.1e100]))
    expect(() => acceptTable(table({ rates: { USD: 1, ...beyond } }), NOW)).toThrow(
      /^6 of 7 rates are not numbers from 1e-100 to 1e\+100: AAA, AAB, AAC, AAD, AAE$/,
    )
  })

  it.each([
    ['nearly a year later', 366 * DAY - 1_000],
    ['nearly a year earlier', 1_000 - 366 * DAY],
  ])('takes for seconds what would be, as such, %s than the clock', (_when, offset) => {
    const answer = table({ updatedAt: (NOW + offset) / 1_000 })
    expect(() => acceptTable(answer, NOW)).toThrow('in seconds, not in ms')
  })

  it.each([366 * DAY, -366 * DAY])(
    'takes it for ms where that is %d ms from the clock',
    (offset) => {
      const updatedAt = (NOW + offset) / 1_000
      expect(acceptTable(table({ updatedAt }), NOW).data.updatedAt).toBe(updatedAt)
    },
  )

  it('cannot tell seconds from ms on a clock up to 1973', () => {
    const updatedAt = 100_000_000
    expect(acceptTable(table({ updatedAt }), 1_000 * updatedAt).data.updatedAt).toBe(updatedAt)
    expect(() => acceptTable(table({ updatedAt }), 1_000 * updatedAt + 1)).toThrow('in seconds')
  })

  it('keeps the rates that were held back, as far as they are rates', () => {
    const held = (unconfirmed: unknown): unknown =>
      acceptTable(table({ unconfirmed }), NOW).data.unconfirmed
    expect(held({ AAA: 7, aab: 8, AAC: '9', AAD: -1, AAE: 1e-100 })).toEqual({
      AAA: 7,
      AAE: 1e-100,
    })
    for (const none of [undefined, null, {}, { AAA: 0 }]) {
      expect(acceptTable(table({ unconfirmed: none }), NOW).data).not.toHaveProperty('unconfirmed')
    }
  })

  it('corrects what contradicts the law, and tells of it', () => {
    const { data, corrections } = acceptTable(withRates({ EUR: 0.85, HRK: 64 }), NOW)
    expect(corrections).toEqual([{ code: 'HRK', published: 64, corrected: 6.404325 }])
    expect(data.rates.get('HRK')).toBe(6.404325)
  })
})

describe('acceptHistory()', () => {
  const days = (...dates: string[]): { date: string; rates: Record<string, unknown> }[] =>
    dates.map((date, index) => ({ date, rates: { USD: index + 1, GBP: 2 } }))

  it('sorts the days, and of two rows for one day keeps the later and tells', () => {
    const answer = { base: 'EUR', days: days('2026-11-19', '2026-11-18', '2026-11-19') }
    const { data, dropped } = acceptHistory(answer, NOW)
    expect(dropped).toEqual(['2026-11-19'])
    expect(data.dates).toEqual(['2026-11-18', '2026-11-19'])
    expect([...(data.columns.get('USD') ?? [])]).toEqual([2, 3])
  })

  it('marks what a day lacks', () => {
    const [first, second] = days('2026-11-18', '2026-11-19')
    const lacking = { base: 'EUR', days: [first, { ...second, rates: { GBP: 2 } }] }
    const { data } = acceptHistory(lacking, NOW)
    expect([...(data.columns.get('USD') ?? [])]).toEqual([1, NaN])
  })

  it('drops days that are none or lie more than two days ahead', () => {
    const bad = ['2026-1-5', '20260105', '2026-02-30', '__proto__', '', '2026-11-23', '2099-01-01']
    const { data, dropped } = acceptHistory({ base: 'EUR', days: days('2026-11-19', ...bad) }, NOW)
    expect(data.dates).toEqual(['2026-11-19'])
    expect(dropped).toEqual(bad)
  })

  it('drops one bad rate in twenty at most', () => {
    const good = days(...Array.from({ length: 10 }, (_, index) => `2026-11-${10 + index}`))
    const [first] = good
    if (first) first.rates = { USD: null, GBP: 2 }
    expect(acceptHistory({ base: 'EUR', days: good }, NOW).dropped).toEqual(['2026-11-10 USD'])
    expect(() => acceptHistory({ base: 'EUR', days: good.slice(0, 9) }, NOW)).toThrow(
      '1 of 18 rates',
    )
  })

  it('needs no base in its days, but none quoted at anything else than 1', () => {
    const quoted = (rate: number): object => ({
      base: 'EUR',
      days: [{ date: '2026-11-19', rates: { EUR: rate, USD: 1.1 } }],
    })
    expect([...acceptHistory(quoted(1), NOW).data.columns.keys()]).toEqual(['USD'])
    expect(() => acceptHistory(quoted(1.1), NOW)).toThrow('not quoted at 1')
  })

  it('accepts that there is no day', () => {
    expect(acceptHistory({ base: 'EUR', days: [] }, NOW).data.dates).toEqual([])
  })

  it('reads days up to two days ahead', () => {
    const { data } = acceptHistory({ base: 'EUR', days: days('2026-11-22') }, NOW)
    expect(data.dates).toEqual(['2026-11-22'])
  })

  it('leaves keys that are no codes and days without rates behind', () => {
    const answer = {
      base: 'EUR',
      days: [
        { date: '2026-11-18', rates: {} },
        { date: '2026-11-19', rates: { usd: 1.1, GBP: 0.88 } },
        { date: 20_261_120, rates: { USD: 1.1 } },
        { date: ['2026-11-20'], rates: { USD: 1.1 } },
      ],
    }
    const { data, dropped } = acceptHistory(answer, NOW)
    expect(data.dates).toEqual(['2026-11-19'])
    expect([...data.columns.keys()]).toEqual(['GBP'])
    expect(dropped).toEqual(['2026-11-19 usd', '20261120', '2026-11-20'])
  })

  it('leaves the base out, wherever it stands among the others', () => {
    const quoted = [{ date: '2026-11-19', rates: { USD: 1.1, EUR: 1, GBP: 0.88 } }]
    const { data } = acceptHistory({ base: 'EUR', days: quoted }, NOW)
    expect(data.columns).toEqual(
      new Map([
        ['USD', Float64Array.of(1.1)],
        ['GBP', Float64Array.of(0.88)],
      ]),
    )
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
  ])('refuses %s', (_what, answer, message) => {
    expect(() => acceptHistory(answer, NOW)).toThrow(RejectedError)
    expect(() => acceptHistory(answer, NOW)).toThrow(message)
  })
})
