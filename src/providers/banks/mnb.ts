import { bank } from '../../upstream/bank.ts'
import type { BankFactory } from '../../upstream/bank.ts'
import { withPoint, xmlRows } from '../../upstream/published.ts'
import { readXml } from '../../upstream/xml.ts'

const NAMESPACE = 'http://www.mnb.hu/webservices/'

/** Without names of currencies the service returns days without rates. */
const CODES =
  'AUD,BRL,CAD,CHF,CNY,CZK,DKK,EUR,GBP,HKD,IDR,ILS,INR,ISK,JPY,KRW,MXN,MYR,NOK,NZD,PHP,PLN,RON,RSD,RUB,SEK,SGD,THB,TRY,UAH,USD,ZAR'

const readDays = /* @__PURE__ */ xmlRows(
  'MNBExchangeRates/Day/Rate',
  ({ attributes, parent, text }) => {
    const [date, code] = [parent?.attributes.get('date'), attributes.get('curr')]
    return { date, code, price: withPoint(text), units: attributes.get('unit') }
  },
  { mayBeEmpty: true },
)

/**
 * Creates a provider of the official rates of Magyar Nemzeti Bank, the central bank of Hungary. **No encryption**: anyone on
 * the way can change rates, within the sanity checks; `url` can name a proxy in a trusted network. A new currency needs a new
 * version.
 *
 * @see https://www.mnb.hu/en/statistics/statistical-data-and-information/statistical-time-series/xi-money-and-capital-markets
 */
export const createMnbProvider: BankFactory = /* @__PURE__ */ bank({
  name: 'Magyar Nemzeti Bank (central bank of Hungary)',
  page: 'https://www.mnb.hu/en/monetary-policy/the-mpc/exchange-rates',
  terms: 'https://www.mnb.hu/en/legal-notice',
  base: 'HUF',
  currencies: 30,
  publication: {
    id: 'mnb',
    holidays:
      '01-01, 03-15, easter-2 2017-, easter+1, 05-01, easter+50, 08-20, 10-23, 11-01, 12-24 2024-, 12-25, 12-26',
    time: '11:00',
    timeZone: 'Europe/Budapest',
    since: '1999-01-04',
  },
  root: 'http://www.mnb.hu',
  accept: 'text/xml',
  maxDays: 366,
  requests: ({ start, end }) => [
    {
      path: '/arfolyamok.asmx',
      headers: {
        'content-type': 'text/xml; charset=utf-8',
        soapaction: `${NAMESPACE}MNBArfolyamServiceSoap/GetExchangeRates`,
      },
      body:
        '<?xml version="1.0" encoding="utf-8"?>' +
        '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>' +
        `<GetExchangeRates xmlns="${NAMESPACE}"><startDate>${start}</startDate><endDate>${end}</endDate>` +
        `<currencyNames>${CODES}</currencyNames></GetExchangeRates></e:Body></e:Envelope>`,
    },
  ],
  read(text, request) {
    const [result] = readXml(text, 'Envelope/Body/GetExchangeRatesResponse/GetExchangeRatesResult')
    if (!result) throw new Error('no result')
    return readDays(result.text, request)
  },
})
