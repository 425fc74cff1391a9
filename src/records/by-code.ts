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
