import { readFileSync } from 'node:fs'

import { currencies, findWithdrawn, withdrawnCurrencies } from '../../src/currencies.ts'
import { crossRate } from '../../src/rates/arithmetic.ts'
import { applyLegalRatios, findFixedRate } from '../../src/rates/rate-table.ts'
import type { RateTable } from '../../src/rates/rate-table.ts'
import { DAY_MS, toDay } from '../fixtures/dates.ts'
import { rowsOf } from '../fixtures/rows.ts'
import { divide, multiply, nearestDouble, product, toExact } from '../oracle.ts'
import { HAS_RECORDINGS, NEEDS_RECORDINGS, recording } from '../recorded.ts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const NOW = Date.UTC(2026, 10, 20)

function table(rates: Record<string, number>, published = '2026-11-20', base = 'USD'): RateTable {
  const updatedAt = Date.parse(`${published}T00:02:31Z`)
  const entries = Object.entries({ [base]: 1, ...rates })
  const nextUpdateAt = updatedAt + DAY_MS
  return { base, updatedAt, nextUpdateAt, publishedAt: updatedAt, rates: new Map(entries) }
}

function correctedIn(before: RateTable): Record<string, number> {
  const { table: after, corrections } = applyLegalRatios(before)
  const fromRates = corrections.map(({ code }) => ({
    code,
    published: before.rates.get(code),
    corrected: after.rates.get(code),
  }))
  expect(corrections).toEqual(fromRates)
  return Object.fromEntries(corrections.map(({ code, corrected }) => [code, corrected]))
}

/** Returns the ratio of `code` to `successor` in the table with legal ratios. */
function ratioIn(before: RateTable, successor: string, code: string): number {
  return crossRate(applyLegalRatios(before).table, successor, code)
}

/** Returns the successor of `code` on `day`, and the units of `code` for one unit of it; NaN without a fixed ratio. */
function successionOf(code: string, day: string): { successor: string; ratio: number } {
  const withdrawn = findWithdrawn(code)
  if (!withdrawn || withdrawn.withdrawnAt > day) return { successor: code, ratio: 1 }
  const { successor, ratio } = successionOf(withdrawn.successor, day)
  const isFixed = withdrawn.ratio !== null && !Number.isNaN(ratio)
  // The bolívar of 2018 lost six zeros.
  const zeros = withdrawn.successor === 'VES' && day < '2021-10-01' ? 1e-6 : 1
  return { successor, ratio: isFixed ? product((withdrawn.ratio ?? NaN) * zeros, ratio) : NaN }
}

describe('applyLegalRatios()', () => {
  it('gives the ratio, and reports nothing, where the feed is right but for its rounding', () => {
    const rates = { EUR: 0.871234, HRK: 6.564313, JPY: 154, SLE: 22.512345, SLL: 22512.345366 }
    const { table: after, corrections } = applyLegalRatios(table(rates))
    const lawful = { USD: 1, ...rates, HRK: 6.564312573, SLL: 22512.345 }
    expect([...after.rates]).toEqual(Object.entries(lawful))
    expect(corrections).toEqual([])
  })

  it('sets a code without a usable rate, and marks it as its successor', () => {
    const older = { EUR: { updatedAt: 1, nextUpdateAt: 2 } }
    const before = { ...table({ EUR: 0.85 }), older, derived: { EUR: 'overlay' } as const }
    const { table: after } = applyLegalRatios(before, ['BGN', 'DDM', 'JPY'])
    expect([...after.rates.keys()]).toEqual(['USD', 'EUR', 'BGN'])
    expect(after.rates.get('BGN')).toBe(1.6624555)
    expect(after.derived).toEqual({ EUR: 'overlay', BGN: 'overlay' })
    expect(after.older?.['BGN']).toEqual(older.EUR)
  })

  it('keeps a rate that the app set', () => {
    const before = { ...table({ EUR: 0.85, BGN: 2 }), derived: { BGN: 'overlay' } as const }
    expect(applyLegalRatios(before)).toEqual({ table: before, corrections: [] })
  })

  it.each([
    ['as large as its successor', { SLE: 22.512345, SLL: 22.512345 }, { SLL: 22_512.345 }],
    ['right but for its rounding', { SLE: 22.512345, SLL: 22_512.345366 }, {}],
    ['wrong by less than half a percent', { EUR: 0.85, HRK: 6.43 }, {}],
    ['wrong by more', { EUR: 0.85, HRK: 6.45 }, { HRK: 6.404325 }],
    ['equal to its successor, with a fixed ratio of 1', { XCG: 1.79, ANG: 1.79 }, {}],
    ['as large, and thousands in law', { ZWG: 26.5, ZWL: 26.5 }, { ZWL: 66_216.1913 }],
    ['worth more than its successor', { CUP: 24, CUC: 24 }, { CUC: 1 }],
    ['of many digits', { EUR: 1 / 3, BGN: 2 / 3 }, { BGN: 0.651_943_333_333_333 }],
  ])('reports or not a rate that is %s', (_how, rates, corrected) => {
    expect(correctedIn(table(rates))).toEqual(corrected)
  })

  it.each([
    // The lev is traded until it is withdrawn.
    ['2025-12-31', { EUR: 0.85, BGN: 57 }, {}],
    ['2026-01-01', { EUR: 0.85, BGN: 57 }, { BGN: 1.662_455_5 }],
    ['2018-08-19', { VEF: 248_520, VES: 1, VEB: 1 }, { VEB: 248_520_000 }],
    ['2021-09-30', { VES: 4e6, VEF: 4e11, VEB: 1 }, { VEB: 4e14 }],
    ['2021-10-01', { VES: 4, VEF: 4e5, VEB: 4e14 }, { VEF: 4e11 }],
    ['2018-08-20', { VEF: 60, VES: 60, VEB: 1 }, { VEF: 6_000_000, VEB: 6_000_000_000 }],
    ['2018-08-20', { VES: 60, VEB: 1 }, { VEB: 6_000_000_000 }],
    ['2018-08-20', { VEF: 60, VEB: 1 }, {}],
  ])('uses the successors of %s: %j', (day, rates, corrected) => {
    expect(correctedIn(table(rates, day))).toEqual(corrected)
  })

  it('has the ratio of a withdrawn base, and the other pairs as they are published', () => {
    const before = table({ EUR: 0.5, USD: 0.6, HRK: 4, DEM: 1 }, '2026-11-20', 'BGN')
    const { rates } = applyLegalRatios(before).table
    expect(rates.get('BGN')).toBe(1)
    for (const [code, ratio] of Object.entries({
      BGN: 1.95583,
      HRK: 7.5345,
      DEM: 1.95583,
      USD: 1.2,
    }))
      expect(ratioIn(before, 'EUR', code), code).toBe(ratio)
    const codes = applyLegalRatios(before).corrections.map(({ code }) => code)
    expect(codes).toEqual(['HRK', 'DEM'])
  })
})

it('findFixedRate() returns the rate of the successor times the ratio, where both are fixed', () => {
  expect(findFixedRate('HRK', '2023-01-01', () => 0.85)?.rate).toBe(6.404325)
  for (const rate of [0, -0.85, NaN, '0.85', null, undefined])
    expect(
      findFixedRate('HRK', '2023-01-01', () => rate),
      String(rate),
    ).toBeUndefined()
  for (const [code = '', day = ''] of rowsOf('EUR 2026-11-20 | HRK 2022-12-31 | DDM 2026-11-20'))
    expect(
      findFixedRate(code, day, () => 0.85),
      code,
    ).toBeUndefined()
})

describe('any table that is corrected', () => {
  const codes = [...currencies, ...withdrawnCurrencies].map(({ code }) => code)
  const rate = fc
    .tuple(fc.integer({ min: 1, max: 9_999_999 }), fc.integer({ min: -6, max: 2 }))
    .map(([digits, power]) => Number(`${digits}e${power}`))
  const tables = fc
    .record({
      base: fc.constantFrom('USD', 'EUR', 'BGN', 'SLL'),
      published: fc.integer({ min: Date.UTC(1995, 0), max: NOW }),
      quotes: fc.dictionary(fc.constantFrom(...codes), rate, { minKeys: 60, maxKeys: 200 }),
    })
    .map(({ base, published, quotes }) => {
      const rates = new Map(Object.entries({ ...quotes, [base]: 1 }))
      const times = { updatedAt: published, publishedAt: published }
      return { base, ...times, nextUpdateAt: published + DAY_MS, rates }
    })

  it('has the legally fixed rates, keeps all others, and reports what was off by half a percent', () => {
    let [fixed, changes] = [0, 0]
    const property = fc.property(tables, (before) => {
      const { table: after, corrections } = applyLegalRatios(before)
      const day = toDay(before.updatedAt)
      const isBaseReal = successionOf(before.base, day).successor === before.base
      const corrected = new Set(corrections.map(({ code }) => code))
      for (const [code, found] of after.rates) {
        const { successor, ratio } = successionOf(code, day)
        const of = after.rates.get(successor) ?? NaN
        const isFixed = successor !== code && !Number.isNaN(ratio * of)
        const published = before.rates.get(code) ?? NaN
        const isLawful = isFixed && ![before.base, successor].includes(code)
        const off = isLawful ? Math.abs(found / product(of, ratio) - 1) : 0
        expect(off, code).toBeLessThan(1e-14)
        fixed += Number(isLawful)
        if (!isBaseReal) continue
        const share = published / found
        expect(isFixed || share === 1, code).toBe(true)
        expect(corrected.has(code), code).toBe(isFixed && Math.max(share, 1 / share) > 1.005)
        changes += 1
      }
      // A second correction changes nothing.
      expect(applyLegalRatios(after)).toEqual({ table: after, corrections: [] })
    })
    fc.assert(property, { seed: 20_261_122, numRuns: 400 })
    expect(Math.min(fixed, changes)).toBeGreaterThan(1_000)
  })
})

describe.skipIf(!HAS_RECORDINGS)(`the recorded tables ${NEEDS_RECORDINGS}`, () => {
  it.each([
    ['v6-latest-RUB-2025-04-23.raw.json', []],
    ['v6-latest-RUB-2025-11-02.json', []],
    ['v6-latest-USD-2025-11-02.json', []],
    ['v6-latest-CZK-2026-02-18.raw.json', ['BGN', 'ZWL']],
  ])('in %s contradict the law only in %j', (file, wrong) => {
    const body = JSON.parse(readFileSync(recording(`data/open-er-api/${file}`), 'utf8'))
    const updatedAt = body.time_last_update_unix * 1_000
    const rates = new Map<string, number>(Object.entries(body.rates))
    const times = { updatedAt, nextUpdateAt: updatedAt, publishedAt: updatedAt }
    const before = { base: body.base_code, ...times, rates }
    expect(Object.keys(correctedIn(before))).toEqual(wrong)
    for (const code of ['ANG', 'HRK', 'SLL']) {
      const { successor, ratio } = successionOf(code, '2025-04-23')
      const lawful = multiply(toExact(rates.get(successor) ?? NaN), toExact(ratio))
      const share = nearestDouble(divide(toExact(rates.get(code) ?? NaN), lawful))
      expect(Math.abs(share - 1), code).toBeLessThan(0.000_06)
    }
  })
})
