/** A currency that the tables do not have, or without minor unit. */
const NO_DIGITS = 'XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX'

/**
 * Codes by digits after the decimal point: those of ISO 4217 for currencies in use, and those of CLDR 48.2 (file
 * `currencyData.json`, `_digits`) for withdrawn currencies, for which ISO 4217 has none.
 */
const CODES_BY_DIGITS: readonly (readonly [digits: number, codes: string])[] = [
  [
    2,
    `
    AED AFA AFN ALL AMD ANG AOA ARA ARP ARS ATS AUD AWG AZM AZN BAM BBD BDT BEF BGL BGN BMD BND BOB BOP BOV BRB
    BRC BRE BRL BRN BRR BSD BTN BWP BYB BYN BZD CAD CDF CHE CHF CHW CNH CNY COP COU CRC CSD CUC CUP CVE CYP CZK
    DDM DEM DKK DOP DZD ECS EEK EGP ERN ETB EUR FIM FJD FKP FOK FRF GBP GEK GEL GGP GHC GHS GIP GMD GRD GTQ GWP
    GYD HKD HNL HRD HRK HTG HUF IDR IEP ILR ILS IMP INR IRR ISJ JEP JMD KES KGS KHR KID KPW KYD KZT LAK LBP LKR
    LRD LSL LTL LTT LVL MAD MDL MGA MKD MLF MMK MNT MOP MRU MTL MUR MVR MWK MXN MXP MXV MYR MZM MZN NAD NGN NIC
    NIO NLG NOK NPR NZD PAB PEI PEN PES PGK PHP PKR PLN PLZ PTE QAR ROL RON RSD RUB RUR SAR SBD SCR SDD SDG SEK
    SGD SHP SIT SKK SLE SOS SRD SRG SSP STN SVC SYP SZL THB TJR TJS TMT TOP TRY TTD TVD TWD TZS UAH UAK USD USN
    UYP UYU UZS VEB VED VEF VES WST XAD XCD XCG XEU YER ZAR ZMW ZWG ZWL ZWN ZWR`,
  ],
  [
    0,
    `BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF
    BYR ESP ITL LUF MGF MRO SLL STD TMM TRL ZMK ZWD`,
  ],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
]

/**
 * Codes by the smallest amount in cash, in minor units, where that is more than one: CLDR 48.2, file `currencyData.json`,
 * `_cashRounding` in units of `_cashDigits`, or else `_rounding` and `_digits`.
 */
const CODES_BY_CASH: readonly (readonly [step: bigint, codes: string])[] = [
  [5n, 'CAD CHF'],
  [50n, 'DKK'],
  [
    100n,
    `AFN ALL AMD COP CRC CZK GYD IDR IRR KPW LAK LBP MGA MMK MNT MUR NOK PKR RSD SEK SOS SYP TWD TZS UZS VEF YER`,
  ],
  [500n, 'HUF'],
  [1000n, 'IQD'],
]

/** Returns the first of `groups` whose codes include `code`. */
function groupOf<Value>(
  groups: readonly (readonly [value: Value, codes: string])[],
  code: string,
): Value | undefined {
  return groups.find(([, codes]) => codes.includes(code))?.[0]
}

/** Returns the digits after the decimal point of `code`, in upper case; undefined without a minor unit. */
export function findDigits(code: string): number | undefined {
  return /^[A-Z]{3}$/.test(code) ? groupOf(CODES_BY_DIGITS, code) : undefined
}

/**
 * Returns the digits after the decimal point of a currency: those of ISO 4217, and for withdrawn currencies those of CLDR.
 * Codes have three letters in either case.
 *
 * @throws {TypeError} for an unknown code, and for one without a minor unit, such as `XAU`
 * @example
 * ```ts
 * import { digitsOf } from 'ratesmith/money'
 *
 * console.log(digitsOf('JPY'), digitsOf('USD'), digitsOf('KWD')) // 0 2 3
 * ```
 */
export function digitsOf(code: string): number {
  const upper = String(code).toUpperCase()
  const digits = findDigits(upper)
  if (digits !== undefined) return digits
  throw new TypeError(
    /^[A-Z]{3}$/.test(upper) && NO_DIGITS.includes(upper)
      ? `${upper} has no minor unit`
      : `unknown currency code ${JSON.stringify(String(code).slice(0, 20))}`,
  )
}

/** Returns the smallest amount of `code` in cash, in minor units. */
export function cashStepOf(code: string): bigint {
  return groupOf(CODES_BY_CASH, code.toUpperCase()) ?? 1n
}
