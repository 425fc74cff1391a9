import type { CurrencyCode } from '../rates/known-currency-code.ts'
import type { ByCode } from '../records/by-code.ts'

/** What every call takes beside its question. */
export interface CallOptions {
  /** Ends the call, which rejects with the signal's reason (default: nothing ends it). */
  signal?: AbortSignal | undefined
}

/**
 * The rates of a record that was asked for `Symbols`, by upper-case code. Known codes that are written out are numbers; a
 * code that is not known may be of a withdrawn currency, which is left out, and so may any of a list that need not hold all
 * that its type allows. Where the compiler knows no codes, or the list is empty, rates may have any.
 */
export type RatesOf<Symbols extends readonly CurrencyCode[]> = ByCode<
  Symbols,
  number,
  number | undefined
>
