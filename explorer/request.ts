import type { Conversion, CurrencyList, LatestRates, RateHistory } from 'ratesmith/client'

import { Failure, failureOf } from './failure.ts'

/** Responses of the API, by operation. */
export interface Responses {
  latest: LatestRates
  convert: Conversion
  history: RateHistory
  currencies: CurrencyList
}

/**
 * Fetches `path` of the API.
 *
 * @throws {Failure} if the request fails
 * @throws {DOMException} `AbortError` if `signal` aborts
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
  return response.json().catch(failed('The response is truncated or not from the API'))
}
