import { redenominatedBy } from './currency-code.ts'
import type { Day } from './dates.ts'
import { moveBetween } from './rate-table.ts'

const AS_OF: Day = '2026-11-25'

/**
 * Units for one US dollar on that day, as powers of √10 and the codes near each: enough to notice another currency or a wrong
 * unit where nothing else is known. `scripts/usual-rates.ts` renews them.
 */
const rows = [
  '-3: CLF',
  '-1: BHD KWD OMR',
  '0: USD AUD AZN BAM BMD BND BSD CAD CHF EUR FKP GBP GGP GIP IMP JEP JOD KID KYD NZD PAB SGD SHP TVD XDR',
  '1: AED AWG BBD BRL BYN BZD FJD GEL ILS LYD MYR PEN PGK PLN QAR RON SAR TMT TND TOP WST XCD XCG',
  '2: BOB BWP CNH CNY DKK ERN FOK GHS GTQ HKD LSL MAD MDL MOP MVR NAD NOK SBD SCR SEK SZL TJS TTD ZAR',
  '3: CUP CZK EGP HNL MKD MRU MUR MXN NIO SLE SRD STN THB TRY TWD UAH UYU ZMW ZWG',
  '4: AFN ALL BDT BTN CVE DOP DZD ETB GMD HTG INR ISK JMD JPY KES KGS MZN NPR PHP RSD RUB SYP VUV XPF',
  '5: AMD CRC DJF GYD HUF KMF KZT LKR LRD PKR SDG VES XAF XOF YER',
  '6: AOA ARS CLP IQD KRW MWK NGN RWF SOS',
  '7: BIF CDF COP KHR MGA MMK MNT SSP TZS UGX',
  '8: GNF IDR PYG UZS',
  '9: LAK VND',
  '10: LBP',
  '12: IRR',
]

/** A first rate that is further off is not believed without another source. */
export const MAX_UNUSUAL_MOVE = 100

/** A first rate that is further off is compared with another source, if one is configured. */
export const MIN_COMPARED_MOVE = 10

const stepByCode: ReadonlyMap<string, number> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ rows.flatMap((row) => {
    const [step, codes = ''] = row.split(': ')
    return codes.split(' ').map((code) => [code, Number(step)] as const)
  }),
)

/** Returns the factor between `rate` (units of `code` for one unit of `base`) and the usual one of a day; NaN if that is unknown. */
export function moveFromUsual(
  quoted: { base: string; code: string; rate: unknown },
  day: Day,
): number {
  const [step = NaN, baseStep = NaN] = [quoted.code, quoted.base].map((code) =>
    stepByCode.get(code),
  )
  const usual = 10 ** ((step - baseStep) / 2) * redenominatedBy(quoted.code, day, AS_OF)
  return moveBetween(quoted.rate, usual)
}
