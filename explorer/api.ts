import type {
  Attribution,
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

/** Returns which pairs have a history: those of two covered currencies, which have a source in common if sources are listed. */
export function historyCoverageOf(currencies: readonly CurrencyCoverage[]): HistoryCoverage {
  const isComplete = currencies.every(({ history }) => history !== null)
  const isEmpty = currencies.every(({ history }) => history === false)
  const byCode = new Map(currencies.map((currency) => [currency.code, currency]))
  const sources = currentSources(currencies)
  return {
    isComplete,
    whyNone(from, to) {
      if (isEmpty) return 'This service has no history'
      const pair = [...new Set([from, to])]
      const missing = pair.filter((code) => byCode.get(code)?.history === false)
      const unknown = isComplete ? pair.filter((code) => !byCode.has(code)) : []
      const without = [...missing, ...unknown]
      if (without.length > 0) return `No daily history for ${without.join(' and ')}`
      const [first, second] = [sources.get(from), sources.get(to)]
      if (!isComplete || !first || !second) return undefined
      const isShared = first.some((source) => second.includes(source))
      return isShared ? undefined : `No source has a daily history for both ${from} and ${to}`
    },
  }
}

/** A currency without rates for longer, before the newest of a source, has left it. */
const MAX_PAUSE_MS = 31 * 86_400_000

/** Returns the sources that have each currency now, where sources are listed. */
function currentSources(currencies: readonly CurrencyCoverage[]): Map<string, string[]> {
  const newest = new Map<string, string>()
  for (const { source, to } of currencies.flatMap(({ histories = [] }) => histories)) {
    const known = newest.get(idOf(source)) ?? ''
    newest.set(idOf(source), to !== null && to > known ? to : known)
  }
  return new Map(
    currencies.flatMap(({ code, histories }): [string, string[]][] => {
      const current = histories?.filter(({ source, to }) => {
        const age = Date.parse(newest.get(idOf(source)) ?? '') - Date.parse(to ?? '')
        return !(age > MAX_PAUSE_MS)
      })
      return current ? [[code, current.map(({ source }) => idOf(source))]] : []
    }),
  )
}

function idOf({ name, url }: Attribution): string {
  return url + name
}
