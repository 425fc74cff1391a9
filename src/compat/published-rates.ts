import type { Conversion, ConversionParams } from '../api/convert.ts'
import type { CurrencyList } from '../api/currencies.ts'
import type { HistoryRange, HistoryRangeParams } from '../api/history.ts'
import type { DatedRates, DatedRatesParams, LatestParams, LatestRates } from '../api/latest.ts'
import type { RatesOperations } from '../api/rates-api.ts'
import { RatesError, invalidCurrency } from '../errors.ts'
import type { Day } from '../rates/dates.ts'

/**
 * The operations of a handler without rates that are not in the publication of their source: the formats of the services
 * have no place to say so. Such currencies are unknown here.
 */
export interface PublishedRates {
  latest(params: DatedRatesParams): Promise<DatedRates>
  latest(params?: LatestParams): Promise<LatestRates>
  convert(
    params: ConversionParams & { date?: Day | undefined },
  ): Promise<Conversion & { date?: Day }>
  history(params: HistoryRangeParams): Promise<HistoryRange>
  currencies(): Promise<CurrencyList>
}

export function publishedRates(rates: RatesOperations): PublishedRates {
  function latest(params: DatedRatesParams): Promise<DatedRates>
  function latest(params?: LatestParams): Promise<LatestRates>
  async function latest(
    params: LatestParams | DatedRatesParams = {},
  ): Promise<LatestRates | DatedRates> {
    const { symbols = [] } = params
    const table =
      params.date === undefined ? await rates.latest(params) : await rates.latest(params)
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
