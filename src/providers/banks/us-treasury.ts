import { addDays } from '../../rates/dates.ts'
import { bank } from '../../upstream/bank.ts'
import type { BankFactory } from '../../upstream/bank.ts'
import type { HistoryProvider } from '../../upstream/provider.ts'
import { pairs, parseRows } from '../../upstream/published.ts'
import type { Quote } from '../../upstream/published.ts'

/** Codes of the names since 2022-09-30. */
const CODES = /* @__PURE__ */ pairs(
  'united arab emirates-dirham:AED, afghanistan-afghani:AFN, albania-lek:ALL, armenia-dram:AMD, angola-kwanza:AOA, ' +
    'argentina-peso:ARS, australia-dollar:AUD, azerbaijan-manat:AZN, bosnia-marka:BAM, barbados-dollar:BBD, ' +
    'bangladesh-taka:BDT, bulgaria-lev new:BGN, bahrain-dinar:BHD, burundi-franc:BIF, bermuda-dollar:BMD, brunei-dollar:BND, ' +
    'bolivia-boliviano:BOB, brazil-real:BRL, bahamas-dollar:BSD, botswana-pula:BWP, belarus-new ruble:BYN, ' +
    'belize-dollar:BZD, canada-dollar:CAD, democratic republic of congo-congolese franc:CDF, switzerland-franc:CHF, ' +
    'chile-peso:CLP, china-renminbi:CNY, colombia-peso:COP, costa rica-colon:CRC, cuba-peso:CUP, cape verde-escudo:CVE, ' +
    'czech republic-koruna:CZK, djibouti-franc:DJF, denmark-krone:DKK, dominican republic-peso:DOP, algeria-dinar:DZD, ' +
    'egypt-pound:EGP, eritrea-nakfa:ERN, ethiopia-birr:ETB, euro zone-euro:EUR, fiji-dollar:FJD, united kingdom-pound:GBP, ' +
    'georgia-lari:GEL, ghana-cedi:GHS, gambia-dalasi:GMD, guinea-franc:GNF, guatemala-quetzal:GTQ, guyana-dollar:GYD, ' +
    'hong kong-dollar:HKD, honduras-lempira:HNL, haiti-gourde:HTG, hungary-forint:HUF, indonesia-rupiah:IDR, ' +
    'israel-shekel:ILS, india-rupee:INR, iraq-dinar:IQD, iran-rial:IRR, iceland-krona:ISK, jamaica-dollar:JMD, ' +
    'jordan-dinar:JOD, japan-yen:JPY, kenya-shilling:KES, kyrgyzstan-som:KGS, cambodia-riel:KHR, comoros-franc:KMF, ' +
    'korea-won:KRW, kuwait-dinar:KWD, cayman islands-dollar:KYD, kazakhstan-tenge:KZT, laos-kip:LAK, lebanon-pound:LBP, ' +
    'sri lanka-rupee:LKR, liberia-dollar:LRD, lesotho-maloti:LSL, libya-dinar:LYD, morocco-dirham:MAD, moldova-leu:MDL, ' +
    'madagascar-ariary:MGA, republic of north macedonia-denar:MKD, burma-kyat:MMK, myanmar-kyat:MMK, mongolia-tugrik:MNT, ' +
    'macao-mop:MOP, mauritania-ouguiya:MRU, mauritius-rupee:MUR, maldives-rufiyaa:MVR, malawi-kwacha:MWK, mexico-peso:MXN, ' +
    'malaysia-ringgit:MYR, mozambique-metical:MZN, namibia-dollar:NAD, nigeria-naira:NGN, nicaragua-cordoba:NIO, ' +
    'norway-krone:NOK, nepal-rupee:NPR, new zealand-dollar:NZD, oman-rial:OMR, peru-sol:PEN, papua new guinea-kina:PGK, ' +
    'philippines-peso:PHP, pakistan-rupee:PKR, poland-zloty:PLN, paraguay-guarani:PYG, qatar-riyal:QAR, romania-new leu:RON, ' +
    'serbia-dinar:RSD, russia-ruble:RUB, rwanda-franc:RWF, saudi arabia-riyal:SAR, solomon islands-dollar:SBD, ' +
    'seychelles-rupee:SCR, sudan-pound:SDG, sweden-krona:SEK, singapore-dollar:SGD, sierra leone-leone:SLE, ' +
    'somali-shilling:SOS, suriname-dollar:SRD, south sudan-sudanese pound:SSP, sao tome & principe-new dobras:STN, ' +
    'syria-pound:SYP, eswatini-lilangeni:SZL, thailand-baht:THB, tajikistan-somoni:TJS, turkmenistan-new manat:TMT, ' +
    "tunisia-dinar:TND, tonga-pa'anga:TOP, turkey-new lira:TRY, trinidad & tobago-dollar:TTD, taiwan-dollar:TWD, " +
    'tanzania-shilling:TZS, ukraine-hryvnia:UAH, uganda-shilling:UGX, uruguay-peso:UYU, uzbekistan-som:UZS, ' +
    'venezuela-bolivar soberano:VES, vietnam-dong:VND, vanuatu-vatu:VUV, western samoa-tala:WST, cameroon-cfa franc:XAF, ' +
    'antigua & barbuda-east caribbean dollar:XCD, antigua & barbuda-e. caribbean dollar:XCD, curacao-caribbean guilder:XCG, ' +
    'benin-cfa franc:XOF, yemen-rial:YER, south africa-rand:ZAR, zambia-new kwacha:ZMW, zimbabwe-gold:ZWG',
)

/** Of all names, at least this share is known. */
const MIN_SHARE_KNOWN = 0.6

/** More days than a quarter has: amendments are recorded with the quarter that they change. */
const DAYS_BEFORE = 100

/** More rows than the history has. */
const PAGE_SIZE = 10_000

/**
 * Creates a provider of the Treasury reporting rates of exchange. An amendment has its own day. Rows have names, which meant
 * other currencies before September 2022.
 *
 * @see https://fiscaldata.treasury.gov/datasets/treasury-reporting-rates-exchange/
 */
export const createUsTreasuryProvider: BankFactory<HistoryProvider> = /* @__PURE__ */ bank({
  name: 'U.S. Department of the Treasury (reporting rates of exchange)',
  page: 'https://fiscaldata.treasury.gov/datasets/treasury-reporting-rates-exchange/',
  terms: 'https://fiscaldata.treasury.gov/about-us/',
  base: 'USD',
  currencies: 140,
  publication: {
    id: 'us-treasury',
    frequency: 'quarterly',
    time: '16:00',
    timeZone: 'America/New_York',
    dated: 'period-end',
    delayDays: 10,
    // Before, some names had rates of other currencies, such as the leone of before 2022.
    since: '2022-09-30',
    lagDays: 30,
  },
  latest: false,
  root: 'https://api.fiscaldata.treasury.gov',
  accept: 'application/json',
  spansOf: ({ start, end }) => [{ start: addDays(start, -DAYS_BEFORE), end }],
  requests({ start, end }) {
    const path = '/services/api/fiscal_service/v1/accounting/od/rates_of_exchange'
    const fields = 'record_date,effective_date,country_currency_desc,exchange_rate'
    const filter = `record_date:gte:${start},record_date:lte:${end}`
    const page = `page[number]=1&page[size]=${PAGE_SIZE}`
    return [`${path}?fields=${fields}&filter=${filter}&sort=record_date&${page}`]
  },
  read(text, { span }) {
    const rows = parseRows(text, 'data')
    if (rows.length === PAGE_SIZE) throw new Error('more than one page')
    return [...readRows(rows)].filter(({ date }) => date <= span.end)
  },
})

/** An amendment is recorded with the quarter that it changes, and takes effect after its last day. */
function* readRows(rows: ReturnType<typeof parseRows>): Generator<Quote & { date: string }> {
  let known = 0
  for (const { record_date, effective_date, country_currency_desc, exchange_rate: rate } of rows) {
    const code = CODES.get(String(country_currency_desc).toLowerCase())
    if (code === undefined) continue
    known += 1
    const [recorded, effective] = [String(record_date), String(effective_date ?? record_date)]
    yield { date: effective > recorded ? effective : recorded, code, rate }
  }
  if (known < rows.length * MIN_SHARE_KNOWN) throw new Error('too many unknown names of currencies')
}
