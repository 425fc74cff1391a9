import { readColumns } from '../../rates/csv.ts'
import { bank } from '../../upstream/bank.ts'
import type { BankFactory } from '../../upstream/bank.ts'
import { dayIn, formatDay, pairs, requireWhole } from '../../upstream/published.ts'

const SERIES = /* @__PURE__ */ pairs(
  'XUDLUSS:USD, XUDLERS:EUR, XUDLJYS:JPY, XUDLCDS:CAD, XUDLSFS:CHF, XUDLADS:AUD, XUDLNDS:NZD, XUDLNKS:NOK, XUDLSKS:SEK, ' +
    'XUDLDKS:DKK, XUDLHDS:HKD, XUDLSGS:SGD, XUDLSRS:SAR, XUDLZRS:ZAR, XUDLTWS:TWD, XUDLBK25:CZK, XUDLBK33:HUF, XUDLBK47:PLN, ' +
    'XUDLBK78:ILS, XUDLBK83:MYR, XUDLBK87:THB, XUDLBK89:CNY, XUDLBK93:KRW, XUDLBK95:TRY, XUDLBK97:INR, XUDLZOS4:RON',
)

/**
 * Creates a provider of the spot rates of the Bank of England. Indicative middle rates of 16:00, not official. A new currency
 * needs a new version.
 *
 * @see https://www.bankofengland.co.uk/boeapps/database/Help.asp
 */
export const createBankOfEnglandProvider: BankFactory = /* @__PURE__ */ bank({
  name: 'Bank of England',
  page: 'https://www.bankofengland.co.uk/boeapps/database/Rates.asp?into=GBP',
  terms: 'https://www.bankofengland.co.uk/legal',
  base: 'GBP',
  currencies: 25,
  publication: {
    id: 'bank-of-england',
    holidays:
      '01-01, 01-02@1, 01-03@1, easter-2, easter+1, 05-01/1, 05-25/1, 08-25/1, 12-25, 12-26, 12-27@12, 12-28@12, ' +
      '2002-06-03, 2002-06-04, 2011-04-29, 2012-06-04, 2012-06-05, 2020-05-08, 2022-06-02, 2022-06-03, 2022-09-19, ' +
      '2023-05-08',
    time: '18:00',
    timeZone: 'Europe/London',
    since: '2000-01-04',
  },
  root: 'https://www.bankofengland.co.uk',
  accept: 'text/csv',
  maxDays: 366,
  requests(span) {
    const [from, to] = [span.start, span.end].map((day) => formatDay(day, 'DD/MON/YYYY'))
    const query = `csv.x=yes&SeriesCodes=${[...SERIES.keys()].join()}&UsingCodes=Y&CSVF=TN&Datefrom=${from}&Dateto=${to}`
    return [`/boeapps/database/_iadb-fromshowcolumns.asp?${query}`]
  },
  *read(text) {
    const codes = [...SERIES.values()]
    for (const [day, ...cells] of readColumns(requireWhole(text), ['DATE', ...SERIES.keys()])) {
      const date = dayIn(day)
      for (const [index, cell] of cells.entries())
        yield { date, code: codes[index], rate: cell.trim() }
    }
  },
})
