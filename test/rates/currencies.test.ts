import { readFileSync, readdirSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import {
  currencies,
  findCurrency,
  findWithdrawn,
  withdrawnCurrencies,
} from '../../src/currencies.ts'
import { findSuccession, findWithdrawal } from '../../src/rates/currency-code.ts'
import { CURRENCIES_BY_REGION, HAS_CLDR, RESERVED_REGIONS } from '../fixtures/cldr-regions.ts'
import { addDays } from '../fixtures/dates.ts'
import { rowsOf } from '../fixtures/rows.ts'
import { HAS_RECORDINGS, NEEDS_RECORDINGS, recording } from '../recorded.ts'

const activeCodes = currencies.map(({ code }) => code)
const withdrawnCodes = withdrawnCurrencies.map(({ code }) => code)
const notCodes = ['', 'eur', 'EURO', ' EUR', 'QQQ', 'constructor', '__proto__', 'toString']

function lineOf(code: string): string[] {
  const next = findWithdrawn(code)?.successor
  return next === undefined ? [] : [next, ...lineOf(next)]
}

describe.each([
  ['currencies', currencies],
  ['withdrawnCurrencies', withdrawnCurrencies],
])('%s', (_, rows) => {
  it('has three capitals as each code, sorted and without duplicates', () => {
    const codes = rows.map(({ code }) => code)
    expect(codes.filter((code) => !/^[A-Z]{3}$/.test(code))).toEqual([])
    expect(codes).toEqual([...new Set(codes)].toSorted())
  })

  it('has three digits as each numeric code', () => {
    const numerics = rows.flatMap(({ numeric }) => numeric ?? [])
    expect(numerics.filter((numeric) => !/^\d{3}$/.test(numeric))).toEqual([])
  })
})

describe('currencies', () => {
  it('has the 178 codes of ISO 4217 list one of 2026-01-01 and seven others', () => {
    const others = currencies.filter(({ numeric }) => numeric === null)
    expect(others.map(({ code }) => code).join(' ')).toBe('CNH FOK GGP IMP JEP KID TVD')
    expect(currencies).toHaveLength(178 + others.length)
    // Amendments since 2021.
    const amended = (list: string): string[] => list.split(' ').filter((code) => findCurrency(code))
    expect(amended('VED SLE ZWG XCG XAD')).toHaveLength(5)
    expect(amended('CUC SLL HRK ZWL ANG BGN')).toEqual([])
  })

  it('has a distinct name and number for each code', () => {
    const numerics = currencies.flatMap(({ numeric }) => numeric ?? [])
    expect(new Set(numerics).size).toBe(numerics.length)
    const names = currencies.map(({ name }) => name)
    expect(names.filter((name) => name === '' || name !== name.trim())).toEqual([])
    expect(new Set(names).size).toBe(names.length)
  })

  it.each([
    [0, 'CLP ISK JPY UGX UYI XOF'],
    [2, 'EUR HUF IDR MGA TWD'],
    [3, 'BHD IQD KWD'],
    [4, 'CLF UYW'],
    [null, 'XAU XDR XXX'],
  ])('has the minor units of ISO 4217: %s for %s', (minorUnits, codes) => {
    for (const code of codes.split(' ')) {
      expect(findCurrency(code)?.minorUnits, code).toBe(minorUnits)
    }
  })

  it('has at most four minor units, and two outside ISO 4217', () => {
    const units = new Set(currencies.map(({ minorUnits }) => minorUnits))
    expect(units).toEqual(new Set([0, 2, 3, 4, null]))
    const outside = currencies.filter(({ numeric }) => numeric === null)
    expect(new Set(outside.map(({ minorUnits }) => minorUnits))).toEqual(new Set([2]))
  })
})

/** Codes outside ISO 4217 that CLDR lacks. */
const LOCAL = { FOK: ['FO'], GGP: ['GG'], IMP: ['IM'], JEP: ['JE'], KID: ['KI'], TVD: ['TV'] }

describe('by CLDR 48.2', () => {
  it('each currency has the countries where it is legal tender, sorted', () => {
    const expected: Record<string, string[]> = { ...LOCAL }
    for (const { region, codes } of CURRENCIES_BY_REGION) {
      if (RESERVED_REGIONS.includes(region)) continue
      for (const code of codes) expected[code] = [...(expected[code] ?? []), region].toSorted()
    }
    const found = currencies.filter(({ countries }) => countries.length > 0)
    expect(Object.fromEntries(found.map(({ code, countries }) => [code, countries]))).toEqual(
      expected,
    )
  })

  const { cldr = 'none' } = process.versions
  it.runIf(HAS_CLDR)(
    `each currency has its narrow symbol (of CLDR ${cldr}), also if withdrawn`,
    () => {
      const all = [...currencies, ...withdrawnCurrencies].filter(({ code }) => code !== 'XXX')
      const narrow = (currency: string): string | undefined =>
        new Intl.NumberFormat('en', {
          style: 'currency',
          currency,
          currencyDisplay: 'narrowSymbol',
        })
          .formatToParts(0)
          .find(({ type }) => type === 'currency')?.value
      expect(all.filter(({ code, symbol }) => (symbol ?? code) !== narrow(code))).toEqual([])
    },
  )
})

describe('findCurrency', () => {
  it('finds each currency by its code', () => {
    expect(activeCodes.map(findCurrency)).toEqual(currencies)
    const guilder = { code: 'XCG', name: 'Caribbean Guilder', numeric: '532', minorUnits: 2 }
    expect(findCurrency('XCG')).toEqual({ ...guilder, symbol: 'Cg.', countries: ['CW', 'SX'] })
  })

  it.each([...notCodes, 'BGN', 'HRK', 'ANG', 'SLL', 'ZWL', 'CUC'])('does not find %j', (code) => {
    expect(findCurrency(code)).toBeUndefined()
  })
})

const EURO_RATES = `
  ATS 13.7603  | BEF 40.3399  | BGN 1.95583  | CYP 0.585274 | DEM 1.95583 | EEK 15.6466  | ESP 166.386 |
  FIM 5.94573  | FRF 6.55957  | GRD 340.750  | HRK 7.53450  | IEP 0.787564 | ITL 1936.27 | LTL 3.45280 |
  LUF 40.3399  | LVL 0.702804 | MTL 0.429300 | NLG 2.20371  | PTE 200.482 | SIT 239.640  | SKK 30.1260`

/** Units of a currency for one unit of its successor. */
const RATIOS = `
  ANG 1 XCG        | BRR 2750 BRL   | BYR 10000 BYN    | ECS 25000 USD | GHC 10000 GHS | GWP 65 XOF    |
  MGF 5 MGA        | MRO 10 MRU     | MXP 1000 MXN     | ROL 10000 RON | SLL 1000 SLE  | STD 1000 STN  |
  NIC 5000000 NIO  | VEF 1e11 VES   | TRL 1000000 TRY  | ZMK 1000 ZMW  | ZWN 1e10 ZWR  | ZWL 2498.7242 ZWG`

describe('withdrawnCurrencies', () => {
  it('has no code that is active, and all but one numeric code', () => {
    expect(withdrawnCodes.filter((code) => findCurrency(code))).toEqual([])
    const uncertain = withdrawnCurrencies.filter(({ numeric }) => numeric === null)
    expect(uncertain.map(({ code }) => code)).toEqual(['ROL'])
  })

  it('shares a numeric code only with successors', () => {
    for (const { code, numeric } of withdrawnCurrencies) {
      if (numeric === null) continue
      const namesakes = [...currencies, ...withdrawnCurrencies].filter(
        (other) => other.numeric === numeric && other.code !== code,
      )
      const relatives = namesakes.filter(
        (other) => lineOf(code).includes(other.code) || lineOf(other.code).includes(code),
      )
      expect(relatives, code).toEqual(namesakes)
    }
  })

  it('has a real day, a name, a source and a positive ratio in each row', () => {
    for (const { code, name, withdrawnAt, ratio, source } of withdrawnCurrencies) {
      expect(addDays(withdrawnAt, 0), code).toBe(withdrawnAt)
      expect(name, code).not.toBe('')
      expect(source, code).not.toBe('')
      expect(ratio === null || (ratio > 0 && Number.isFinite(ratio)), code).toBe(true)
    }
  })

  it.each(withdrawnCurrencies)('leads from $code to an active code, forward in time', (start) => {
    let current = start
    for (let next = findWithdrawn(current.successor); next; next = findWithdrawn(next.successor)) {
      expect(next.withdrawnAt > current.withdrawnAt).toBe(true)
      current = next
    }
    expect(findCurrency(current.successor)).toBeDefined()
  })

  it('has the irrevocable euro rates with the six significant digits of the regulations', () => {
    for (const [code = '', rate = ''] of rowsOf(EURO_RATES)) {
      expect(rate.replace(/^0\./, '').replace('.', ''), code).toMatch(/^[1-9]\d{5}$/)
      expect(findWithdrawn(code)?.ratio, code).toBe(Number(rate))
      expect(findWithdrawn(code)?.ratio?.toPrecision(6), code).toBe(rate)
    }
    const adopters = withdrawnCurrencies.filter(({ successor }) => successor === 'EUR')
    const codes = rowsOf(EURO_RATES).map(([code]) => code)
    expect(adopters.map(({ code }) => code)).toEqual([...codes, 'XEU'])
  })

  it.each([
    ['ATS', '1999-01-01', 'Council Regulation (EC) No 2866/98'],
    ['GRD', '2001-01-01', 'Council Regulation (EC) No 1478/2000'],
    ['HRK', '2023-01-01', 'Council Regulation (EU) 2022/1208'],
    ['BGN', '2026-01-01', 'Council Regulation (EU) 2025/1409'],
  ])('dates %s by the day of the euro, and names the regulation: %s, %s', (code, day, source) => {
    expect(findWithdrawn(code)).toMatchObject({ withdrawnAt: day, successor: 'EUR', source })
  })

  it.each(rowsOf(RATIOS))('names for %s at %s to one its successor %s', (...row) => {
    const [code = '', ratio, successor] = row
    expect(findWithdrawn(code)).toMatchObject({ successor, ratio: Number(ratio) })
  })

  it('converts one Cuban convertible peso to 24 Cuban pesos', () => {
    expect(24 * (findWithdrawn('CUC')?.ratio ?? NaN)).toBe(1)
  })
})

// In DDM, ZWR and ZWD, one of the steps has no fixed ratio.
const SUCCESSIONS = `
  HRK 2023-01-01 EUR 7.5345    | VEB 2008-01-01 VEF 1000    | VEB 2018-08-19 VEF 1000
  VEB 2018-08-20 VES 100000000 | VEB 2021-09-30 VES 1e8     | VEB 2021-10-01 VES 1e14
  VEF 2021-09-30 VES 100000  | VEF 2026-01-01 VES 1e11      | SLL 2023-12-31
  SLL 2024-01-01 SLE 1000    | YUM 2026-01-01 RSD 1          | AON 2026-01-01 AOA 1e9
  BGL 2026-01-01 EUR 1955.83 | BRB 2026-01-01 BRL 2.75e12
  DDM 1990-07-01 DEM null      | DDM 2026-01-01 EUR null    | ZWR 2026-01-01 ZWG null
  ZWD 2026-01-01 ZWG null      | BGN 2025-12-31             | EUR 2026-01-01
  QQQ 2026-01-01               | constructor 2026-01-01`

it.each(rowsOf(SUCCESSIONS))('findSuccession() finds the successor of %s on %s: %s', (...row) => {
  const [code = '', day = '', successor, ratio = ''] = row
  const succession = successor && { successor, ratio: JSON.parse(ratio) }
  expect(findSuccession(code, day)).toEqual(succession)
})

describe('findWithdrawn', () => {
  it('finds each withdrawn currency by its code', () => {
    expect(withdrawnCodes.map(findWithdrawn)).toEqual(withdrawnCurrencies)
  })

  it('finds the withdrawal of each, without its name', () => {
    expect(withdrawnCurrencies).toMatchObject(withdrawnCodes.map(findWithdrawal))
    const croatian = { code: 'HRK', successor: 'EUR', ratio: 7.5345, withdrawnAt: '2023-01-01' }
    expect(findWithdrawal('HRK')).toEqual(croatian)
  })

  it.each([...notCodes, 'EUR', 'XCG'])('does not find %j', (code) => {
    expect(findWithdrawn(code)).toBeUndefined()
    expect(findWithdrawal(code)).toBeUndefined()
  })
})

it.skipIf(!HAS_RECORDINGS)(`both tables know every code of the feeds ${NEEDS_RECORDINGS}`, () => {
  const folder = recording('data/open-er-api/')
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  expect(files.length).toBeGreaterThan(3)
  for (const file of files) {
    const codes = Object.keys(JSON.parse(readFileSync(new URL(file, folder), 'utf8')).rates)
    expect(codes.length, file).toBeGreaterThan(150)
    const unknown = codes.filter((code) => !findCurrency(code) && !findWithdrawn(code))
    expect(unknown, file).toEqual([])
  }
})
