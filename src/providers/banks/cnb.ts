import { createBank } from '../../upstream/bank.ts'
import type { BankOptions } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { parseRows, yearsOf } from '../../upstream/published.ts'

export type { BankOptions }

/**
 * Creates a provider of latest rates and history: exchange rates of Česká národní banka, the central bank of Czechia, in koruna:
 * some 30 currencies on Czech working days at 14:30 in Prague, since 1999. Needs no key. Fetches whole years, one after another.
 * Rates of 100 or 1,000 units are divided exactly.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://api.cnb.cz/cnbapi/swagger-ui.html
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createCnbProvider } from 'ratesmith/providers'
 *
 * const czechia = createCnbProvider()
 * const handler = createRatesHandler({ providers: { latest: czechia, history: czechia } })
 * ```
 */
export function createCnbProvider(options: BankOptions = {}): LatestProvider & HistoryProvider {
  return createBank(options, {
    attribution: {
      name: 'Česká národní banka (Czech National Bank)',
      url: 'https://www.cnb.cz/en/financial-markets/foreign-exchange-market/central-bank-exchange-rate-fixing/',
    },
    terms: 'https://www.cnb.cz/en/privacy-statement-and-disclaimer/disclaimer-copyright/',
    publication: {
      id: 'cnb',
      frequency: 'daily',
      holidays: (
        '01-01, easter-2 2016-, easter+1, 05-01, 05-08, 07-05, 07-06, 09-28 2000-, 10-28, 11-17 2000-, ' +
        '12-24, 12-25, 12-26'
      ).split(', '),
      time: '14:30',
      timeZone: 'Europe/Prague',
      // The bank has rates since 1991, at first under codes that were already withdrawn.
      since: '1999-01-04',
    },
    base: 'CZK',
    url: 'https://api.cnb.cz',
    accept: 'application/json',
    maxDays: 366,
    spansOf: yearsOf,
    requests: (root, { start }) => [
      { url: `${root}/cnbapi/exrates/daily-year?year=${start.slice(0, 4)}&lang=EN` },
    ],
    read(text, add) {
      for (const row of parseRows(text, (body) => Object(body).rates)) {
        const { validFor: date, currencyCode: code, rate, amount } = Object(row)
        add({ date, code, price: rate, units: amount })
      }
    },
  })
}
