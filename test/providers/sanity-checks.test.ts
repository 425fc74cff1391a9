import { describe, expect, it } from 'vitest'

import { createExchangeRateApiProvider } from '../../src/index.ts'
import type { LatestTable, ReferenceTable } from '../../src/index.ts'
import { codes } from '../fixtures/codes.ts'
import { numberRows } from '../fixtures/rows.ts'
import { DAY } from '../virtual-runtime.ts'

const PUBLISHED = Date.UTC(2026, 10, 20)

const provider = createExchangeRateApiProvider()

/** Validates `table`, as loaded from a store, after `previous`. */
async function check(table: LatestTable, previous?: LatestTable, others: ReferenceTable[] = []) {
  const checked = await provider.validateStored?.(table, previous, others)
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
const BAD: Record<string, number> = JSON.parse(
  '{ "AAC": null, "AAD": "0.01", "AED": true, "EUR": null }',
)
const DROPPED = { AAC: NaN, AAD: NaN, AED: NaN, EUR: NaN }

function moved(count: number, rate: number): Record<string, number> {
  return Object.fromEntries(codes(count).map((code) => [code, rate]))
}

describe('validateStored() of a built-in provider', () => {
  it('returns a market unchanged', async () => {
    expect(await check(table())).toEqual(table())
    expect(await check(tomorrow(moved(99, 2.4)), table())).toEqual(tomorrow(moved(99, 2.4)))
  })

  it.each(numberRows('20 19 | 1000 1001'))('accepts %d codes, not %d', async (count, other) => {
    expect(await check(table({}, count))).toEqual(table({}, count))
    const call = check(table({}, other))
    await expect(call).rejects.toThrow(`20–1,000 currencies, got ${other}`)
  })

  it('counts only keys in the form of a code', async () => {
    const few = table({ usd: 1, constructor: 1 }, 19)
    await expect(check(few)).rejects.toThrow('20–1,000 currencies, got 19')
  })

  it('rejects a table that lost more than a fifth of its codes', async () => {
    expect(await check(table({}, 80, 1), table())).toEqual(table({}, 80, 1))
    await expect(check(table({}, 79, 1), table())).rejects.toThrow(/80 % of the 100 .*, got 79$/)
  })

  it.each([2.5, 1.6, 0.5, 8])('rejects a table if over a tenth moved to %d', async (rate) => {
    expect((await check(tomorrow(moved(9, rate)), table())).rates['AAZ']).toBe(2)
    const call = check(tomorrow(moved(10, rate)), table())
    await expect(call).rejects.toThrow(/^10 of 99 rates .*20 %.* 10 %/)
  })

  it('rejects a small table of which four rates moved, not three', async () => {
    expect((await check(table(moved(3, 5), 20, 1), table({}, 20))).rates).toMatchObject(moved(3, 5))
    const call = check(table(moved(4, 5), 20, 1), table({}, 20))
    await expect(call).rejects.toThrow('4 of 19 rates moved')
  })

  it.each([6.1, 0.65, 2_000])('quarantines a single rate that moved to %d', async (rate) => {
    const checked = await check(tomorrow({ AAC: rate }), table())
    const AAC = { rate, publications: 1, good: 2 }
    expect(checked).toEqual({ ...tomorrow({ AAC: 2 }), unconfirmed: { AAC } })
  })

  /** Returns on which publication a rate of AAC that stays is served, after 2 on the day before. */
  async function served(rate: number, days = 20): Promise<number> {
    let last = table()
    for (let day = 1; day <= days; day += 1) {
      last = await check(table({ AAC: rate }, 100, day), last)
      if (last.rates['AAC'] === rate) return day
    }
    return NaN
  }

  const WAITS = numberRows('5.9 1 | 6.1 7 | 16.5 7 | 16.8 14 | 23.9 14 | 24.1 7 | 200 14 | 2000 14')

  it.each(WAITS)('accepts 2 that became %d on the publication no. %d', async (rate, number) => {
    expect(await served(rate)).toBe(number)
    expect(await served(4 / rate)).toBe(number)
  })

  it('accepts a major move on the second publication', async () => {
    const [first, second] = [1, 2].map((day) => table({ THB: 2.8 }, 100, day))
    const quarantined = await check(first ?? tomorrow({}), table({ THB: 2 }))
    expect(quarantined.rates['THB']).toBe(2)
    expect((await check(second ?? tomorrow({}), quarantined)).rates['THB']).toBe(2.8)
  })

  it('counts one publication a day', async () => {
    const quarantined = await check(tomorrow({ AAC: 7 }), table())
    expect(await check(tomorrow({ AAC: 7 }), quarantined)).toEqual(quarantined)
    const hourly = { ...tomorrow({ AAC: 7 }), updatedAt: PUBLISHED + DAY + 1 }
    expect((await check(hourly, quarantined)).unconfirmed?.['AAC']?.publications).toBe(1)
  })

  it('does not count a publication that is dated ahead twice', async () => {
    const ahead = await check(tomorrow({ AAC: 7 }), table())
    const accepted = { ...ahead, publishedAt: PUBLISHED + 1 }
    const again = await check(tomorrow({ AAC: 7 }), accepted)
    expect(again.unconfirmed?.['AAC']?.publications).toBe(1)
  })

  it.each([
    ['another slip', 4_000],
    ['a rate further from it', 250],
    ['a gap', undefined],
  ])('counts again after %s', async (_what, rate) => {
    const sixth = { AAC: { rate: 200, publications: 13, good: 2 } }
    const last = { ...tomorrow({}), unconfirmed: sixth }
    const next = await check(table(rate ? { AAC: rate } : {}, 100, 2), last)
    expect(next.rates['AAC']).toBe(2)
    expect(next.unconfirmed?.['AAC']?.publications).toBe(rate && 1)
  })

  it('accepts a return to the last good rate, although that has expired', async () => {
    const { AAC: _expired, ...rates } = table().rates
    const unconfirmed = { AAC: { rate: 200, publications: 9, good: 2 } }
    const previous = { ...tomorrow({}), rates, unconfirmed }
    expect((await check(table({ AAC: 2.1 }, 100, 2), previous)).rates['AAC']).toBe(2.1)
    expect(await check(table({ AAC: 200 }, 100, 2), previous)).toMatchObject({
      rates: { AAC: NaN },
      unconfirmed: { AAC: { rate: 200, publications: 10, good: 2 } },
    })
  })

  const REFERENCES = numberRows('9.5 2 | 9.6 10 | 10.4 10 | 10.6 2')

  it.each(REFERENCES)('serves 10 beside %d as %d', async (reference, served) => {
    // The same against another base, of which 4 are worth a dollar.
    const rates = new Map([['AAC', reference / 4]])
    const references = [
      { base: 'USD', rates: new Map<string, number>() },
      { base: 'ZZZ', rates: new Map([...rates, ['USD', 1 / 4]]) },
    ]
    expect((await check(tomorrow({ AAC: 10 }), table(), references)).rates['AAC']).toBe(served)
  })

  describe('compares with other sources', () => {
    const reference = (AAC: number, unconfirmed?: Record<string, number>): ReferenceTable => ({
      base: 'ZZZ',
      rates: new Map(Object.entries({ AAC: AAC / 4, USD: 1 / 4 })),
      unconfirmed,
    })
    /** The rate after 14 publications of 200. */
    const servedAtLast = async (...references: ReferenceTable[]) => {
      const unconfirmed = { AAC: { rate: 200, publications: 13, good: 2 } }
      const last = { ...tomorrow({}), unconfirmed }
      return (await check(table({ AAC: 200 }, 100, 2), last, references)).rates['AAC']
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
    ])('a move that lasts if one %s', async (_what, references, rate) => {
      expect(await servedAtLast(...references)).toBe(rate)
    })

    it('a rate that the previous table lacks', async () => {
      const next = tomorrow({ ZZZ: 200 })
      const rates = new Map([['ZZZ', 2]])
      const checked = await check(next, table(), [{ base: 'USD', rates }])
      const ZZZ = { rate: 200, publications: 1 }
      expect(checked).toMatchObject({ rates: { ZZZ: NaN }, unconfirmed: { ZZZ } })
      const near = [{ base: 'USD', rates: new Map([['ZZZ', 100]]) }]
      expect(await check(next, table(), near)).toEqual(next)
    })
  })

  it('compares a first table with another source', async () => {
    const references = [{ base: 'USD', rates: new Map(Object.entries(table().rates)) }]
    const checked = await check(tomorrow({ AAC: 7 }), undefined, references)
    expect(checked.rates['AAC']).toBe(NaN)
    expect(checked.unconfirmed).toEqual({ AAC: { rate: 7, publications: 1 } })
    const call = check(tomorrow(moved(10, 7)), undefined, references)
    await expect(call).rejects.toThrow('10 of 99 rates moved')
    // The first table lacks the rate; the next one confirms it or not.
    expect((await check(table({ AAC: 7.1 }, 100, 2), checked)).rates['AAC']).toBe(7.1)
    const other = await check(table({ AAC: 70 }, 100, 2), checked)
    expect(other.rates['AAC']).toBe(NaN)
  })

  it.each([
    ['AAC', 5.9, true],
    ['AAC', 1 / 1.4, true],
    ['THB', 2.3, true],
    ['THB', 2.5, false],
    ['USD', 2.5, false],
    ['EUR', 2.5, false],
    ['EUR', 1 / 0.59, true],
  ])('accepts %s at %d after 2: %s', async (code, rate, isAccepted) => {
    const first = { ...table({ [code]: 2, AAA: 1 }), base: 'AAA' }
    const next = { ...tomorrow({ [code]: rate, AAA: 1 }), base: 'AAA' }
    expect((await check(next, first)).rates[code]).toBe(isAccepted ? rate : 2)
  })

  describe('knows the range of major currencies', () => {
    const majors = { EUR: 0.85, JPY: 150, GBP: 0.75, CHF: 0.8, AUD: 1.5, INR: 90 }
    const times = (factor: number, names: string[]): Record<string, number> => {
      const changed = names.map((name) => [name, Object(majors)[name] * factor])
      return { ...majors, ...Object.fromEntries(changed) }
    }

    it('and drops one or two that are far from it, but rejects three', async () => {
      const checked = await check(table(times(10, ['JPY', 'INR'])))
      expect(checked.rates).toMatchObject({ ...majors, JPY: NaN, INR: NaN })
      await expect(check(table(times(10, ['EUR', 'JPY', 'INR'])))).rejects.toThrow(
        /implausible .*EUR, JPY, INR/,
      )
    })

    it.each([0.34, 0.97, 1.03, 2.9])('and accepts all of them × %d', async (factor) => {
      const moves = table(times(factor, Object.keys(majors)))
      expect(await check(moves)).toEqual(moves)
    })
  })

  it('quarantines a second rate in addition to the first one', async () => {
    const AAD = { rate: 300, publications: 3, good: 2 }
    const quarantined = { ...tomorrow({ AAC: 200 }), unconfirmed: { AAD } }
    const unconfirmed = { AAC: { rate: 200, publications: 1, good: 2 }, AAD }
    expect(await check(quarantined, table())).toEqual({ ...tomorrow({}), unconfirmed })
  })

  it('accepts new and lost codes', async () => {
    const next = table({ ZZZ: 5_000 }, 99, 1)
    expect(await check(next, table())).toEqual(next)
  })

  it('compares with a table against another base', async () => {
    const other = { ...table({ EUR: 4 }), base: 'EUR' }
    const rebased = { ...other, rates: { ...other.rates, EUR: 1, USD: 0.25 } }
    expect(await check(tomorrow(moved(99, 9)), rebased)).toEqual(tomorrow(moved(99, 9)))
    await expect(check(tomorrow(moved(99, 12)), rebased)).rejects.toThrow('rates moved')
  })

  it('replaces implausible rates, and values that are not numbers, with NaN', async () => {
    const extremes = { AAF: 1e-9, AAG: 1e9 }
    const extreme = { AAA: 1e-10, AAB: 1e10, ...extremes, ...BAD }
    const { rates } = await check(table(extreme))
    expect(rates).toMatchObject({ AAA: NaN, AAB: NaN, ...extremes, ...DROPPED })
  })

  it('does not quarantine values that are not rates: they are dropped later', async () => {
    // Nor currencies that are pegged to them.
    const rates = { AAF: 0, AAG: -2, XOF: 600, ...BAD }
    for (const previous of [undefined, table()]) {
      const checked = await check(tomorrow(rates), previous)
      expect(checked.unconfirmed).toBeUndefined()
      expect(checked.rates).toMatchObject({ AAF: NaN, AAG: NaN, XOF: 600, ...DROPPED })
    }
  })

  describe('accepts rates that are fixed by law', () => {
    const lawful = { EUR: 2, BGN: 3.91166 }

    it('however far they are from the previous table', async () => {
      const wrong = tomorrow({ ...lawful, BGN: 132 })
      expect(await check(wrong, table(lawful))).toEqual(wrong)
      expect(await check(table(lawful), wrong)).toEqual(table(lawful))
    })

    it('also if they were quarantined before', async () => {
      const BGN = { rate: 132, publications: 1 }
      const quarantined = { ...table(lawful), unconfirmed: { BGN } }
      const next = tomorrow({ ...lawful, BGN: 140 })
      expect(await check(next, quarantined)).toEqual(next)
    })

    it('and does not count them among the rates that moved', async () => {
      const few = tomorrow({ ...lawful, BGN: 132, ...moved(10, 2.5) })
      expect(await check(few, table(lawful))).toEqual(few)
      const more = tomorrow({ ...lawful, BGN: 132, ...moved(11, 2.5) })
      await expect(check(more, table(lawful))).rejects.toThrow('11 of 100 rates moved')
    })

    it.each([
      ['before it was withdrawn', { ...lawful, BGN: 132 }, Date.UTC(2025, 11, 31, 23)],
      ['without its successor', { BGN: 132 }, PUBLISHED],
      ['with an invalid rate of its successor', { BGN: 132, EUR: 0 }, PUBLISHED],
    ])('but not %s', async (_when, rates, updatedAt) => {
      const previous = { ...table({ BGN: 4 }), updatedAt: updatedAt - DAY }
      const { unconfirmed } = await check({ ...table(rates), updatedAt }, previous)
      expect(unconfirmed).toMatchObject({ BGN: { rate: 132, good: 4 } })
    })
  })

  describe('knows official pegs', () => {
    const AED = 3.6725

    it.each(numberRows('1.019 1 | 0.981 1 | 1.021 7 | 0.979 7'))(
      'and serves a dirham × %d on the publication no. %d',
      async (factor, publication) => {
        let last: LatestTable | undefined
        for (let day = 1; day <= publication; day += 1) {
          expect(last?.rates['AED'] ?? NaN).toBe(NaN)
          last = await check(table({ AED: AED * factor }, 100, day), last)
        }
        expect(last?.rates['AED']).toBe(AED * factor)
        expect(last).not.toHaveProperty('unconfirmed')
        // Once that is accepted, so is its next rate.
        const later = table({ AED: AED * (publication === 1 ? 1 : factor * 1.01) }, 100, 9)
        expect(await check(later, last)).toEqual(later)
      },
    )

    it('which a wrong rate of the anchor does not make doubtful', async () => {
      const rates = { EUR: 0.9, XOF: 0.9 * 655.957, HKD: 7.8, MOP: 7.8 * 1.03 }
      const slip = { ...rates, EUR: 0.45, HKD: 78 }
      const { unconfirmed = {} } = await check(tomorrow(slip), table(rates))
      expect(Object.keys(unconfirmed).sort()).toEqual(['EUR', 'HKD'])
    })

    it('which another source with the ratio keeps', async () => {
      let last = table({ AED })
      const other = { base: 'USD', rates: new Map([['AED', AED]]) }
      for (let day = 1; day <= 9; day += 1) {
        last = await check(table({ AED: AED * 1.3 }, 100, day), last, [other])
      }
      expect(last.rates['AED']).toBe(AED)
    })

    it('of which that of the nakfa is not declared', async () => {
      expect(await check(table({ ERN: 15.38 }))).not.toHaveProperty('unconfirmed')
      expect(await check(table({ ERN: 15.5 }))).toHaveProperty('unconfirmed.ERN')
    })

    it('by day: the lev was pegged until 2025', async () => {
      const lev = { EUR: 0.9, BGN: 0.9 * 1.95583 * 1.1 }
      const at = (updatedAt: number): LatestTable => ({ ...table(lev), updatedAt })
      expect((await check(at(Date.UTC(2025, 11, 31)))).rates['BGN']).toBe(NaN)
      expect(await check(at(Date.UTC(1998, 6, 4)))).not.toHaveProperty('unconfirmed')
    })
  })

  it.each(numberRows('3000 1 | 0.78 7 | 0.3 14 | 3500000 14'))(
    'serves a first tugrik of %d on the publication no. %d',
    async (rate, publication) => {
      let last: LatestTable | undefined
      for (let day = 1; day <= publication; day += 1) {
        expect(last?.rates['MNT'] ?? NaN).toBe(NaN)
        last = await check(table({ MNT: rate }, 100, day), last)
      }
      expect(last?.rates['MNT']).toBe(rate)
    },
  )

  it('expects that a currency lost zeros on the day of the law', async () => {
    const at = (day: number, SYP: number): LatestTable => ({
      ...table({ SYP }),
      updatedAt: Date.UTC(2026, 0, day),
    })
    const last = { ...at(1, 11_000), updatedAt: Date.UTC(2025, 11, 31) }
    expect(await check(at(1, 111), last)).toEqual(at(1, 111))
    // The old number is a hundredfold of the new one.
    expect(await check(at(1, 11_000), last)).toMatchObject({
      rates: { SYP: 110 },
      unconfirmed: { SYP: { rate: 11_000, good: 110 } },
    })
  })

  it('ignores a base that is not 1, which is rejected later', async () => {
    expect((await check(tomorrow({ USD: 1_000 }), table())).rates['USD']).toBe(1_000)
  })
})
