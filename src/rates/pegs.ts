import { amountNeeded } from './arithmetic.ts'
import type { Day } from './dates.ts'

/** A currency that an authority keeps at a ratio, or within a band, of another. */
export interface Peg {
  /** ISO 4217 code. */
  currency: string
  /** ISO 4217 code of the currency that it is pegged to. */
  anchor: string
  /** Units of the currency for one unit of the anchor; null for a band. */
  ratio: number | null
  /** Units of the anchor for one unit of the currency, where that is declared: then `ratio` has 15 digits of 1 / price; otherwise null. */
  price: number | null
  /** Lowest and highest units of the currency for one unit of the anchor; null for a ratio. */
  band: readonly [low: number, high: number] | null
  /** First day on which it surely held, `YYYY-MM-DD`. */
  since: string
  /** Last day, `YYYY-MM-DD`; null while it is in force. */
  until: string | null
}

/** Currency, anchor, ratio (1/price if the price is declared) or band, first day, last day if it has ended. */
const rows = [
  'AED USD 3.6725 1997-11-02',
  'ANG USD 1.79 1971-12-18 2025-03-30',
  'AWG USD 1.79 1986-01-01',
  'BAM EUR 1.95583 1999-01-01',
  'BBD USD 2 1975-07-05',
  'BGN EUR 1.95583 1999-07-05 2025-12-31',
  'BHD USD 0.376 2001-01-01',
  'BMD USD 1 1972-02-06',
  'BND SGD 1 1967-06-12',
  'BSD USD 1 1974-01-01',
  'BTN INR 1 1974-01-01',
  'BZD USD 2 1979-01-01',
  'CVE EUR 110.265 1999-01-01',
  'DJF USD 177.721 1973-02-20',
  // 7.46038, by 2.25 % in both directions.
  'DKK EUR 7.29252–7.62824 1999-01-01',
  'ERN USD 15 2005-01-01',
  'FKP GBP 1 1966-02-14',
  'GGP GBP 1 1971-02-15',
  'GIP GBP 1 1928-01-01',
  'HKD USD 7.75–7.85 2005-05-18',
  'IMP GBP 1 1971-02-15',
  'JEP GBP 1 1971-02-15',
  'JOD USD 0.709 1995-10-23',
  'KMF EUR 491.96775 1999-01-01',
  'KYD USD 1/1.2 1974-04-01',
  'LSL ZAR 1 1980-01-19',
  'MOP HKD 1.03 1983-01-01',
  'NAD ZAR 1 1993-09-15',
  'NPR INR 1.6 1993-02-12',
  'OMR USD 1/2.6008 1986-01-01',
  'PAB USD 1 1904-06-28',
  'QAR USD 3.64 2001-07-09',
  'SAR USD 3.75 1986-06-01',
  'SHP GBP 1 1976-02-02',
  'STN EUR 24.5 2018-01-01',
  'SZL ZAR 1 1974-09-06',
  'XAF EUR 655.957 1999-01-01',
  'XCD USD 2.7 1976-07-07',
  'XCG USD 1.79 2025-03-31',
  'XOF EUR 655.957 1999-01-01',
  'XPF EUR 1/0.00838 1999-01-01',
]

/** By currency. Their authorities are in another file, because the handler does not need them. */
export const pegs: ReadonlyMap<string, Peg> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ rows.map((row) => {
    const [currency = '', anchor = '', units = '', since = '', until = null] = row.split(' ')
    const [low = NaN, high] = units.replace('1/', '').split('–').map(Number)
    const price = units.startsWith('1/') ? low : null
    const [ratio, band] =
      high === undefined
        ? [price ? amountNeeded(1, price) : low, null]
        : [null, [low, high] as const]
    return [currency, { currency, anchor, ratio, price, band, since, until }]
  }),
)

/** Feeds do not update all currencies at the same time. Of the nakfa, whose ratio is not declared, some banks quote 15.38. */
const TOLERANCE = 1.02
const TOLERANCES: Readonly<Record<string, number>> = { ERN: 1.03 }

/** Returns whether a rate is off the official peg of its currency on `day`; false without a peg or a rate of the anchor. */
export function isOffPeg(code: string, day: Day, rateOf: (code: string) => unknown): boolean {
  const { anchor = '', ratio = null, band, since = '9999', until } = pegs.get(code) ?? {}
  if (day < since || (until && day > until)) return false
  const units = Number(rateOf(code)) / Number(rateOf(anchor))
  const [low, high] = band ?? [Number(ratio), Number(ratio)]
  const { [code]: tolerance = TOLERANCE } = TOLERANCES
  return units < low / tolerance || units > high * tolerance
}

/** Returns how many pegs lie between a currency and one without: 0 without a peg. */
export function pegDepth(code: string): number {
  const peg = pegs.get(code)
  return peg ? 1 + pegDepth(peg.anchor) : 0
}
