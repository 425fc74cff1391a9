import type { CurrencyCode, KnownCurrencyCode } from '../rates/known-currency-code.ts'

/**
 * Values by upper-case code: `Value` for a known code, `OfUnknown` for any other literal code. Values may be undefined if
 * the type is not a tuple. An empty list, or codes of type `string`, give `Record<string, Value>`.
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
 * Rates by upper-case code for the requested `Symbols`: `number` for a known literal code, and `number | undefined` for any
 * other, because responses omit withdrawn currencies. Rates may also be undefined if the type is not a tuple. An empty
 * list, or codes of type `string`, give `Record<string, number>`.
 */
export type RatesOf<Symbols extends readonly CurrencyCode[]> = ByCode<
  Symbols,
  number,
  number | undefined
>
