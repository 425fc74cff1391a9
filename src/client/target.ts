import type { ConversionListParams } from '../records/conversions.ts'

/** What every call takes beside its question. */
export interface CallOptions {
  /** Ends the call, which rejects with the signal's reason (default: nothing ends it). */
  signal?: AbortSignal | undefined
}

/** The parameter that asks for `to`: a code or a list of codes, or from code without types anything. */
export function writeTarget(to: ConversionListParams['to']): string | undefined {
  // A comma makes a list, even of one code; in a code itself it must make none.
  if (Array.isArray(to)) return to.map(writeTarget).join() + (to.length === 1 ? ',' : '')
  return to && [to].join().replaceAll(',', ';')
}
