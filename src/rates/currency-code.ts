import { exactProduct } from './arithmetic.ts'
import type { Day } from './dates.ts'

/**
 * The form of a currency code: three ASCII letters in either case, but for two capitals and a small letter. The currency may
 * not exist.
 */
export const CODE_FORM: RegExp = /^([A-Z]{3}|[a-z][A-Za-z]{2}|[A-Z][a-z][A-Za-z])$/

/** Codes of market data for a part of a unit, and how many of them are one unit. */
const MINOR_UNITS: Readonly<Record<string, number>> = { GBX: 100, ILA: 100, ZAC: 100, KWF: 1_000 }

/** Returns what to send instead of a code with which market data write hundredths, such as `GBp` and `GBX`. */
export function minorUnitHint(sent: string): string | undefined {
  const isMixed = /^[A-Z]{2}[a-z]$/.test(sent)
  const parts = MINOR_UNITS[sent.toUpperCase()] ?? (isMixed ? 100 : undefined)
  if (parts === undefined) return undefined
  const share = parts === 100 ? 'hundredths' : 'thousandths'
  return `market data write ${share} of a currency so: divide the amount by ${parts}, and send the code of the whole unit`
}

export function isCodeShaped(text: unknown): text is string {
  return typeof text === 'string' && CODE_FORM.test(text)
}

/** Returns whether `text` is three ASCII capitals. Without a regular expression, because a history has about 40,000 codes. */
export function isCode(text: unknown): text is string {
  if (typeof text !== 'string' || text.length !== 3) return false
  return (
    isCapital(text.charCodeAt(0)) && isCapital(text.charCodeAt(1)) && isCapital(text.charCodeAt(2))
  )
}

function isCapital(unit: number): boolean {
  return unit >= 0x41 && unit <= 0x5a
}

/** @internal An upper-case code of three letters. */
export type UppercaseCode = string

/** A currency that was replaced by another one. */
export interface WithdrawnCurrency {
  /** Former ISO 4217 code. */
  code: string
  /** ISO 4217 numeric code as three digits; null if uncertain. */
  numeric: string | null
  /** English name. */
  name: string
  /** Symbol, such as `₧`, which other currencies may share; null without one. */
  symbol: string | null
  /**
   * First day on which the successor was the only unit of account, `YYYY-MM-DD`. Notes and coins may have been legal tender
   * for longer, and ISO 4217 may have listed the code for longer.
   */
  withdrawnAt: string
  /** Code to use instead; may also be withdrawn. */
  successor: string
  /**
   * Units of the withdrawn currency for one unit of the successor as it is today, fixed by law; null without a fixed ratio. Below
   * 1, it may be the double nearest to a quotient: 1/24 for CUC.
   */
  ratio: number | null
  /** Source of the date and the ratio. */
  source: string
}

export type Withdrawal = Omit<WithdrawnCurrency, 'numeric' | 'name' | 'symbol' | 'source'>

/** The ratio is that of the day of the withdrawal. */
type Row = readonly [code: string, successor: string, ratio: number | null, withdrawnAt: string]

/** Names and sources are in another file, because the handler does not need them. */
const rows: readonly Row[] = [
  ['AFA', 'AFN', 1000, '2002-10-07'],
  ['ANG', 'XCG', 1, '2025-03-31'],
  ['AON', 'AOR', 1000, '1995-07-01'],
  ['AOR', 'AOA', 1_000_000, '1999-12-01'],
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
  // In Slovakia, SKK.
  ['CSK', 'CZK', 1, '1993-02-08'],
  // 1/24, as a literal, which bundlers can leave out.
  ['CUC', 'CUP', 0.041666666666666664, '2021-01-01'],
  ['CYP', 'EUR', 0.585274, '2008-01-01'],
  ['DDM', 'DEM', null, '1990-07-01'],
  ['DEM', 'EUR', 1.95583, '1999-01-01'],
  ['ECS', 'USD', 25_000, '2000-03-13'],
  ['EEK', 'EUR', 15.6466, '2011-01-01'],
  ['ESP', 'EUR', 166.386, '1999-01-01'],
  ['FIM', 'EUR', 5.94573, '1999-01-01'],
  ['FRF', 'EUR', 6.55957, '1999-01-01'],
  ['GEK', 'GEL', 1_000_000, '1995-10-02'],
  ['GHC', 'GHS', 10_000, '2007-07-03'],
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
  ['SLL', 'SLE', 1000, '2024-01-01'],
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
  ['YUM', 'CSD', 1, '2003-07-03'],
  ['ZMK', 'ZMW', 1000, '2013-01-01'],
  ['ZWD', 'ZWN', 1000, '2006-08-01'],
  ['ZWL', 'ZWG', 2498.7242, '2024-04-05'],
  ['ZWN', 'ZWR', 10_000_000_000, '2008-08-01'],
  // A trillion were one dollar of 2009; the dollar of 2019, which reused its code, was another currency.
  ['ZWR', 'ZWL', null, '2009-02-02'],
]

/** Currencies that lost zeros and kept their codes: old units for one new unit, and the first day of the new one. */
const redenominations: ReadonlyMap<string, readonly [ratio: number, date: Day]> =
  /* @__PURE__ */ new Map([
    ['SYP', [100, '2026-01-01']],
    ['VES', [1_000_000, '2021-10-01']],
  ])

/** A currency that lost zeros and kept its code. */
export interface Redenomination {
  /** ISO 4217 code. */
  code: UppercaseCode
  /** First day of the new unit, `YYYY-MM-DD`. */
  date: Day
  /** Old units for one new unit. */
  ratio: number
}

/** Returns the redenomination of `code` after the day `from` and up to the day `to`, if it kept its code. */
export function findRedenomination(code: string, from: Day, to: Day): Redenomination | undefined {
  const [ratio = 1, date = ''] = redenominations.get(code) ?? []
  return from < date && date <= to ? { code, date, ratio } : undefined
}

/** Returns how many units of `code` on the day `from` are one unit on the later day `to`: 1, unless it lost zeros between them. */
export function redenominatedBy(code: string, from: Day, to: Day): number {
  return findRedenomination(code, from, to)?.ratio ?? 1
}

export const END_OF_TIME: Day = '9999-12-31'

/** All withdrawals, sorted by code. */
export const withdrawals: readonly Withdrawal[] = /* @__PURE__ */ rows.map(
  ([code, successor, atEnd, withdrawnAt]) => {
    const ratio = atEnd && atEnd * redenominatedBy(successor, withdrawnAt, END_OF_TIME)
    return { code, withdrawnAt, successor, ratio }
  },
)

const byCode: ReadonlyMap<string, Withdrawal> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ withdrawals.map((withdrawal) => [withdrawal.code, withdrawal]),
)

export function findWithdrawal(code: string): Withdrawal | undefined {
  return byCode.get(code)
}

export interface Succession {
  /** Code of the first successor that is not withdrawn. */
  successor: string
  /** Units of the withdrawn currency for one unit of `successor`; null if one of the ratios between them is not fixed. */
  ratio: number | null
}

/** Returns what `code` was on `day`, if it was withdrawn by then. */
export function findSuccession(code: string, day: Day): Succession | undefined {
  let found: Succession | undefined
  for (let next = byCode.get(code); next && next.withdrawnAt <= day;) {
    const { successor, ratio } = next
    const before = found ? found.ratio : 1
    const onDay = ratio && ratio / redenominatedBy(successor, day, END_OF_TIME)
    found = {
      successor,
      ratio: onDay === null || before === null ? null : exactProduct(before, onDay),
    }
    next = byCode.get(successor)
  }
  return found
}
