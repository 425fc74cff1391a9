import { readCsv } from '../../rates/csv.ts'
import { createBank } from '../../upstream/bank.ts'
import type { BankOptions, Quote } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { dayIn, monthsOf, withoutGroups } from '../../upstream/published.ts'

export type { BankOptions }

/** Codes of the names that the fund uses instead of codes. */
const CODES: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ (
    'AED:U.A.E. dirham,AFN:Afghan afghani,AOA:Angolan kwanza,AUD:Australian dollar,BBD:Barbados dollar,' +
    'BDT:Bangladeshi taka,BHD:Bahrain dinar,BND:Brunei dollar,BRL:Brazilian real,BSD:Bahamian dollar,BWP:Botswana pula,' +
    'CAD:Canadian dollar,CHF:Swiss franc,CLP:Chilean peso,CNY:Chinese yuan,COP:Colombian peso,CRC:Costa Rican colon,' +
    'CZK:Czech koruna,DJF:Djibouti franc,DKK:Danish krone,DZD:Algerian dinar,EGP:Egyptian pound,EUR:Euro,' +
    'FJD:Fiji dollar,GBP:U.K. pound,HUF:Hungarian forint,ILS:Israeli New Shekel,INR:Indian rupee,IRR:Iranian rial,' +
    'ISK:Icelandic krona,JOD:Jordanian dinar,JPY:Japanese yen,KRW:Korean won,KWD:Kuwaiti dinar,KZT:Kazakhstani tenge,' +
    'LKR:Sri Lankan rupee,LYD:Libyan dinar,MAD:Moroccan dirham,MDL:Moldovan leu,MMK:Myanmar kyat,MNT:Mongolian tugrik,' +
    'MUR:Mauritian rupee,MXN:Mexican peso,MYR:Malaysian ringgit,MZN:Mozambican metical,NAD:Namibian dollar,' +
    'NGN:Nigerian naira,NOK:Norwegian krone,NPR:Nepalese rupee,NZD:New Zealand dollar,OMR:Omani rial,PEN:Peruvian sol,' +
    'PHP:Philippine peso,PKR:Pakistani rupee,PLN:Polish zloty,QAR:Qatari riyal,RON:Romanian leu,RUB:Russian ruble,' +
    'RWF:Rwandan franc,SAR:Saudi Arabian riyal,SEK:Swedish krona,SGD:Singapore dollar,THB:Thai baht,TND:Tunisian dinar,' +
    'TTD:Trinidadian dollar,UGX:Ugandan shilling,USD:U.S. dollar,UYU:Uruguayan peso,VES:Venezuelan bolivar,' +
    'WST:Samoan tala,YER:Yemeni rial,ZAR:South African rand,ZMW:Zambian kwacha'
  )
    .split(',')
    .map((each) => [each.slice(4).toLowerCase(), each.slice(0, 3)] as const),
)

/**
 * Creates a provider of latest rates and history: representative rates of the International Monetary Fund against the US
 * dollar, as central banks report them: some 40 currencies, and the special drawing right, since 2003. Needs no key. Sends two
 * requests for each month.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://www.imf.org/external/np/fin/ert/GUI/Pages/CountryDataBase.aspx
 * @example
 * ```ts
 * import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
 * import { createImfProvider } from 'ratesmith/providers'
 *
 * const history = [createFrankfurterProvider(), createImfProvider()]
 * const handler = createRatesHandler({ providers: { history } })
 * ```
 */
export function createImfProvider(options: BankOptions = {}): LatestProvider & HistoryProvider {
  return createBank(options, {
    attribution: {
      name: 'International Monetary Fund (representative rates)',
      url: 'https://www.imf.org/external/np/fin/data/rms_rep.aspx',
    },
    terms: 'https://www.imf.org/en/about/copyright-and-terms',
    publication: {
      id: 'imf',
      frequency: 'daily',
      holidays: '01-01, 12-25'.split(', '),
      time: '16:00',
      timeZone: 'America/New_York',
      since: '2003-04-01',
      lag: 3 * 86_400_000,
    },
    base: 'USD',
    url: 'https://www.imf.org',
    accept: 'text/tab-separated-values, text/plain, application/vnd.ms-excel',
    maxDays: 31,
    spansOf: monthsOf,
    requests: (root, { end }) =>
      ['REP', 'SDRCV'].map((about) => {
        const query = `SelectDate=${end}&reportType=${about}&tsvflag=Y`
        return { url: `${root}/external/np/fin/data/rms_mth.aspx?${query}`, about }
      }),
    read(text, add, { about }) {
      const isDrawingRight = about === 'SDRCV'
      for (const quote of readTables(text)) {
        if (!isDrawingRight) add(quote)
        // Units of the special drawing right for a dollar; the others are derived from it.
        else if (quote.code === 'USD') add({ date: quote.date, code: 'XDR', rate: quote.rate })
      }
    },
  })
}

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
      const isInverse = name.endsWith('(1)')
      const code = CODES.get(name.replace('(1)', '').trim().toLowerCase())
      if (cells.length !== days.length) throw new Error('a row has another number of cells')
      for (const [index, date] of code === undefined ? [] : days.entries()) {
        const cell = withoutGroups((cells[index] ?? '').trim())
        const value = cell === 'NA' ? '' : cell
        yield { date, code: code ?? '', ...(isInverse ? { price: value } : { rate: value }) }
      }
    }
  }
  if (tables === 0) throw new Error('no table')
  if (!/\nNotes:/.test(text)) throw new Error('the table is truncated')
}
