import { invalidCurrency } from '../core.ts'
import type { DayRates } from '../core.ts'
import { RatesError } from '../index.ts'
import type {
  Conversion,
  CurrencyCode,
  ConversionParams,
  LatestParams,
  LatestRates,
  RatesOperations,
} from '../index.ts'

/**
 * The operations of a handler without rates that are not in the publication of their source: the formats of the services
 * have no place to say so. Such currencies are unknown here.
 */
export interface PublishedRates extends DayRates {
  latest(params?: Pick<LatestParams, 'base' | 'date'>): Promise<LatestRates>
  convert(params: ConversionParams<CurrencyCode>): Promise<Conversion>
}

export function publishedRates(rates: RatesOperations): PublishedRates {
  async function published(params: LatestParams, name: 'base' | 'from'): Promise<LatestRates> {
    const table = await rates.latest(params)
    const { base, derived } = table
    if (!derived) return table
    const others = Object.entries(table.rates).filter(([code]) => derived[code] === undefined)
    // All pairs of a base that is not published are derived.
    if (others.every(([code]) => code === base)) throw invalidCurrency(name, base)
    return { ...table, rates: Object.fromEntries(others) }
  }

  return {
    latest: (params = {}) => published(params, 'base'),
    async convert(params) {
      const { from, to, date } = params
      const conversion = await rates.convert(params)
      if (!conversion.derived) return conversion
      await published({ base: from, date }, 'from')
      throw invalidCurrency('to', to)
    },
    async history(params) {
      const history = await rates.history(params)
      if (history.derived) throw new RatesError('no_data', 'No published rates in this range')
      return history
    },
    currencies: () => rates.currencies(),
  }
}
