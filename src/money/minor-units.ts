/**
 * Codes by digits after the decimal point, null for none: those of ISO 4217 for currencies in use, and those of CLDR 48.2
 * (file `currencyData.json`, `_digits`) for withdrawn currencies, for which ISO 4217 has none. `Bifyr` is BIF and BYR: the first
 * letter of a group, then the other two of each code.
 */
const CODES_BY_DIGITS: readonly (readonly [digits: number | null, codes: string])[] = [
  [
    2,
    'Aedfafnllmdngoaonorrarprstsudwgzmzn Bambddtefglgnmdndobopovrbrcrerlrnrrsdtnwpybynzd ' +
      'Caddfhehfhwnhnyopourcsdskucupveypzk Ddmemkkopzd Ecsekgprntbur Fimjdkpokrf Gbpekelgphchsipmdrdtqwpyd Hkdnlrdrktguf ' +
      'Idreplrlsmpnrrrsj Jepmd Kesgshridpwydzt Lakbpkrrdsltlttvl Maddlgakdlfmkntoprutlurvrwkxnxpxvyrzmzn ' +
      'Nadgniciolgokprzd Pabeienesgkhpkrlnlzte Qar Rolonsdubur Sarbdcrdddgekgdhpitkkleosrdrgsptnvcypzl ' +
      'Thbjrjsmtoprytdvdwdzs Uahaksdsnypyuzs Vebedefes Wst Xadcdcgeu Yerum Zarmwwgwlwnwr',
  ],
  [
    0,
    'Bifyr Clp Djf Esp Gnf Isktl Jpy Kmfrw Luf Mgfro Pyg Rwf Slltd Tmmrl Ugxyi Vnduv Xafofpf Zmkwd',
  ],
  [3, 'Bhd Iqd Jod Kwd Lyd Omr Tnd'],
  [4, 'Clf Uyw'],
  [null, 'Xagaubabbbcbddrpdptsutsuaxx'],
]

/**
 * Codes by the smallest amount in cash, in minor units, where that is more than one: CLDR 48.2, file `currencyData.json`,
 * `_cashRounding` in units of `_cashDigits`, or else `_rounding` and `_digits`.
 */
const CODES_BY_CASH: readonly (readonly [step: number, codes: string])[] = [
  [5, 'Cadhf'],
  [50, 'Dkk'],
  [100, 'Afnllmd Coprczk Gyd Idrrr Kpw Lakbp Mgamkntur Nok Pkr Rsd Sekosyp Twdzs Uzs Vef Yer'],
  [500, 'Huf'],
  [1000, 'Iqd'],
]

function byCode<Value>(
  groups: readonly (readonly [value: Value, codes: string])[],
): ReadonlyMap<string, Value> {
  const values = new Map<string, Value>()
  for (const [value, codes] of groups) {
    for (const [, first = '', ends = ''] of codes.matchAll(/(\w)(\w+)/g)) {
      for (const [end] of ends.toUpperCase().matchAll(/../g)) values.set(first + end, value)
    }
  }
  return values
}

const DIGITS = /* @__PURE__ */ byCode(CODES_BY_DIGITS)
const CASH_STEPS = /* @__PURE__ */ byCode(CODES_BY_CASH)

/** Returns the digits after the decimal point of `code`, in upper case; null without a minor unit, undefined if unknown. */
export function findDigits(code: string): number | null | undefined {
  return DIGITS.get(code)
}

/**
 * Returns the digits after the decimal point of a currency: those of ISO 4217, and for withdrawn currencies those of CLDR.
 * Codes have three letters in either case, but not the form `GBp`.
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
  const text = String(code)
  // Market data write hundredths of a currency like `GBp`.
  const digits = /^[A-Z]{2}[a-z]$/.test(text) ? undefined : findDigits(text.toUpperCase())
  if (digits === undefined) {
    throw new TypeError(`unknown currency code ${JSON.stringify(text.slice(0, 20))}`)
  }
  if (digits === null) throw new TypeError(`${text} has no minor unit`)
  return digits
}

/** Returns the smallest amount of `code`, a known currency, in cash, in minor units. */
export function cashStepOf(code: string): bigint {
  return BigInt(CASH_STEPS.get(code.toUpperCase()) ?? 1)
}
