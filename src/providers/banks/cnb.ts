import { bank } from '../../upstream/bank.ts'
import type { BankFactory } from '../../upstream/bank.ts'
import { jsonRows, yearsOf } from '../../upstream/published.ts'

/**
 * Creates a provider of the rates of Česká národní banka, the central bank of Czechia. A year has 560 kB.
 *
 * @see https://api.cnb.cz/cnbapi/swagger-ui.html
 */
export const createCnbProvider: BankFactory = /* @__PURE__ */ bank({
  name: 'Česká národní banka (Czech National Bank)',
  page: 'https://www.cnb.cz/en/financial-markets/foreign-exchange-market/central-bank-exchange-rate-fixing/',
  terms: 'https://www.cnb.cz/en/privacy-statement-and-disclaimer/disclaimer-copyright/',
  base: 'CZK',
  currencies: 30,
  publication: {
    id: 'cnb',
    holidays:
      '01-01, easter-2 2016-, easter+1, 05-01, 05-08, 07-05, 07-06, 09-28 2000-, 10-28, 11-17 2000-, 12-24, 12-25, 12-26',
    time: '14:30',
    timeZone: 'Europe/Prague',
    // The bank has rates since 1991, at first under codes that were already withdrawn.
    since: '1999-01-04',
  },
  root: 'https://api.cnb.cz',
  accept: 'application/json',
  maxDays: 366,
  spansOf: yearsOf,
  requests: ({ start }) => [`/cnbapi/exrates/daily-year?year=${start.slice(0, 4)}&lang=EN`],
  read: /* @__PURE__ */ jsonRows(
    'rates',
    ({ validFor: date, currencyCode: code, rate, amount }) => [
      { date, code, price: rate, units: amount },
    ],
  ),
})
