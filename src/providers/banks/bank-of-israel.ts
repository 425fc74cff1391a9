import { createBank } from '../../upstream/bank.ts'
import type { BankOptions } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { requireWhole, withDaysBefore } from '../../upstream/published.ts'
import { readSdmxCsv } from '../../upstream/sdmx.ts'
import type { SdmxForm } from '../../upstream/sdmx.ts'

export type { BankOptions }

const FIVE_DAYS_MS = 5 * 86_400_000

const FORM: SdmxForm = {
  currency: 'BASE_CURRENCY',
  fixed: { FREQ: ['D'], COUNTER_CURRENCY: ['ILS'], UNIT_MEASURE: ['ILS'], DATA_TYPE: ['OF00'] },
}

/**
 * Creates a provider of latest rates and history: representative rates of the Bank of Israel, in shekels: some 14 currencies
 * at 15:30 in Jerusalem on working days, since 2000. Needs no key. Its calendar has no religious holidays: on these, rates
 * count as late after five days.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://www.boi.org.il/en/economic-roles/statistics/foreign-exchange-market/exchange-rates/
 * @example
 * ```ts
 * import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
 * import { createBankOfIsraelProvider } from 'ratesmith/providers'
 *
 * const history = [createFrankfurterProvider(), createBankOfIsraelProvider()]
 * const handler = createRatesHandler({ providers: { history } })
 * ```
 */
export function createBankOfIsraelProvider(
  options: BankOptions = {},
): LatestProvider & HistoryProvider {
  return createBank(options, {
    attribution: {
      name: 'Bank of Israel',
      url: 'https://www.boi.org.il/en/economic-roles/statistics/foreign-exchange-market/exchange-rates/',
    },
    terms: 'https://www.boi.org.il/en/terms-of-use',
    publication: {
      id: 'bank-of-israel',
      frequency: 'daily',
      holidays: [],
      time: '15:30',
      timeZone: 'Asia/Jerusalem',
      since: '2000-01-03',
      lag: FIVE_DAYS_MS,
    },
    base: 'ILS',
    url: 'https://edge.boi.gov.il',
    accept: 'text/csv',
    minCodes: 8,
    maxDays: 366,
    spansOf: (range) => withDaysBefore(range, 366),
    requests(root, { start, end }) {
      const data = 'FusionEdgeServer/sdmx/v2/data/dataflow/BOI.STATISTICS/EXR/1.0/'
      const query = `c%5BDATA_TYPE%5D=OF00&startperiod=${start}&endperiod=${end}&format=csv`
      return [{ url: `${root}/${data}?${query}` }]
    },
    read(text, add) {
      for (const { date, code, value, units } of readSdmxCsv(requireWhole(text), FORM)) {
        add({ date, code, price: value, units })
      }
    },
  })
}
