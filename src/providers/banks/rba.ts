import { readCsv } from '../../rates/csv.ts'
import { bank } from '../../upstream/bank.ts'
import type { BankFactory } from '../../upstream/bank.ts'
import { dayIn, requireWhole } from '../../upstream/published.ts'

/** The first day of the file. */
const SINCE = '2023-01-03'

/**
 * Creates a provider of the rates of the Reserve Bank of Australia at 16:00 in Sydney. With `XDR`, without the trade-weighted
 * index. The terms exclude rates of others that the file names: WM/Reuters for `USD`, the International Monetary Fund for
 * `XDR`.
 *
 * @see https://www.rba.gov.au/statistics/frequency/exchange-rates.html
 */
export const createRbaProvider: BankFactory = /* @__PURE__ */ bank({
  name: 'Reserve Bank of Australia',
  page: 'https://www.rba.gov.au/statistics/frequency/exchange-rates.html',
  terms: 'https://www.rba.gov.au/copyright/',
  base: 'AUD',
  currencies: 20,
  publication: {
    id: 'rba',
    holidays:
      '01-01, 01-02@1, 01-03@1, 01-26, 01-27@1, 01-28@1, easter-2, easter+1, 04-25, 06-08/1, 08-01/1, 10-01/1, 12-25, ' +
      '12-26, 12-27@12, 12-28@12',
    time: '16:30',
    timeZone: 'Australia/Sydney',
    since: SINCE,
  },
  root: 'https://www.rba.gov.au',
  accept: 'text/csv',
  spansOf: () => [{ start: SINCE, end: '9999-12-31' }],
  requests: () => ['/statistics/tables/csv/f11.1-data.csv'],
  *read(text) {
    let units: readonly string[] = []
    let isBelowHeader = false
    for (const [name = '', ...cells] of readCsv(requireWhole(text))) {
      if (name === 'Units') units = cells
      if (isBelowHeader && (name !== '' || cells.length > 0)) {
        if (cells.length !== units.length) throw new Error('a row has another number of cells')
        const date = dayIn(name)
        for (const [index, unit] of units.entries()) {
          const code = unit === 'SDR' ? 'XDR' : unit
          if (unit !== 'Index') yield { date, code, rate: cells[index] ?? '' }
        }
      }
      isBelowHeader ||= name === 'Series ID' && units.length > 0
    }
    if (!isBelowHeader) throw new Error('the rows Units and Series ID are missing')
  },
})
