import type {
  Conversion,
  CurrencyCoverage,
  HistoryList,
  LatestRates,
  RateHistory,
} from 'ratesmith/client'

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

export interface HistoryCoverage {
  isComplete: boolean
  /** Returns why a pair has no history, as a sentence; undefined if it has one, or while that is unknown. */
  whyNone(from: string, to: string): string | undefined
}

/** Without currencies, every pair may have a history. */
export const UNKNOWN_COVERAGE: HistoryCoverage = { isComplete: false, whyNone: () => undefined }

/** Returns which pairs have a history: those of two covered currencies, though perhaps of no common source. */
export function historyCoverageOf(currencies: readonly CurrencyCoverage[]): HistoryCoverage {
  const isComplete = currencies.every(({ history }) => history !== null)
  const isEmpty = currencies.every(({ history }) => history === false)
  const covered = new Map(currencies.map(({ code, history }) => [code, history]))
  return {
    isComplete,
    whyNone(from, to) {
      if (isEmpty) return 'This service has no history'
      const without = [...new Set([from, to])].filter((code) =>
        covered.has(code) ? covered.get(code) === false : isComplete,
      )
      return without.length > 0 ? `No daily history for ${without.join(' and ')}` : undefined
    },
  }
}
