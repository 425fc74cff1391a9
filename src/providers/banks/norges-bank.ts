import { bank } from '../../upstream/bank.ts'
import type { BankFactory } from '../../upstream/bank.ts'
import { withDaysBefore } from '../../upstream/published.ts'
import { sdmx } from '../../upstream/sdmx.ts'

/**
 * Creates a provider of the middle rates of Norges Bank, the central bank of Norway. Credit with figures unchanged. With
 * `XDR`, without the indexes `TWI` and `I44`.
 *
 * @see https://www.norges-bank.no/en/topics/Statistics/open-data/
 * @example
 * ```ts
 * import { createFrankfurterProvider, createRates } from 'ratesmith'
 * import { createNorgesBankProvider } from 'ratesmith/providers'
 *
 * const history = [createFrankfurterProvider(), createNorgesBankProvider()]
 * const rates = createRates({ providers: { history } })
 * ```
 */
export const createNorgesBankProvider: BankFactory = /* @__PURE__ */ bank({
  name: 'Norges Bank',
  page: 'https://www.norges-bank.no/en/topics/statistics/exchange_rates/',
  terms: 'https://www.norges-bank.no/en/topics/Statistics/disclaimer/',
  base: 'NOK',
  currencies: 40,
  publication: {
    id: 'norges-bank',
    holidays:
      '01-01, easter-3, easter-2, easter+1, 05-01, 05-17, easter+39, easter+50, 12-25, 12-26',
    time: '16:00',
    timeZone: 'Europe/Oslo',
    since: '1999-01-04',
  },
  root: 'https://data.norges-bank.no',
  accept: 'text/csv',
  maxDays: 366,
  spansOf: withDaysBefore,
  requests: ({ start, end }) => [
    `/api/data/EXR/B..NOK.SP?startPeriod=${start}&endPeriod=${end}&format=csvdata`,
  ],
  read: /* @__PURE__ */ sdmx({
    currency: 'BASE_CUR',
    fixed: { FREQ: ['B'], QUOTE_CUR: ['NOK'], TENOR: ['SP'] },
    skip: ['TWI', 'I44'],
  }),
})
