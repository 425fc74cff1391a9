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

const ALL = [...currencies, ...withdrawnCurrencies]

const isReal = (text: string): boolean => text !== '' && text === text.trim()

it('both tables have three capitals as code, a name, and three digits as number, once and sorted', () => {
  for (const rows of [currencies, withdrawnCurrencies]) {
    const codes = rows.map(({ code }) => code)
    expect(codes).toEqual([...new Set(codes)].toSorted())
    expect(codes.filter((code) => !/^[A-Z]{3}$/.test(code))).toEqual([])
    expect(rows.filter(({ name }) => !isReal(name))).toEqual([])
    const numerics = rows.flatMap(({ numeric }) => numeric ?? [])
    expect(numerics.filter((numeric) => !/^\d{3}$/.test(numeric))).toEqual([])
  }
})

it('finds each currency by its code, and no other', () => {
  for (const row of currencies)
    expect([findCurrency(row.code), findWithdrawn(row.code)]).toEqual([row, undefined])
  for (const row of withdrawnCurrencies) {
    const { code } = row
    expect([findWithdrawn(code), findCurrency(code)]).toEqual([row, undefined])
    expect(row).toMatchObject(Object(findWithdrawal(code)))
  }
  const guilder = { code: 'XCG', name: 'Caribbean Guilder', numeric: '532', minorUnits: 2 }
  expect(findCurrency('XCG')).toEqual({ ...guilder, symbol: 'Cg.', countries: ['CW', 'SX'] })
  const kuna = { code: 'HRK', successor: 'EUR', ratio: 7.5345, withdrawnAt: '2023-01-01' }
  expect(findWithdrawal('HRK')).toEqual(kuna)
  for (const code of ['', 'eur', 'EURO', ' EUR', 'QQQ', 'constructor', '__proto__', 'toString'])
    expect([findCurrency(code), findWithdrawn(code), findWithdrawal(code)], code).toEqual(
      Array.from({ length: 3 }, () => undefined),
    )
})

describe('currencies', () => {
  it('has the 178 codes of ISO 4217 list one of 2026-01-01 and seven others, with two minor units', () => {
    const others = currencies.filter(({ numeric }) => numeric === null)
    expect(others.map(({ code }) => code).join(' ')).toBe('CNH FOK GGP IMP JEP KID TVD')
    expect(new Set(others.map(({ minorUnits }) => minorUnits))).toEqual(new Set([2]))
    const numerics = currencies.flatMap(({ numeric }) => numeric ?? [])
    expect([currencies.length, new Set(numerics).size]).toEqual([178 + others.length, 178])
    // Amendments since 2021.
    const amended = (list: string): string[] => list.split(' ').filter((code) => findCurrency(code))
    expect(amended('VED SLE ZWG XCG XAD')).toHaveLength(5)
    expect(amended('CUC SLL HRK ZWL ANG BGN')).toEqual([])
  })

  it('has the minor units of ISO 4217', () => {
    const codesWith = (units: number | null): string[] =>
      currencies.flatMap(({ code, minorUnits }) => (minorUnits === units ? [code] : []))
    expect(codesWith(0).join(' ')).toBe(
      'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
    )
    expect(codesWith(3).join(' ')).toBe('BHD IQD JOD KWD LYD OMR TND')
    expect(codesWith(4).join(' ')).toBe('CLF UYW')
    expect(codesWith(null)).toEqual(expect.arrayContaining(['XAU', 'XDR', 'XXX']))
    const others = [0, 3, 4, null].flatMap(codesWith)
    expect(codesWith(2)).toHaveLength(currencies.length - others.length)
  })
})

const LOCAL = { FOK: ['FO'], GGP: ['GG'], IMP: ['IM'], JEP: ['JE'], KID: ['KI'], TVD: ['TV'] }

describe('by CLDR 48.2', () => {
  it('each currency has the countries where it is legal tender, sorted', () => {
    const expected: Record<string, string[]> = { ...LOCAL }
    for (const { region, codes } of CURRENCIES_BY_REGION) {
      if (RESERVED_REGIONS.includes(region)) continue
      for (const code of codes) expected[code] = [...(expected[code] ?? []), region].toSorted()
    }
    const found = currencies.filter(({ countries }) => countries.length > 0)
    const byCode = Object.fromEntries(found.map(({ code, countries }) => [code, countries]))
    expect(byCode).toEqual(expected)
  })

  const { cldr = 'none' } = process.versions
  it.runIf(HAS_CLDR)(`each currency has its narrow symbol (of CLDR ${cldr})`, () => {
    const narrow = (currency: string): string | undefined =>
      new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'narrowSymbol' })
        .formatToParts(0)
        .find(({ type }) => type === 'currency')?.value
    const all = ALL.filter(({ code }) => code !== 'XXX')
    expect(all.filter(({ code, symbol }) => (symbol ?? code) !== narrow(code))).toEqual([])
  })
})

/** Of the 21 currencies that the euro replaced, and the unit of account before it. */
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
  it('has a real day, a source and a positive ratio in each row, and all but one numeric code', () => {
    for (const { code, withdrawnAt, ratio, source } of withdrawnCurrencies) {
      expect([addDays(withdrawnAt, 0), isReal(source)], code).toEqual([withdrawnAt, true])
      expect(ratio === null || (ratio > 0 && Number.isFinite(ratio)), code).toBe(true)
    }
    const uncertain = withdrawnCurrencies.filter(({ numeric }) => numeric === null)
    expect(uncertain.map(({ code }) => code)).toEqual(['ROL'])
  })

  const lineOf = (code: string): string[] => {
    const next = findWithdrawn(code)?.successor
    return next === undefined ? [] : [next, ...lineOf(next)]
  }

  it.each(withdrawnCurrencies)('leads from $code to an active code, forward in time', (row) => {
    const { code, numeric } = row
    const line = lineOf(code)
    const days = [code, ...line].flatMap((each) => findWithdrawn(each)?.withdrawnAt ?? [])
    expect(days).toEqual([...new Set(days)].toSorted())
    expect(findCurrency(line.at(-1) ?? '')).toBeDefined()
    // A number is shared only with successors.
    const namesakes = ALL.filter((other) => numeric !== null && other.numeric === numeric)
    const relatives = namesakes.filter((other) => {
      return [code, ...line].includes(other.code) || lineOf(other.code).includes(code)
    })
    expect(relatives).toEqual(namesakes)
  })

  it('has the irrevocable euro rates with the six significant digits of the regulations', () => {
    const rows = rowsOf(EURO_RATES)
    for (const [code = '', rate = ''] of rows) {
      expect(rate.replace(/^0\./, '').replace('.', ''), code).toMatch(/^[1-9]\d{5}$/)
      expect(findWithdrawn(code)?.ratio?.toPrecision(6), code).toBe(rate)
      expect(findWithdrawn(code)?.ratio, code).toBe(Number(rate))
    }
    const adopters = withdrawnCurrencies.filter(({ successor }) => successor === 'EUR')
    expect(adopters.map(({ code }) => code)).toEqual([...rows.map(([code]) => code), 'XEU'])
  })

  it.each([
    ['ATS', '1999-01-01', 'Council Regulation (EC) No 2866/98'],
    ['GRD', '2001-01-01', 'Council Regulation (EC) No 1478/2000'],
    ['HRK', '2023-01-01', 'Council Regulation (EU) 2022/1208'],
    ['BGN', '2026-01-01', 'Council Regulation (EU) 2025/1409'],
  ])('dates %s by the day of the euro, and names the regulation: %s, %s', (code, day, source) => {
    expect(findWithdrawn(code)).toMatchObject({ withdrawnAt: day, successor: 'EUR', source })
  })

  it('has the ratios of other reforms', () => {
    for (const [code = '', ratio, successor] of rowsOf(RATIOS))
      expect(findWithdrawn(code), code).toMatchObject({ successor, ratio: Number(ratio) })
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
