import type { CurrencyCode, KnownCurrencyCode } from '../rates/known-currency-code.ts'

/**
 * A `Value` for each of `Codes`, by upper-case code: `OfUnknown` for a code that is not known. Any of a list that need not
 * hold all that its type allows may be missing. Where the compiler knows no codes, or the list is empty, there may be any.
 */
export type ByCode<
  Codes extends readonly CurrencyCode[],
  Value,
  OfUnknown = Value,
> = string extends Codes[number]
  ? Record<string, Value>
  : Codes extends readonly []
    ? Record<string, Value>
    : number extends Codes['length']
      ? { [Code in Uppercase<Codes[number]>]: Value | undefined }
      : { [Code in Uppercase<Codes[number]>]: Code extends KnownCurrencyCode ? Value : OfUnknown }

/**
 * The rates of a record that answers a question for `Symbols`, by upper-case code. Known codes that are written out are numbers; a
 * code that is not known may be of a withdrawn currency, which is left out, and so may any of a list that need not hold all
 * that its type allows. Where the compiler knows no codes, or the list is empty, rates may have any.
 */
export type RatesOf<Symbols extends readonly CurrencyCode[]> = ByCode<
  Symbols,
  number,
  number | undefined
>
