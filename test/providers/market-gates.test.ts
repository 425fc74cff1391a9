import { describe, expect, it } from 'vitest'

import { passMarketGates } from '../../src/providers/market-gates.ts'
import type { LatestTable } from '../../src/providers/provider.ts'
import { codes } from '../fixtures/codes.ts'

const DAY = 86_400_000
const PUBLISHED = Date.UTC(2026, 10, 20)

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

/** What comes from outside need not be what its type says. */
const BAD: Record<string, number> = JSON.parse('{ "AAC": null, "AAD": "0.01", "AAE": true }')

/** `count` codes at `rate`. */
function moved(count: number, rate: number): Record<string, number> {
  return Object.fromEntries(codes(count).map((code) => [code, rate]))
}

describe('the gates of a market', () => {
  it('let a market pass as it is', () => {
    expect(passMarketGates(table(), undefined)).toEqual(table())
    expect(passMarketGates(tomorrow(moved(99, 2.2)), table())).toEqual(tomorrow(moved(99, 2.2)))
  })

  it.each([20, 1_000])('let %d codes pass', (count) => {
    expect(passMarketGates(table({}, count), undefined)).toEqual(table({}, count))
  })

  it.each([19, 1_001])('reject %d codes', (count) => {
    expect(() => passMarketGates(table({}, count), undefined)).toThrow(
      `${count} codes are not a market`,
    )
  })

  it('do not count what is no code', () => {
    const odd = { ...table({}, 19), rates: { ...table({}, 19).rates, usd: 1, constructor: 1 } }
    expect(() => passMarketGates(odd, undefined)).toThrow('19 codes are not a market')
  })

  it('reject a table that lost more than a fifth of its codes', () => {
    expect(passMarketGates(table({}, 80, 1), table())).toEqual(table({}, 80, 1))
    expect(() => passMarketGates(table({}, 79, 1), table())).toThrow('79 codes are left of 100')
  })

  it.each([2.5, 1.6, 0.5, 8])('reject a table of which more than half moved to %d', (rate) => {
    expect(passMarketGates(tomorrow(moved(49, rate)), table()).rates).toMatchObject(moved(49, rate))
    expect(() => passMarketGates(tomorrow(moved(50, rate)), table())).toThrow(
      '50 of 99 rates moved by more than 20 %',
    )
  })

  it.each([20.1, 0.199, 2_000])('hold back a single rate that moved to %d', (rate) => {
    const judged = passMarketGates(tomorrow({ AAC: rate }), table())
    expect(judged).toEqual({ ...tomorrow({ AAC: 2 }), unconfirmed: { AAC: rate } })
  })

  it('serve a rate held back once a later publication confirms it', () => {
    const held = passMarketGates(tomorrow({ AAC: 200 }), table())
    const again = passMarketGates(tomorrow({ AAC: 200 }), held)
    expect(again).toEqual(held)
    const confirmed = passMarketGates(table({ AAC: 210 }, 100, 2), held)
    expect(confirmed).toEqual(table({ AAC: 210 }, 100, 2))
  })

  it.each([
    ['another slip', 4_000, 2],
    ['the old value', 2.1, 2.1],
  ])('do not take %s for a confirmation', (_what, rate, served) => {
    const held = passMarketGates(tomorrow({ AAC: 200 }), table())
    const next = passMarketGates(table({ AAC: rate }, 100, 2), held)
    expect(next.rates['AAC']).toBe(served)
    expect(next.unconfirmed?.['AAC']).toBe(served === rate ? undefined : rate)
  })

  it('let pass what moved as far as it may, and no further', () => {
    const fifth = table(moved(99, 2.4), 100, 1)
    expect(passMarketGates(fifth, table())).toEqual(fifth)
    const half = table(moved(50, 8), 101, 1)
    expect(passMarketGates(half, table({}, 101))).toEqual(half)
    const tenfold = tomorrow({ AAC: 20, AAD: 0.2 })
    expect(passMarketGates(tenfold, table())).toEqual(tenfold)
  })

  it.each([400, 100])('take %d for a confirmation of 200: twice or half of it', (rate) => {
    const held = passMarketGates(tomorrow({ AAC: 200 }), table())
    const next = table({ AAC: rate }, 100, 2)
    expect(passMarketGates(next, held)).toEqual(next)
  })

  it('hold a second rate back beside the first one', () => {
    const held = { ...tomorrow({ AAC: 200 }), unconfirmed: { AAD: 300 } }
    expect(passMarketGates(held, table())).toEqual({
      ...tomorrow({}),
      unconfirmed: { AAC: 200, AAD: 300 },
    })
  })

  it('leave new and lost codes alone', () => {
    const next = table({ ZZZ: 5_000 }, 99, 1)
    expect(passMarketGates(next, table())).toEqual(next)
  })

  it('compare nothing with a table against another base', () => {
    const euros = { ...table(), base: 'EUR' }
    const next = tomorrow(moved(99, 2_000))
    expect(passMarketGates(next, euros)).toEqual(next)
  })

  it('make implausible rates none, and leave what is no number to be judged as it came', () => {
    const extremes = { AAF: 1e-9, AAG: 1e9 }
    const odd = { AAA: 1e-10, AAB: 1e10, ...extremes, ...BAD }
    const { rates } = passMarketGates(table(odd), undefined)
    expect(rates).toMatchObject({ AAA: NaN, AAB: NaN, ...extremes, ...BAD })
  })

  it('do not hold back what is no rate at all: it is for the next gate to drop', () => {
    const judged = passMarketGates(tomorrow({ AAF: 0, AAG: -2, ...BAD }), table())
    expect(judged.unconfirmed).toBeUndefined()
    expect(judged.rates).toMatchObject({ AAF: NaN, AAG: NaN, ...BAD })
  })

  describe('leave to the law what it has fixed', () => {
    const lawful = { EUR: 2, BGN: 3.91166 }

    it('however far it is from the table before', () => {
      const wrong = tomorrow({ ...lawful, BGN: 132 })
      expect(passMarketGates(wrong, table(lawful))).toEqual(wrong)
      expect(passMarketGates(table(lawful), wrong)).toEqual(table(lawful))
    })

    it('also where it was held back before', () => {
      const held = { ...table(lawful), unconfirmed: { BGN: 132 } }
      const next = tomorrow({ ...lawful, BGN: 140 })
      expect(passMarketGates(next, held)).toEqual(next)
    })

    it('and do not take it for a part of the market that moved', () => {
      const half = tomorrow({ ...lawful, BGN: 132, ...moved(50, 2.5) })
      expect(passMarketGates(half, table(lawful))).toEqual(half)
      const more = tomorrow({ ...lawful, BGN: 132, ...moved(51, 2.5) })
      expect(() => passMarketGates(more, table(lawful))).toThrow('51 of 100 rates moved')
    })

    it.each([
      ['before it was withdrawn', { ...lawful, BGN: 132 }, Date.UTC(2025, 11, 31, 23)],
      ['without its successor', { BGN: 132 }, PUBLISHED],
      ['beside a successor that is no rate', { BGN: 132, EUR: 0 }, PUBLISHED],
    ])('but not %s', (_when, rates, updatedAt) => {
      const previous = { ...table({ BGN: 4 }), updatedAt: updatedAt - DAY }
      const { unconfirmed } = passMarketGates({ ...table(rates), updatedAt }, previous)
      expect(unconfirmed).toEqual({ BGN: 132 })
    })
  })

  it('leave a base that is not 1 to be rejected as such', () => {
    expect(passMarketGates(tomorrow({ USD: 1_000 }), table()).rates['USD']).toBe(1_000)
  })
})
