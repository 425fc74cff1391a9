import { addDays } from '../../rates/dates.ts'
import { createBankHistory } from '../../upstream/bank.ts'
import type { BankOptions, Quote } from '../../upstream/bank.ts'
import type { HistoryProvider } from '../../upstream/provider.ts'
import { parseRows } from '../../upstream/published.ts'

export type { BankOptions }

/** Codes of the names that the Treasury uses instead of codes, since 2022-09-30. */
const CODES: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ (
    'AED United Arab Emirates-Dirham;AFN Afghanistan-Afghani;ALL Albania-Lek;AMD Armenia-Dram;AOA Angola-Kwanza;' +
    'ARS Argentina-Peso;AUD Australia-Dollar;AZN Azerbaijan-Manat;BAM Bosnia-Marka;BBD Barbados-Dollar;' +
    'BDT Bangladesh-Taka;BGN Bulgaria-Lev New;BHD Bahrain-Dinar;BIF Burundi-Franc;BMD Bermuda-Dollar;' +
    'BND Brunei-Dollar;BOB Bolivia-Boliviano;BRL Brazil-Real;BSD Bahamas-Dollar;BWP Botswana-Pula;' +
    'BYN Belarus-New Ruble;BZD Belize-Dollar;CAD Canada-Dollar;CDF Democratic Republic Of Congo-Congolese Franc;' +
    'CHF Switzerland-Franc;CLP Chile-Peso;CNY China-Renminbi;COP Colombia-Peso;CRC Costa Rica-Colon;' +
    'CUP Cuba-Peso;CVE Cape Verde-Escudo;CZK Czech Republic-Koruna;DJF Djibouti-Franc;DKK Denmark-Krone;' +
    'DOP Dominican Republic-Peso;DZD Algeria-Dinar;EGP Egypt-Pound;ERN Eritrea-Nakfa;ETB Ethiopia-Birr;' +
    'EUR Euro Zone-Euro;FJD Fiji-Dollar;GBP United Kingdom-Pound;GEL Georgia-Lari;GHS Ghana-Cedi;' +
    'GMD Gambia-Dalasi;GNF Guinea-Franc;GTQ Guatemala-Quetzal;GYD Guyana-Dollar;HKD Hong Kong-Dollar;' +
    'HNL Honduras-Lempira;HTG Haiti-Gourde;HUF Hungary-Forint;IDR Indonesia-Rupiah;ILS Israel-Shekel;' +
    'INR India-Rupee;IQD Iraq-Dinar;IRR Iran-Rial;ISK Iceland-Krona;JMD Jamaica-Dollar;JOD Jordan-Dinar;' +
    'JPY Japan-Yen;KES Kenya-Shilling;KGS Kyrgyzstan-Som;KHR Cambodia-Riel;KMF Comoros-Franc;KRW Korea-Won;' +
    'KWD Kuwait-Dinar;KYD Cayman Islands-Dollar;KZT Kazakhstan-Tenge;LAK Laos-Kip;LBP Lebanon-Pound;' +
    'LKR Sri Lanka-Rupee;LRD Liberia-Dollar;LSL Lesotho-Maloti;LYD Libya-Dinar;MAD Morocco-Dirham;' +
    'MDL Moldova-Leu;MGA Madagascar-Ariary;MKD Republic Of North Macedonia-Denar;MMK Burma-Kyat;MMK Myanmar-Kyat;' +
    'MNT Mongolia-Tugrik;MOP Macao-Mop;MRU Mauritania-Ouguiya;MUR Mauritius-Rupee;MVR Maldives-Rufiyaa;' +
    'MWK Malawi-Kwacha;MXN Mexico-Peso;MYR Malaysia-Ringgit;MZN Mozambique-Metical;NAD Namibia-Dollar;' +
    'NGN Nigeria-Naira;NIO Nicaragua-Cordoba;NOK Norway-Krone;NPR Nepal-Rupee;NZD New Zealand-Dollar;' +
    'OMR Oman-Rial;PEN Peru-Sol;PGK Papua New Guinea-Kina;PHP Philippines-Peso;PKR Pakistan-Rupee;' +
    'PLN Poland-Zloty;PYG Paraguay-Guarani;QAR Qatar-Riyal;RON Romania-New Leu;RSD Serbia-Dinar;RUB Russia-Ruble;' +
    'RWF Rwanda-Franc;SAR Saudi Arabia-Riyal;SBD Solomon Islands-Dollar;SCR Seychelles-Rupee;SDG Sudan-Pound;' +
    'SEK Sweden-Krona;SGD Singapore-Dollar;SLE Sierra Leone-Leone;SOS Somali-Shilling;SRD Suriname-Dollar;' +
    'SSP South Sudan-Sudanese Pound;STN Sao Tome & Principe-New Dobras;SYP Syria-Pound;SZL Eswatini-Lilangeni;' +
    "THB Thailand-Baht;TJS Tajikistan-Somoni;TMT Turkmenistan-New Manat;TND Tunisia-Dinar;TOP Tonga-Pa'Anga;" +
    'TRY Turkey-New Lira;TTD Trinidad & Tobago-Dollar;TWD Taiwan-Dollar;TZS Tanzania-Shilling;' +
    'UAH Ukraine-Hryvnia;UGX Uganda-Shilling;UYU Uruguay-Peso;UZS Uzbekistan-Som;VES Venezuela-Bolivar Soberano;' +
    'VND Vietnam-Dong;VUV Vanuatu-Vatu;WST Western Samoa-Tala;XAF Cameroon-Cfa Franc;' +
    'XCD Antigua & Barbuda-East Caribbean Dollar;XCD Antigua & Barbuda-E. Caribbean Dollar;' +
    'XCG Curacao-Caribbean Guilder;XOF Benin-Cfa Franc;YER Yemen-Rial;ZAR South Africa-Rand;' +
    'ZMW Zambia-New Kwacha;ZWG Zimbabwe-Gold'
  )
    .split(';')
    .map((each) => [each.slice(4).toLowerCase(), each.slice(0, 3)] as const),
)

/** Of all names, at least this share is known. */
const MIN_SHARE_KNOWN = 0.6

/** More days than a quarter has: amendments are recorded with the quarter that they change. */
const DAYS_BEFORE = 100

/** More rows than the history has. */
const PAGE_SIZE = 10_000

/**
 * Creates a provider of history: quarterly Treasury reporting rates of exchange against the US dollar: some 140 currencies, dated
 * the last day of a quarter, since September 2022. Needs no key. They are rates of a period, and not available as latest rates.
 * On the day of an amendment, all rates then in force are published again.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://fiscaldata.treasury.gov/datasets/treasury-reporting-rates-exchange/
 * @example
 * ```ts
 * import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
 * import { createUsTreasuryProvider } from 'ratesmith/providers'
 *
 * const history = [createFrankfurterProvider(), createUsTreasuryProvider()]
 * const handler = createRatesHandler({ providers: { history } })
 * ```
 */
export function createUsTreasuryProvider(options: BankOptions = {}): HistoryProvider {
  return createBankHistory(options, {
    attribution: {
      name: 'U.S. Department of the Treasury (reporting rates of exchange)',
      url: 'https://fiscaldata.treasury.gov/datasets/treasury-reporting-rates-exchange/',
    },
    terms: 'https://fiscaldata.treasury.gov/about-us/',
    publication: {
      id: 'us-treasury',
      frequency: 'quarterly',
      holidays: [],
      time: '16:00',
      timeZone: 'America/New_York',
      dated: 'period-end',
      delayDays: 10,
      // Before, some names had rates of other currencies, such as the leone of before 2022.
      since: '2022-09-30',
      lag: 30 * 86_400_000,
    },
    base: 'USD',
    url: 'https://api.fiscaldata.treasury.gov',
    accept: 'application/json',
    spansOf: ({ start, end }) => [{ start: addDays(start, -DAYS_BEFORE), end }],
    requests(root, { start, end }) {
      const path = 'services/api/fiscal_service/v1/accounting/od/rates_of_exchange'
      const fields = 'record_date,effective_date,country_currency_desc,exchange_rate'
      const filter = `record_date:gte:${start},record_date:lte:${end}`
      const page = `page[number]=1&page[size]=${PAGE_SIZE}`
      const query = `fields=${fields}&filter=${filter}&sort=record_date&${page}`
      return [{ url: `${root}/${path}?${query}` }]
    },
    read(text, add, _request, { end }) {
      const rows = parseRows(text, (body) => Object(body).data)
      if (rows.length === PAGE_SIZE) throw new Error('more than one page')
      for (const quote of inForce(rows)) if (quote.date <= end) add(quote)
    },
  })
}

/** Returns the rates in force on the last day of each quarter, and on the day of each amendment. */
function inForce(rows: readonly unknown[]): Quote[] {
  const quarters = new Map<string, Quote[]>()
  let known = 0
  for (const row of rows) {
    const { record_date: recorded, effective_date: date = recorded, ...named } = Object(row)
    const code = CODES.get(String(named.country_currency_desc).toLowerCase())
    if (code === undefined) continue
    known += 1
    const quarter = quarters.get(recorded) ?? []
    quarters.set(recorded, quarter)
    quarter.push({ date, code, rate: named.exchange_rate })
  }
  if (known < rows.length * MIN_SHARE_KNOWN) throw new Error('too many unknown names of currencies')
  return [...quarters].flatMap(([recorded, quotes]) => {
    const ascending = quotes.toSorted((one, other) => (one.date < other.date ? -1 : 1))
    const days = new Set([recorded, ...ascending.map(({ date }) => date)])
    return [...days].flatMap((day) => {
      const upToDay = ascending.filter(({ date }) => date <= day)
      const newest = new Map(upToDay.map((quote) => [quote.code, quote]))
      return [...newest.values()].map((quote) => ({ ...quote, date: day }))
    })
  })
}
