import { readColumns } from '../../rates/csv.ts'
import { createBank } from '../../upstream/bank.ts'
import type { BankOptions } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { dayIn, formatDay, requireWhole } from '../../upstream/published.ts'

export type { BankOptions }

const SERIES: Readonly<Record<string, string>> = {
  XUDLUSS: 'USD',
  XUDLERS: 'EUR',
  XUDLJYS: 'JPY',
  XUDLCDS: 'CAD',
  XUDLSFS: 'CHF',
  XUDLADS: 'AUD',
  XUDLNDS: 'NZD',
  XUDLNKS: 'NOK',
  XUDLSKS: 'SEK',
  XUDLDKS: 'DKK',
  XUDLHDS: 'HKD',
  XUDLSGS: 'SGD',
  XUDLSRS: 'SAR',
  XUDLZRS: 'ZAR',
  XUDLTWS: 'TWD',
  XUDLBK25: 'CZK',
  XUDLBK33: 'HUF',
  XUDLBK47: 'PLN',
  XUDLBK78: 'ILS',
  XUDLBK83: 'MYR',
  XUDLBK87: 'THB',
  XUDLBK89: 'CNY',
  XUDLBK93: 'KRW',
  XUDLBK95: 'TRY',
  XUDLBK97: 'INR',
  XUDLZOS4: 'RON',
}

const NAMES = Object.keys(SERIES)

/**
 * Creates a provider of latest rates and history: spot rates of the Bank of England against sterling: some 25 currencies on
 * English working days, published by 18:00 in London, since 2000. Needs no key. The bank describes them as indicative middle
 * market rates of 16:00, no official rates.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://www.bankofengland.co.uk/boeapps/database/Help.asp
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createBankOfEnglandProvider } from 'ratesmith/providers'
 *
 * const england = createBankOfEnglandProvider()
 * const handler = createRatesHandler({ providers: { latest: england, history: england } })
 * ```
 */
export function createBankOfEnglandProvider(
  options: BankOptions = {},
): LatestProvider & HistoryProvider {
  return createBank(options, {
    attribution: {
      name: 'Bank of England',
      url: 'https://www.bankofengland.co.uk/boeapps/database/Rates.asp?into=GBP',
    },
    terms: 'https://www.bankofengland.co.uk/legal',
    publication: {
      id: 'bank-of-england',
      frequency: 'daily',
      holidays: (
        '01-01, 01-02@1, 01-03@1, easter-2, easter+1, 05-01/1, 05-25/1, 08-25/1, 12-25, 12-26, 12-27@12, 12-28@12, ' +
        '2002-06-03, 2002-06-04, 2011-04-29, 2012-06-04, 2012-06-05, 2020-05-08, 2022-06-02, 2022-06-03, 2022-09-19, ' +
        '2023-05-08'
      ).split(', '),
      time: '18:00',
      timeZone: 'Europe/London',
      since: '2000-01-04',
    },
    base: 'GBP',
    url: 'https://www.bankofengland.co.uk',
    accept: 'text/csv',
    maxDays: 366,
    requests(root, span) {
      const [from, to] = [span.start, span.end].map((day) => formatDay(day, 'DD/MON/YYYY'))
      const query = `csv.x=yes&SeriesCodes=${NAMES.join()}&UsingCodes=Y&CSVF=TN&Datefrom=${from}&Dateto=${to}`
      return [{ url: `${root}/boeapps/database/_iadb-fromshowcolumns.asp?${query}` }]
    },
    read(text, add) {
      for (const [day, ...cells] of readColumns(requireWhole(text), ['DATE', ...NAMES])) {
        const date = dayIn(day)
        for (const [index, name] of NAMES.entries()) {
          add({ date, code: SERIES[name] ?? '', rate: cells[index]?.trim() })
        }
      }
    },
  })
}
