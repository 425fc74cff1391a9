import type { Day } from './day.ts'
import { exactProduct } from './rounding.ts'

/** A currency that another one has replaced. */
export interface WithdrawnCurrency {
  /** The code that ISO 4217 had for it. */
  code: string
  /** ISO 4217 numeric code as three digits; null where it is not certain. */
  numeric: string | null
  /** English name. */
  name: string
  /**
   * The day from which the successor was the unit of account, `YYYY-MM-DD`, and the only one where both were at first.
   * Notes and coins may have stayed legal tender for longer, and ISO 4217 may have listed the code for longer.
   */
  withdrawnAt: string
  /** The code to use instead; it may be withdrawn too. */
  successor: string
  /** Units of the withdrawn currency for one of the successor, fixed by law; null where there is no fixed ratio. */
  ratio: number | null
  /** Where the date and the ratio come from. */
  source: string
}

/** What became of such a currency. */
export type Withdrawal = Omit<WithdrawnCurrency, 'numeric' | 'name' | 'source'>

type Row = readonly [code: string, successor: string, ratio: number | null, withdrawnAt: string]

/** Their names, and where the dates and ratios come from, are in a file of their own: no answer needs them. */
const rows: readonly Row[] = [
  ['AFA', 'AFN', 1000, '2002-10-07'],
  ['ANG', 'XCG', 1, '2025-03-31'],
  ['ARA', 'ARS', 10_000, '1992-01-01'],
  ['ARP', 'ARA', 1000, '1985-06-15'],
  ['ATS', 'EUR', 13.7603, '1999-01-01'],
  ['AZM', 'AZN', 5000, '2006-01-01'],
  ['BEF', 'EUR', 40.3399, '1999-01-01'],
  ['BGL', 'BGN', 1000, '1999-07-05'],
  ['BGN', 'EUR', 1.95583, '2026-01-01'],
  ['BOP', 'BOB', 1_000_000, '1987-01-01'],
  ['BRB', 'BRC', 1000, '1986-02-28'],
  ['BRC', 'BRN', 1000, '1989-01-16'],
  ['BRE', 'BRR', 1000, '1993-08-01'],
  ['BRN', 'BRE', 1, '1990-03-16'],
  ['BRR', 'BRL', 2750, '1994-07-01'],
  ['BYB', 'BYR', 1000, '2000-01-01'],
  ['BYR', 'BYN', 10_000, '2016-07-01'],
  ['CSD', 'RSD', 1, '2006-10-25'],
  ['CUC', 'CUP', 1 / 24, '2021-01-01'],
  ['CYP', 'EUR', 0.585274, '2008-01-01'],
  ['DDM', 'DEM', null, '1990-07-01'],
  ['DEM', 'EUR', 1.95583, '1999-01-01'],
  ['ECS', 'USD', 25_000, '2000-03-13'],
  ['EEK', 'EUR', 15.6466, '2011-01-01'],
  ['ESP', 'EUR', 166.386, '1999-01-01'],
  ['FIM', 'EUR', 5.94573, '1999-01-01'],
  ['FRF', 'EUR', 6.55957, '1999-01-01'],
  ['GEK', 'GEL', 1_000_000, '1995-10-02'],
  ['GHC', 'GHS', 10_000, '2007-07-01'],
  ['GRD', 'EUR', 340.75, '2001-01-01'],
  ['GWP', 'XOF', 65, '1997-05-02'],
  ['HRD', 'HRK', 1000, '1994-05-30'],
  ['HRK', 'EUR', 7.5345, '2023-01-01'],
  ['IEP', 'EUR', 0.787564, '1999-01-01'],
  ['ILR', 'ILS', 1000, '1985-09-04'],
  ['ISJ', 'ISK', 100, '1981-01-01'],
  ['ITL', 'EUR', 1936.27, '1999-01-01'],
  ['LTL', 'EUR', 3.4528, '2015-01-01'],
  ['LTT', 'LTL', 100, '1993-06-25'],
  ['LUF', 'EUR', 40.3399, '1999-01-01'],
  ['LVL', 'EUR', 0.702804, '2014-01-01'],
  ['MGF', 'MGA', 5, '2005-01-01'],
  ['MLF', 'XOF', 2, '1984-06-01'],
  ['MRO', 'MRU', 10, '2018-01-01'],
  ['MTL', 'EUR', 0.4293, '2008-01-01'],
  ['MXP', 'MXN', 1000, '1993-01-01'],
  ['MZM', 'MZN', 1000, '2006-07-01'],
  ['NIC', 'NIO', 5_000_000, '1991-04-30'],
  ['NLG', 'EUR', 2.20371, '1999-01-01'],
  ['PEI', 'PEN', 1_000_000, '1991-07-01'],
  ['PES', 'PEI', 1000, '1985-02-01'],
  ['PLZ', 'PLN', 10_000, '1995-01-01'],
  ['PTE', 'EUR', 200.482, '1999-01-01'],
  ['ROL', 'RON', 10_000, '2005-07-01'],
  ['RUR', 'RUB', 1000, '1998-01-01'],
  ['SDD', 'SDG', 100, '2007-07-01'],
  ['SIT', 'EUR', 239.64, '2007-01-01'],
  ['SKK', 'EUR', 30.126, '2009-01-01'],
  ['SLL', 'SLE', 1000, '2022-07-01'],
  ['SRG', 'SRD', 1000, '2004-01-01'],
  ['STD', 'STN', 1000, '2018-01-01'],
  ['TJR', 'TJS', 1000, '2000-10-30'],
  ['TMM', 'TMT', 5000, '2009-01-01'],
  ['TRL', 'TRY', 1_000_000, '2005-01-01'],
  ['UAK', 'UAH', 100_000, '1996-09-02'],
  ['UYP', 'UYU', 1000, '1993-03-01'],
  ['VEB', 'VEF', 1000, '2008-01-01'],
  ['VEF', 'VES', 100_000, '2018-08-20'],
  ['XEU', 'EUR', 1, '1999-01-01'],
  ['ZMK', 'ZMW', 1000, '2013-01-01'],
  ['ZWD', 'ZWN', 1000, '2006-08-01'],
  ['ZWL', 'ZWG', 2498.7242, '2024-04-05'],
  ['ZWN', 'ZWR', 10_000_000_000, '2008-08-01'],
  // A trillion of them were one dollar of 2009; that of 2019, which got its code too, was another one.
  ['ZWR', 'ZWL', null, '2009-02-02'],
]

/** Every withdrawal, sorted by code. */
export const withdrawals: readonly Withdrawal[] = rows.map(
  ([code, successor, ratio, withdrawnAt]) => ({ code, withdrawnAt, successor, ratio }),
)

const byCode: ReadonlyMap<string, Withdrawal> = new Map(
  withdrawals.map((withdrawal) => [withdrawal.code, withdrawal]),
)

/** What became of the currency with exactly this upper-case code, where it is withdrawn. */
export function findWithdrawn(code: string): Withdrawal | undefined {
  return byCode.get(code)
}

/** What a withdrawn currency has become. */
export interface Succession {
  /** The code that is not withdrawn. */
  successor: string
  /** Units of the withdrawn currency for one of it, through all that were between; null where one of them had none. */
  ratio: number | null
}

/** What the currency with this upper-case code had become by `day`, where it was withdrawn by then. */
export function findSuccession(code: string, day: Day): Succession | undefined {
  let found: Succession | undefined
  for (let next = byCode.get(code); next && next.withdrawnAt <= day;) {
    const { successor, ratio } = next
    const before = found ? found.ratio : 1
    found = {
      successor,
      ratio: ratio === null || before === null ? null : exactProduct(before, ratio),
    }
    next = byCode.get(successor)
  }
  return found
}
