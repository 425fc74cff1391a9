import { bank } from '../../upstream/bank.ts'
import type { BankFactory } from '../../upstream/bank.ts'
import { withDaysBefore } from '../../upstream/published.ts'
import { sdmx } from '../../upstream/sdmx.ts'

/**
 * Creates a provider of the representative rates of the Bank of Israel. Late after five days: the calendar lacks religious
 * holidays.
 *
 * @see https://www.boi.org.il/en/economic-roles/statistics/foreign-exchange-market/exchange-rates/
 */
export const createBankOfIsraelProvider: BankFactory = /* @__PURE__ */ bank({
  name: 'Bank of Israel',
  page: 'https://www.boi.org.il/en/economic-roles/statistics/foreign-exchange-market/exchange-rates/',
  terms: 'https://www.boi.org.il/en/terms-of-use',
  base: 'ILS',
  currencies: 15,
  publication: {
    id: 'bank-of-israel',
    time: '15:30',
    timeZone: 'Asia/Jerusalem',
    since: '2000-01-03',
    lagDays: 5,
  },
  root: 'https://edge.boi.gov.il',
  accept: 'text/csv',
  minCodes: 8,
  maxDays: 366,
  spansOf: withDaysBefore,
  requests: ({ start, end }) => [
    `/FusionEdgeServer/sdmx/v2/data/dataflow/BOI.STATISTICS/EXR/1.0/?c%5BDATA_TYPE%5D=OF00&startperiod=${start}&endperiod=${end}&format=csv`,
  ],
  read: /* @__PURE__ */ sdmx({
    currency: 'BASE_CURRENCY',
    fixed: { FREQ: ['D'], COUNTER_CURRENCY: ['ILS'], UNIT_MEASURE: ['ILS'], DATA_TYPE: ['OF00'] },
  }),
})
