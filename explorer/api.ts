import type { Conversion, HistoryList, LatestRates, RateHistory } from 'ratesmith/client'

import type { Choices } from './view.ts'

export interface Responses {
  latest: LatestRates
  convert: Conversion
  history: RateHistory | HistoryList
}

export function historiesOf(response: Responses['history']): RateHistory[] {
  return 'series' in response ? Object.values(response.series) : [response]
}

export interface ApiRequest<Operation extends keyof Responses = keyof Responses> {
  operation: Operation
  /** Query parameters; an amount is as typed. */
  parameters: Record<string, string>
}

export function pathOf(base: string, { operation, parameters }: ApiRequest): string {
  const query = new URLSearchParams(parameters).toString()
  return `${base}/v1/${operation}?${query.replaceAll('%2C', ',')}`
}

/** Returns why a pair has no history, as a sentence; undefined if it may have one: sources of both may differ, or be unknown. */
export function whyNoHistory(
  { currencies }: Choices,
  from: string,
  to: string,
): string | undefined {
  const histories = [...currencies.values()].map(({ history }) => history)
  if (histories.length > 0 && !histories.some((each) => each !== false)) {
    return 'This service has no history'
  }
  const isComplete = histories.length > 0 && !histories.includes(null)
  const without = [...new Set([from, to])].filter((code) =>
    currencies.has(code) ? currencies.get(code)?.history === false : isComplete,
  )
  return without.length > 0 ? `No daily history for ${without.join(' and ')}` : undefined
}
