import { describe, expect, it } from 'vitest'

import { createExchangeRateApiProvider } from '../../src/index.ts'
import type { LatestTable } from '../../src/index.ts'
import { codes } from '../fixtures/codes.ts'

const DAY = 86_400_000
const PUBLISHED = Date.UTC(2026, 10, 20)

const provider = createExchangeRateApiProvider()

/** What the provider makes of a table, such as one out of a store, after another. */
function judge(table: LatestTable, previous: LatestTable | undefined): LatestTable {
  const judged = provider.judge?.(table, previous)
  if (!judged) throw new Error('the provider does not judge its tables')
  return judged
}

/** A table of `count` codes, all at 2 but for `rates`. */
function table(rates: Record<string, number> = {}, count = 100, day = 0): LatestTable {
  const updatedAt = PUBLISHED + day * DAY
  const same = Object.fromEntries(codes(count - 1).map((code) => [code, 2]))
  return {
    base: 'USD',
    updatedAt,
    nextUpdateAt: updatedAt + DAY,
    rates: { USD: 1, ...same, ...rates },
  }
}

const tomorrow = (rates: Record<string, number>): LatestTable => table(rates, 100, 1)

/** Rates from outside need not be of their type. */
const BAD: Record<string, number> = JSON.parse('{ "AAC": null, "AAD": "0.01", "AAE": true }')

/** `count` codes at `rate`. */
function moved(count: number, rate: number): Record<string, number> {
  return Object.fromEntries(codes(count).map((code) => [code, rate]))
}

describe('judge() of a provider of markets', () => {
  it('returns a market unchanged', () => {
    expect(judge(table(), undefined)).toEqual(table())
    expect(judge(tomorrow(moved(99, 2.2)), table())).toEqual(tomorrow(moved(99, 2.2)))
  })

  it.each([
    [20, 19],
    [1_000, 1_001],
  ])('accepts %d codes and rejects %d', (accepted, rejected) => {
    expect(judge(table({}, accepted), undefined)).toEqual(table({}, accepted))
    const call = () => judge(table({}, rejected), undefined)
    expect(call).toThrow(`${rejected} codes are not a market`)
  })

  it('counts only keys in the form of a code', () => {
    const odd = { ...table({}, 19), rates: { ...table({}, 19).rates, usd: 1, constructor: 1 } }
    expect(() => judge(odd, undefined)).toThrow('19 codes are not a market')
  })

  it('rejects a table that lost more than a fifth of its codes', () => {
    expect(judge(table({}, 80, 1), table())).toEqual(table({}, 80, 1))
    expect(() => judge(table({}, 79, 1), table())).toThrow('79 codes are left of 100')
  })

  it.each([2.5, 1.6, 0.5, 8])('rejects a table of which more than half moved to %d', (rate) => {
    expect(judge(tomorrow(moved(49, rate)), table()).rates).toMatchObject(moved(49, rate))
    expect(() => judge(tomorrow(moved(50, rate)), table())).toThrow(
      '50 of 99 rates moved by more than 20 %',
    )
  })

  it.each([20.1, 0.199, 2_000])('holds back a single rate that moved to %d', (rate) => {
    const judged = judge(tomorrow({ AAC: rate }), table())
    expect(judged).toEqual({ ...tomorrow({ AAC: 2 }), unconfirmed: { AAC: rate } })
  })

  it('goes on holding a rate back until a later publication', () => {
    const held = judge(tomorrow({ AAC: 200 }), table())
    expect(judge(tomorrow({ AAC: 200 }), held)).toEqual(held)
  })

  // From half of the rate held back to twice of it.
  it.each([100, 210, 400])('takes a later %d for a confirmation of 200', (rate) => {
    const held = judge(tomorrow({ AAC: 200 }), table())
    const next = table({ AAC: rate }, 100, 2)
    expect(judge(next, held)).toEqual(next)
  })

  it.each([
    ['another slip', 4_000, 2],
    ['the old value', 2.1, 2.1],
  ])('does not take %s for a confirmation', (_what, rate, served) => {
    const held = judge(tomorrow({ AAC: 200 }), table())
    const next = judge(table({ AAC: rate }, 100, 2), held)
    expect(next.rates['AAC']).toBe(served)
    expect(next.unconfirmed?.['AAC']).toBe(served === rate ? undefined : rate)
  })

  it('accepts moves up to its limits', () => {
    for (const next of [tomorrow(moved(99, 2.4)), tomorrow({ AAC: 20, AAD: 0.2 })]) {
      expect(judge(next, table())).toEqual(next)
    }
    const half = table(moved(50, 8), 101, 1)
    expect(judge(half, table({}, 101))).toEqual(half)
  })

  it('holds a second rate back beside the first one', () => {
    const held = { ...tomorrow({ AAC: 200 }), unconfirmed: { AAD: 300 } }
    const unconfirmed = { AAC: 200, AAD: 300 }
    expect(judge(held, table())).toEqual({ ...tomorrow({}), unconfirmed })
  })

  it('accepts new and lost codes', () => {
    const next = table({ ZZZ: 5_000 }, 99, 1)
    expect(judge(next, table())).toEqual(next)
  })

  it('compares nothing with a table against another base', () => {
    const next = tomorrow(moved(99, 2_000))
    expect(judge(next, { ...table(), base: 'EUR' })).toEqual(next)
  })

  it('replaces implausible rates with NaN, and leaves values that are not numbers', () => {
    const extremes = { AAF: 1e-9, AAG: 1e9 }
    const odd = { AAA: 1e-10, AAB: 1e10, ...extremes, ...BAD }
    const { rates } = judge(table(odd), undefined)
    expect(rates).toMatchObject({ AAA: NaN, AAB: NaN, ...extremes, ...BAD })
  })

  it('does not hold back values that are not rates: they are dropped later', () => {
    const judged = judge(tomorrow({ AAF: 0, AAG: -2, ...BAD }), table())
    expect(judged.unconfirmed).toBeUndefined()
    expect(judged.rates).toMatchObject({ AAF: NaN, AAG: NaN, ...BAD })
  })

  describe('accepts rates that are fixed by law', () => {
    const lawful = { EUR: 2, BGN: 3.91166 }

    it('however far they are from the table before', () => {
      const wrong = tomorrow({ ...lawful, BGN: 132 })
      expect(judge(wrong, table(lawful))).toEqual(wrong)
      expect(judge(table(lawful), wrong)).toEqual(table(lawful))
    })

    it('also where they were held back before', () => {
      const held = { ...table(lawful), unconfirmed: { BGN: 132 } }
      const next = tomorrow({ ...lawful, BGN: 140 })
      expect(judge(next, held)).toEqual(next)
    })

    it('and does not count them among the rates that moved', () => {
      const half = tomorrow({ ...lawful, BGN: 132, ...moved(50, 2.5) })
      expect(judge(half, table(lawful))).toEqual(half)
      const more = tomorrow({ ...lawful, BGN: 132, ...moved(51, 2.5) })
      expect(() => judge(more, table(lawful))).toThrow('51 of 100 rates moved')
    })

    it.each([
      ['before it was withdrawn', { ...lawful, BGN: 132 }, Date.UTC(2025, 11, 31, 23)],
      ['without its successor', { BGN: 132 }, PUBLISHED],
      ['beside a successor that is no rate', { BGN: 132, EUR: 0 }, PUBLISHED],
    ])('but not %s', (_when, rates, updatedAt) => {
      const previous = { ...table({ BGN: 4 }), updatedAt: updatedAt - DAY }
      const { unconfirmed } = judge({ ...table(rates), updatedAt }, previous)
      expect(unconfirmed).toEqual({ BGN: 132 })
    })
  })

  it('leaves a base that is not 1 to be rejected later', () => {
    expect(judge(tomorrow({ USD: 1_000 }), table()).rates['USD']).toBe(1_000)
  })
})
