import { readCsv } from '../../rates/csv.ts'
import { createBank } from '../../upstream/bank.ts'
import type { BankOptions } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { dayIn, requireWhole } from '../../upstream/published.ts'

export type { BankOptions }

/** The first day of the file. */
const SINCE = '2023-01-03'

const CODES: Readonly<Record<string, string>> = { SDR: 'XDR' }

/**
 * Creates a provider of latest rates and history: rates of the Reserve Bank of Australia against the Australian dollar: some 20
 * currencies and the special drawing right of 16:00 in Sydney, published at 16:30 on its working days, since 2023. Needs no
 * key. Reads a file with all days.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://www.rba.gov.au/statistics/frequency/exchange-rates.html
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createRbaProvider } from 'ratesmith/providers'
 *
 * const australia = createRbaProvider()
 * const handler = createRatesHandler({ providers: { latest: australia, history: australia } })
 * ```
 */
export function createRbaProvider(options: BankOptions = {}): LatestProvider & HistoryProvider {
  return createBank(options, {
    attribution: {
      name: 'Reserve Bank of Australia',
      url: 'https://www.rba.gov.au/statistics/frequency/exchange-rates.html',
    },
    terms: 'https://www.rba.gov.au/copyright/',
    publication: {
      id: 'rba',
      frequency: 'daily',
      holidays: (
        '01-01, 01-02@1, 01-03@1, 01-26, 01-27@1, 01-28@1, easter-2, easter+1, 04-25, 06-08/1, 08-01/1, 10-01/1, ' +
        '12-25, 12-26, 12-27@12, 12-28@12'
      ).split(', '),
      time: '16:30',
      timeZone: 'Australia/Sydney',
      since: SINCE,
    },
    base: 'AUD',
    url: 'https://www.rba.gov.au',
    accept: 'text/csv',
    spansOf: () => [{ start: SINCE, end: '9999-12-31' }],
    requests: (root) => [{ url: `${root}/statistics/tables/csv/f11.1-data.csv` }],
    read(text, add) {
      let units: readonly string[] = []
      let isBelowHeader = false
      for (const [name = '', ...cells] of readCsv(requireWhole(text))) {
        if (name === 'Units') units = cells
        if (isBelowHeader && (name !== '' || cells.length > 0)) {
          if (cells.length !== units.length) throw new Error('a row has another number of cells')
          const date = dayIn(name)
          for (const [index, unit] of units.entries()) {
            const code = CODES[unit] ?? unit
            if (unit !== 'Index') add({ date, code, rate: cells[index] })
          }
        }
        isBelowHeader ||= name === 'Series ID' && units.length > 0
      }
      if (!isBelowHeader) throw new Error('the rows Units and Series ID are missing')
    },
  })
}
