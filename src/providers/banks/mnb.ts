import { createBank } from '../../upstream/bank.ts'
import type { BankOptions } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { withPoint } from '../../upstream/published.ts'
import { readXml } from '../../upstream/xml.ts'

export type { BankOptions }

const NAMESPACE = 'http://www.mnb.hu/webservices/'

/** Without names of currencies the service returns days without rates. */
const CODES =
  'AUD,BRL,CAD,CHF,CNY,CZK,DKK,EUR,GBP,HKD,IDR,ILS,INR,ISK,JPY,KRW,MXN,MYR,NOK,NZD,PHP,PLN,RON,RSD,RUB,SEK,SGD,THB,TRY,UAH,USD,ZAR'

/**
 * Creates a provider of latest rates and history: official rates of Magyar Nemzeti Bank, the central bank of Hungary, in
 * forints: some 30 currencies at 11:00 in Budapest on Hungarian working days, since 1999. Needs no key. Rates of 100 units are
 * divided exactly. The bank's service is unencrypted; `url` can name a proxy that is not.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://www.mnb.hu/en/statistics/statistical-data-and-information/statistical-time-series/xi-money-and-capital-markets
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createMnbProvider } from 'ratesmith/providers'
 *
 * const hungary = createMnbProvider()
 * const handler = createRatesHandler({ providers: { latest: hungary, history: hungary } })
 * ```
 */
export function createMnbProvider(options: BankOptions = {}): LatestProvider & HistoryProvider {
  return createBank(options, {
    attribution: {
      name: 'Magyar Nemzeti Bank (central bank of Hungary)',
      url: 'https://www.mnb.hu/en/monetary-policy/the-mpc/exchange-rates',
    },
    terms: 'https://www.mnb.hu/en/legal-notice',
    publication: {
      id: 'mnb',
      frequency: 'daily',
      holidays:
        '01-01, 03-15, easter-2 2017-, easter+1, 05-01, easter+50, 08-20, 10-23, 11-01, 12-24 2024-, 12-25, 12-26'.split(
          ', ',
        ),
      time: '11:00',
      timeZone: 'Europe/Budapest',
      since: '1999-01-04',
    },
    base: 'HUF',
    url: 'http://www.mnb.hu',
    accept: 'text/xml',
    maxDays: 366,
    requests: (root, { start, end }) => [
      {
        url: `${root}/arfolyamok.asmx`,
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
    read(text, add) {
      const result = 'Envelope/Body/GetExchangeRatesResponse/GetExchangeRatesResult'
      const [inner] = readXml(text, result)
      if (!inner) throw new Error('no result')
      for (const rate of readXml(inner.text, 'MNBExchangeRates/Day/Rate')) {
        const date = rate.parent?.attributes.get('date') ?? ''
        const code = rate.attributes.get('curr') ?? ''
        add({ date, code, price: withPoint(rate.text), units: rate.attributes.get('unit') })
      }
    },
  })
}
