import type { CurrencyCode } from '../rates/known-currency-code.ts'
import type { ByCode } from '../records/by-code.ts'
import type { ConversionsQuestion } from '../records/conversions.ts'

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

/** The parameter that asks for `to`: a code or a list of codes, or from code without types anything. */
export function writeTarget(to: ConversionsQuestion['to']): string | undefined {
  // A comma makes a list, even of one code; in a code itself it must make none.
  if (Array.isArray(to)) return to.map(writeTarget).join() + (to.length === 1 ? ',' : '')
  return to && [to].join().replaceAll(',', ';')
}
