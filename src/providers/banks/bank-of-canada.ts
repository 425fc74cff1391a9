import { createBank } from '../../upstream/bank.ts'
import type { BankOptions } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { parseRows } from '../../upstream/published.ts'

export type { BankOptions }

/**
 * Creates a provider of latest rates and history: daily average rates of the Bank of Canada, in Canadian dollars: some 25
 * currencies at 16:30 in Ottawa on Canadian working days, since 2017. Needs no key.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://www.bankofcanada.ca/valet/docs
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createBankOfCanadaProvider } from 'ratesmith/providers'
 *
 * const canada = createBankOfCanadaProvider()
 * const handler = createRatesHandler({ providers: { latest: canada, history: canada } })
 * ```
 */
export function createBankOfCanadaProvider(
  options: BankOptions = {},
): LatestProvider & HistoryProvider {
  return createBank(options, {
    attribution: {
      name: 'Bank of Canada',
      url: 'https://www.bankofcanada.ca/rates/exchange/daily-exchange-rates/',
    },
    terms: 'https://www.bankofcanada.ca/terms/',
    publication: {
      id: 'bank-of-canada',
      frequency: 'daily',
      holidays: (
        '01-01, 01-02@1, 01-03@1, 02-15/1, easter-2, 05-18/1, 07-01, 07-02@1, 07-03@1, 08-01/1, 09-01/1, 09-30 2021-, ' +
        '10-01@1 2021-, 10-02@1 2021-, 10-08/1, 11-11, 11-12@1, 11-13@1, 12-25, 12-26, 12-27@12, 12-28@12'
      ).split(', '),
      time: '16:30',
      timeZone: 'America/Toronto',
      since: '2017-01-03',
    },
    base: 'CAD',
    url: 'https://www.bankofcanada.ca',
    accept: 'application/json',
    maxDays: 366,
    requests: (root, { start, end }) => [
      {
        url: `${root}/valet/observations/group/FX_RATES_DAILY/json?start_date=${start}&end_date=${end}`,
      },
    ],
    read(text, add) {
      for (const row of parseRows(text, (body) => Object(body).observations)) {
        const { d: date, ...series } = Object(row)
        for (const [name, observation] of Object.entries(series)) {
          const [, code] = /^FX([A-Z]{3})CAD$/.exec(name) ?? []
          if (code === undefined) throw new Error('a series with an unexpected name')
          add({ date, code, price: Object(observation).v })
        }
      }
    },
  })
}
