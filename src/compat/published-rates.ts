import type { Conversion } from '../api/convert.ts'
import type { CurrencyList } from '../api/currencies.ts'
import type { RateHistory } from '../api/history.ts'
import type { LatestRates } from '../api/latest.ts'
import { RatesError, invalidCurrency } from '../errors.ts'
import type { RatesOperations } from '../api/operations.ts'
import type { CurrencyCode } from '../rates/iso-4217.ts'
import type { ConversionParams, HistoryParams, LatestParams } from '../api/parameters.ts'

/**
 * The operations of a handler without rates that are not in the publication of their source: the formats of the services
 * have no place to say so. Such currencies are unknown here.
 */
export interface PublishedRates {
  latest(params?: LatestParams): Promise<LatestRates>
  convert(params: ConversionParams<CurrencyCode>): Promise<Conversion>
  history(params: HistoryParams): Promise<RateHistory>
  currencies(): Promise<CurrencyList>
}

export function publishedRates(rates: RatesOperations): PublishedRates {
  async function latest(params: LatestParams = {}): Promise<LatestRates> {
    const { symbols = [] } = params
    const table = await rates.latest(params)
    const { derived } = table
    if (!derived) return table
    const isPublished = (code: string): boolean => derived[code.toUpperCase()] === undefined
    const unknown = symbols.find((code) => !isPublished(code))
    if (unknown !== undefined) throw invalidCurrency('symbols', unknown)
    const published = Object.entries(table.rates).filter(([code]) => isPublished(code))
    return { ...table, rates: Object.fromEntries(published) }
  }

  return {
    latest,
    async convert(params) {
      const conversion = await rates.convert(params)
      if (conversion.derived) throw invalidCurrency('to', params.to)
      return conversion
    },
    async history(params) {
      const history = await rates.history(params)
      if (history.derived) throw new RatesError('no_data', 'No published rates in this range')
      return history
    },
    currencies: () => rates.currencies(),
  }
}
