import { bank } from '../../upstream/bank.ts'
import type { BankFactory } from '../../upstream/bank.ts'
import { jsonRows } from '../../upstream/published.ts'

/**
 * Creates a provider of the rates of the Bank of Canada. Indicative averages of the day. Commercial redistribution needs
 * permission.
 *
 * @see https://www.bankofcanada.ca/valet/docs
 */
export const createBankOfCanadaProvider: BankFactory = /* @__PURE__ */ bank({
  name: 'Bank of Canada',
  page: 'https://www.bankofcanada.ca/rates/exchange/daily-exchange-rates/',
  terms: 'https://www.bankofcanada.ca/terms/',
  base: 'CAD',
  currencies: 25,
  publication: {
    id: 'bank-of-canada',
    holidays:
      '01-01, 01-02@1, 01-03@1, 02-15/1, easter-2, 05-18/1, 07-01, 07-02@1, 07-03@1, 08-01/1, 09-01/1, 09-30 2021-, ' +
      '10-01@1 2021-, 10-02@1 2021-, 10-08/1, 11-11, 11-12@1, 11-13@1, 12-25, 12-26, 12-27@12, 12-28@12',
    time: '16:30',
    timeZone: 'America/Toronto',
    since: '2017-01-03',
  },
  root: 'https://www.bankofcanada.ca',
  accept: 'application/json',
  maxDays: 366,
  requests: ({ start, end }) => [
    `/valet/observations/group/FX_RATES_DAILY/json?start_date=${start}&end_date=${end}`,
  ],
  read: /* @__PURE__ */ jsonRows('observations', ({ d: date, ...series }) =>
    Object.entries(series).map(([name, observation]) => {
      const [, code] = /^FX([A-Z]{3})CAD$/.exec(name) ?? []
      if (code === undefined) throw new Error('a series with an unexpected name')
      return { date, code, price: Object(observation).v }
    }),
  ),
})
