import type { ConversionRecord } from '../records/conversion.ts'
import type { CurrenciesRecord } from '../records/currencies.ts'
import type { HistoryRecord } from '../records/history.ts'
import type { LatestRecord } from '../records/latest.ts'
import { Failure, failureOf } from './failure.ts'

/** What the API answers with, by operation. */
export interface Records {
  latest: LatestRecord
  convert: ConversionRecord
  history: HistoryRecord
  currencies: CurrenciesRecord
}

/**
 * The record at `path`.
 *
 * @throws {Failure} where there is none
 * @throws {DOMException} `AbortError`, once `signal`, where there is one, is aborted
 */
export async function ask<K extends keyof Records>(
  path: string,
  signal: AbortSignal | null = null,
): Promise<Records[K]> {
  const failed =
    (message: string) =>
    (cause: unknown): never => {
      throw signal?.aborted ? cause : new Failure(message)
    }
  const response = await fetch(path, { signal }).catch(failed('The server cannot be reached'))
  if (!response.ok) throw await failureOf(response)
  return response.json().catch(failed('The answer broke off, or is not that of the API'))
}
