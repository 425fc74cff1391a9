import type { Conversion } from '../records/conversion.ts'
import type { CurrencyList } from '../records/currencies.ts'
import type { RateHistory } from '../records/history.ts'
import type { LatestRates } from '../records/latest.ts'
import { Failure, failureOf } from './failure.ts'

/** What the API answers with, by operation. */
export interface Responses {
  latest: LatestRates
  convert: Conversion
  history: RateHistory
  currencies: CurrencyList
}

/**
 * The record at `path`.
 *
 * @throws {Failure} where there is none
 * @throws {DOMException} `AbortError`, once `signal`, where there is one, is aborted
 */
export async function request<K extends keyof Responses>(
  path: string,
  signal: AbortSignal | null = null,
): Promise<Responses[K]> {
  const failed =
    (message: string) =>
    (cause: unknown): never => {
      throw signal?.aborted ? cause : new Failure(message)
    }
  const response = await fetch(path, { signal }).catch(failed('The server cannot be reached'))
  if (!response.ok) throw await failureOf(response)
  return response.json().catch(failed('The answer broke off, or is not that of the API'))
}
