import { readCsv } from '../../rates/csv.ts'
import { bank } from '../../upstream/bank.ts'
import type { BankFactory } from '../../upstream/bank.ts'
import { dayIn, monthsOf, pairs, withoutGroups } from '../../upstream/published.ts'
import type { Quote } from '../../upstream/published.ts'

const CODES = /* @__PURE__ */ pairs(
  'u.a.e. dirham:AED, afghan afghani:AFN, angolan kwanza:AOA, australian dollar:AUD, barbados dollar:BBD, ' +
    'bangladeshi taka:BDT, bahrain dinar:BHD, brunei dollar:BND, brazilian real:BRL, bahamian dollar:BSD, botswana pula:BWP, ' +
    'canadian dollar:CAD, swiss franc:CHF, chilean peso:CLP, chinese yuan:CNY, colombian peso:COP, costa rican colon:CRC, ' +
    'czech koruna:CZK, djibouti franc:DJF, danish krone:DKK, algerian dinar:DZD, egyptian pound:EGP, euro:EUR, ' +
    'fiji dollar:FJD, u.k. pound:GBP, hungarian forint:HUF, israeli new shekel:ILS, indian rupee:INR, iranian rial:IRR, ' +
    'icelandic krona:ISK, jordanian dinar:JOD, japanese yen:JPY, korean won:KRW, kuwaiti dinar:KWD, kazakhstani tenge:KZT, ' +
    'sri lankan rupee:LKR, libyan dinar:LYD, moroccan dirham:MAD, moldovan leu:MDL, myanmar kyat:MMK, mongolian tugrik:MNT, ' +
    'mauritian rupee:MUR, mexican peso:MXN, malaysian ringgit:MYR, mozambican metical:MZN, namibian dollar:NAD, ' +
    'nigerian naira:NGN, norwegian krone:NOK, nepalese rupee:NPR, new zealand dollar:NZD, omani rial:OMR, peruvian sol:PEN, ' +
    'philippine peso:PHP, pakistani rupee:PKR, polish zloty:PLN, qatari riyal:QAR, romanian leu:RON, russian ruble:RUB, ' +
    'rwandan franc:RWF, saudi arabian riyal:SAR, swedish krona:SEK, singapore dollar:SGD, thai baht:THB, tunisian dinar:TND, ' +
    'trinidadian dollar:TTD, ugandan shilling:UGX, u.s. dollar:USD, uruguayan peso:UYU, venezuelan bolivar:VES, ' +
    'samoan tala:WST, yemeni rial:YER, south african rand:ZAR, zambian kwacha:ZMW',
)

/** Titles of the reports: one has units for the special drawing right, the other the reverse. */
const TITLES: Readonly<Record<string, RegExp>> = {
  REP: /^\s*"?Representative Exchange Rates/i,
  SDRCV: /^\s*"?SDRs per Currency unit/i,
}

/**
 * Creates a provider of the representative rates of the International Monetary Fund, as central banks report them. Currencies
 * without a report on a day, or with an unknown name, have no rate. `XDR` is a second report. Late after three days: the
 * calendar lacks most holidays.
 *
 * @see https://www.imf.org/external/np/fin/ert/GUI/Pages/CountryDataBase.aspx
 */
export const createImfProvider: BankFactory = /* @__PURE__ */ bank({
  name: 'International Monetary Fund (representative rates)',
  page: 'https://www.imf.org/external/np/fin/data/rms_rep.aspx',
  terms: 'https://www.imf.org/en/about/copyright-and-terms',
  base: 'USD',
  currencies: 40,
  publication: {
    id: 'imf',
    holidays: '01-01, 12-25',
    time: '16:00',
    timeZone: 'America/New_York',
    since: '2003-04-01',
    lagDays: 3,
  },
  root: 'https://www.imf.org',
  accept: 'text/tab-separated-values, text/plain, application/vnd.ms-excel',
  maxDays: 31,
  // Of a currency whose central bank was closed, the reports say NA.
  mayLackRates: true,
  spansOf: monthsOf,
  requests: ({ end }) =>
    Object.keys(TITLES).map((about) => {
      const query = `SelectDate=${end}&reportType=${about}&tsvflag=Y`
      return { path: `/external/np/fin/data/rms_mth.aspx?${query}`, about }
    }),
  *read(text, { about = '' }) {
    if (TITLES[about]?.test(text) !== true) throw new Error('an unexpected title')
    for (const quote of readTables(text)) {
      if (about === 'REP') yield quote
      // Units of the special drawing right for a dollar; the others are derived from it.
      else if (quote.code === 'USD') yield { date: quote.date, code: 'XDR', rate: quote.rate }
    }
  },
})

function* readTables(text: string): Generator<Quote> {
  let days: readonly string[] | undefined
  let tables = 0
  for (const [name = '', ...cells] of readCsv(text.replaceAll('"', ''), '\t')) {
    if (name === 'Currency') {
      days = cells.map((cell) => dayIn(cell.trim()))
      tables += 1
    } else if (cells.length === 0) {
      days = undefined
    } else if (days) {
      const code = CODES.get(name.replace('(1)', '').trim().toLowerCase())
      if (cells.length !== days.length) throw new Error('a row has another number of cells')
      for (const [index, date] of code === undefined ? [] : days.entries()) {
        const cell = withoutGroups((cells[index] ?? '').trim())
        const value = cell === 'NA' ? '' : cell
        yield { date, code, ...(name.endsWith('(1)') ? { price: value } : { rate: value }) }
      }
    }
  }
  if (tables === 0) throw new Error('no table')
  if (!/\nNotes:/.test(text)) throw new Error('the table is truncated')
}
