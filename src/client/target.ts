import type { ConversionListParams } from '../api/convert.ts'

/** Options of every client call. */
export interface CallOptions {
  /** Aborts the call, which rejects with the signal's reason (default none). */
  signal?: AbortSignal | undefined
}

/** Returns the parameter `to` for a code or a list of codes; untyped callers may pass anything. */
export function writeTarget(to: ConversionListParams['to']): string | undefined {
  // A trailing comma makes a list of one code; a comma inside a code must not make a list.
  if (Array.isArray(to)) return to.map(writeTarget).join() + (to.length === 1 ? ',' : '')
  return to && [to].join().replaceAll(',', ';')
}
