import { describe, expect, it } from 'vitest'

import { createExchangeRateApiProvider } from '../../src/index.ts'
import type { LatestTable, ReferenceTable } from '../../src/index.ts'
import { codes } from '../fixtures/codes.ts'
import { numberRows } from '../fixtures/rows.ts'
import { DAY } from '../virtual-runtime.ts'

const PUBLISHED = Date.UTC(2026, 10, 20)

const provider = createExchangeRateApiProvider()

/** Validates `table`, as loaded from a store, after `previous`. */
function check(table: LatestTable, previous?: LatestTable, references: ReferenceTable[] = []) {
  const checked = provider.validateStored?.(table, previous, references)
  if (!checked) throw new Error('the provider does not validate stored tables')
  return checked
}

/** Creates a table of `count` codes, all at 2 except for `rates`. */
function table(rates: Record<string, number> = {}, count = 100, day = 0): LatestTable {
  const updatedAt = PUBLISHED + day * DAY
  const all = { USD: 1, ...moved(count - 1, 2), ...rates }
  return { base: 'USD', updatedAt, nextUpdateAt: updatedAt + DAY, rates: all }
}

const tomorrow = (rates: Record<string, number>): LatestTable => table(rates, 100, 1)

/** External rates may have wrong types. */
const BAD: Record<string, number> = JSON.parse('{ "AAC": null, "AAD": "0.01", "AAE": true }')

function moved(count: number, rate: number): Record<string, number> {
  return Object.fromEntries(codes(count).map((code) => [code, rate]))
}

describe('validateStored() of a built-in provider', () => {
  it('returns a market unchanged', () => {
    expect(check(table())).toEqual(table())
    expect(check(tomorrow(moved(99, 2.4)), table())).toEqual(tomorrow(moved(99, 2.4)))
  })

  it.each(numberRows('20 19 | 1000 1001'))('accepts %d codes, not %d', (accepted, rejected) => {
    expect(check(table({}, accepted))).toEqual(table({}, accepted))
    const call = () => check(table({}, rejected))
    expect(call).toThrow(`20–1,000 currencies, got ${rejected}`)
  })

  it('counts only keys in the form of a code', () => {
    const few = { ...table({}, 19), rates: { ...table({}, 19).rates, usd: 1, constructor: 1 } }
    expect(() => check(few)).toThrow('20–1,000 currencies, got 19')
  })

  it('rejects a table that lost more than a fifth of its codes', () => {
    expect(check(table({}, 80, 1), table())).toEqual(table({}, 80, 1))
    expect(() => check(table({}, 79, 1), table())).toThrow(/80 % of the 100 .*, got 79$/)
  })

  it.each([2.5, 1.6, 0.5, 8])('rejects a table of which more than a tenth moved to %d', (rate) => {
    expect(check(tomorrow(moved(9, rate)), table()).rates['AAZ']).toBe(2)
    expect(() => check(tomorrow(moved(10, rate)), table())).toThrow(/^10 of 99 rates .*20 %.* 10 %/)
  })

  it('rejects a small table of which four rates moved, not three', () => {
    expect(check(table(moved(3, 5), 20, 1), table({}, 20)).rates).toMatchObject(moved(3, 5))
    expect(() => check(table(moved(4, 5), 20, 1), table({}, 20))).toThrow('4 of 19 rates moved')
  })

  it.each([6.1, 0.65, 2_000])('quarantines a single rate that moved to %d', (rate) => {
    const checked = check(tomorrow({ AAC: rate }), table())
    expect(checked).toEqual({ ...tomorrow({ AAC: 2 }), unconfirmed: { AAC: rate } })
  })

  it('keeps a rate quarantined until a later publication', () => {
    const quarantined = check(tomorrow({ AAC: 200 }), table())
    expect(check(tomorrow({ AAC: 200 }), quarantined)).toEqual(quarantined)
  })

  it.each([167, 210, 240])('accepts a later %d as a confirmation of 200', (rate) => {
    const quarantined = check(tomorrow({ AAC: 200 }), table())
    const next = table({ AAC: rate }, 100, 2)
    expect(check(next, quarantined)).toEqual(next)
  })

  it.each([
    ['another slip', 4_000, 2],
    ['a rate further from it', 250, 2],
    ['the old value', 2.1, 2.1],
  ])('does not accept %s as a confirmation', (_what, rate, served) => {
    const quarantined = check(tomorrow({ AAC: 200 }), table())
    const next = check(table({ AAC: rate }, 100, 2), quarantined)
    expect(next.rates['AAC']).toBe(served)
    expect(next.unconfirmed?.['AAC']).toBe(served === rate ? undefined : rate)
  })

  it('does not confirm a publication that is dated ahead with itself', () => {
    const ahead = check(tomorrow({ AAC: 200 }), table())
    const accepted = { ...ahead, publishedAt: PUBLISHED + 1 }
    expect(check(tomorrow({ AAC: 200 }), accepted).rates['AAC']).toBe(2)
    const next = { ...tomorrow({ AAC: 200 }), updatedAt: PUBLISHED + 2 }
    expect(check(next, accepted).rates['AAC']).toBe(200)
  })

  const REFERENCES = numberRows('9.5 2 | 9.6 10 | 10.4 10 | 10.6 2')

  it.each(REFERENCES)('serves 10 beside %d as %d', (reference, served) => {
    // The same against another base, of which 4 are worth a dollar.
    const rates = new Map([['AAC', reference / 4]])
    const references = [
      { base: 'USD', rates: new Map<string, number>() },
      { base: 'ZZZ', rates: new Map([...rates, ['USD', 1 / 4]]) },
    ]
    expect(check(tomorrow({ AAC: 10 }), table(), references).rates['AAC']).toBe(served)
  })

  describe('compares with other sources', () => {
    const reference = (AAC: number, unconfirmed?: Record<string, number>): ReferenceTable => ({
      base: 'ZZZ',
      rates: new Map(Object.entries({ AAC: AAC / 4, USD: 1 / 4 })),
      unconfirmed,
    })
    /** The rate of the third publication of 200 after 2. */
    const served = (...references: ReferenceTable[]): number | undefined => {
      const second = check(tomorrow({ AAC: 200 }), table(), references)
      return check(table({ AAC: 200 }, 100, 2), second, references).rates['AAC']
    }

    it.each([
      ['contradicts it', [reference(2)], 2],
      ['is nearer than a doubtful move', [reference(70)], 200],
      ['is further than that', [reference(66)], 2],
      ['confirms it', [reference(199)], 200],
      ['confirms it, and another contradicts it', [reference(2), reference(199)], 200],
      ['neither confirms nor contradicts it, and another does', [reference(70), reference(2)], 2],
      ['is quarantined near it', [reference(2, { AAC: 70 / 4 })], 200],
      ['is quarantined as far away', [reference(2, { AAC: 9_000 / 4 })], 2],
      ['has only a quarantined rate', [reference(NaN, { AAC: 2 / 4 })], 200],
    ])('a move that lasts if one %s', (_what, references, rate) => {
      expect(served(...references)).toBe(rate)
    })

    it('a rate that the previous table lacks', () => {
      const next = tomorrow({ ZZZ: 200 })
      const rates = new Map([['ZZZ', 2]])
      const checked = check(next, table(), [{ base: 'USD', rates }])
      expect(checked).toMatchObject({ rates: { ZZZ: NaN }, unconfirmed: { ZZZ: 200 } })
      expect(check(next, table(), [{ base: 'USD', rates: new Map([['ZZZ', 100]]) }])).toEqual(next)
    })
  })

  it('compares a first table with another source', () => {
    const references = [{ base: 'USD', rates: new Map(Object.entries(table().rates)) }]
    const checked = check(tomorrow({ AAC: 7 }), undefined, references)
    expect(checked.rates['AAC']).toBe(NaN)
    expect(checked.unconfirmed).toEqual({ AAC: 7 })
    const call = () => check(tomorrow(moved(10, 7)), undefined, references)
    expect(call).toThrow('10 of 99 rates moved')
    // The first table lacks the rate; the next one confirms it or not.
    const { AAC: _left, ...rates } = checked.rates
    const first = { ...checked, rates }
    expect(check(table({ AAC: 7.1 }, 100, 2), first).rates['AAC']).toBe(7.1)
    expect(check(table({ AAC: 70 }, 100, 2), first).rates['AAC']).toBe(NaN)
  })

  it.each([
    ['AAC', 5.9, true],
    ['AAC', 1 / 1.4, true],
    ['THB', 2.3, true],
    ['THB', 2.5, false],
    ['USD', 2.5, false],
    ['EUR', 2.5, false],
    ['EUR', 1 / 0.59, true],
  ])('accepts %s at %d after 2: %s', (code, rate, isAccepted) => {
    const first = { ...table({ [code]: 2, AAA: 1 }), base: 'AAA' }
    const next = { ...tomorrow({ [code]: rate, AAA: 1 }), base: 'AAA' }
    expect(check(next, first).rates[code]).toBe(isAccepted ? rate : 2)
  })

  describe('knows the range of major currencies', () => {
    const majors = { EUR: 0.85, JPY: 150, GBP: 0.75, CHF: 0.8, AUD: 1.5, INR: 90 }
    const times = (factor: number, names: string[]): Record<string, number> => {
      const changed = names.map((name) => [name, Object(majors)[name] * factor])
      return { ...majors, ...Object.fromEntries(changed) }
    }

    it('and drops one or two that are far from it, but rejects three', () => {
      const checked = check(table(times(10, ['JPY', 'INR'])))
      expect(checked.rates).toMatchObject({ ...majors, JPY: NaN, INR: NaN })
      const call = () => check(table(times(10, ['EUR', 'JPY', 'INR'])))
      expect(call).toThrow(/implausible .*EUR, JPY, INR/)
    })

    it.each([0.34, 0.97, 1.03, 2.9])('and accepts all of them × %d', (factor) => {
      const moves = table(times(factor, Object.keys(majors)))
      expect(check(moves)).toEqual(moves)
    })
  })

  it('quarantines a second rate in addition to the first one', () => {
    const quarantined = { ...tomorrow({ AAC: 200 }), unconfirmed: { AAD: 300 } }
    const unconfirmed = { AAC: 200, AAD: 300 }
    expect(check(quarantined, table())).toEqual({ ...tomorrow({}), unconfirmed })
  })

  it('accepts new and lost codes', () => {
    const next = table({ ZZZ: 5_000 }, 99, 1)
    expect(check(next, table())).toEqual(next)
  })

  it('compares with a table against another base', () => {
    const other = { ...table({ EUR: 4 }), base: 'EUR' }
    const rebased = { ...other, rates: { ...other.rates, EUR: 1, USD: 0.25 } }
    expect(check(tomorrow(moved(99, 9)), rebased)).toEqual(tomorrow(moved(99, 9)))
    expect(() => check(tomorrow(moved(99, 12)), rebased)).toThrow('rates moved')
  })

  it('replaces implausible rates with NaN, and leaves values that are not numbers', () => {
    const extremes = { AAF: 1e-9, AAG: 1e9 }
    const extreme = { AAA: 1e-10, AAB: 1e10, ...extremes, ...BAD }
    const { rates } = check(table(extreme))
    expect(rates).toMatchObject({ AAA: NaN, AAB: NaN, ...extremes, ...BAD })
  })

  it('does not quarantine values that are not rates: they are dropped later', () => {
    const checked = check(tomorrow({ AAF: 0, AAG: -2, ...BAD }), table())
    expect(checked.unconfirmed).toBeUndefined()
    expect(checked.rates).toMatchObject({ AAF: NaN, AAG: NaN, ...BAD })
  })

  describe('accepts rates that are fixed by law', () => {
    const lawful = { EUR: 2, BGN: 3.91166 }

    it('however far they are from the previous table', () => {
      const wrong = tomorrow({ ...lawful, BGN: 132 })
      expect(check(wrong, table(lawful))).toEqual(wrong)
      expect(check(table(lawful), wrong)).toEqual(table(lawful))
    })

    it('also if they were quarantined before', () => {
      const quarantined = { ...table(lawful), unconfirmed: { BGN: 132 } }
      const next = tomorrow({ ...lawful, BGN: 140 })
      expect(check(next, quarantined)).toEqual(next)
    })

    it('and does not count them among the rates that moved', () => {
      const few = tomorrow({ ...lawful, BGN: 132, ...moved(10, 2.5) })
      expect(check(few, table(lawful))).toEqual(few)
      const more = tomorrow({ ...lawful, BGN: 132, ...moved(11, 2.5) })
      expect(() => check(more, table(lawful))).toThrow('11 of 100 rates moved')
    })

    it.each([
      ['before it was withdrawn', { ...lawful, BGN: 132 }, Date.UTC(2025, 11, 31, 23)],
      ['without its successor', { BGN: 132 }, PUBLISHED],
      ['with an invalid rate of its successor', { BGN: 132, EUR: 0 }, PUBLISHED],
    ])('but not %s', (_when, rates, updatedAt) => {
      const previous = { ...table({ BGN: 4 }), updatedAt: updatedAt - DAY }
      const { unconfirmed } = check({ ...table(rates), updatedAt }, previous)
      expect(unconfirmed).toEqual({ BGN: 132 })
    })
  })

  it('ignores a base that is not 1, which is rejected later', () => {
    expect(check(tomorrow({ USD: 1_000 }), table()).rates['USD']).toBe(1_000)
  })
})
