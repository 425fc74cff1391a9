import { createBank } from '../../upstream/bank.ts'
import type { BankOptions, Quote } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { dayIn, formatDay, withPoint } from '../../upstream/published.ts'
import { readXml } from '../../upstream/xml.ts'
import type { XmlElement } from '../../upstream/xml.ts'

export type { BankOptions }

const IDS: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ (
    'AUD1010 AZN1020A DZD1030 GBP1035 AMD1060 BHD1080 BYN1090B BOB1105 BRL1115 HUF1135 VND1150 HKD1200 GEL1210 DKK1215 AED1230 USD1235 ' +
    'EUR1239 EGP1240 INR1270 IDR1280 IRR1300 KZT1335 CAD1350 QAR1355 KGS1370 CNY1375 CUP1395 MDL1500 MNT1503 NGN1520 NZD1530 NOK1535 ' +
    'OMR1540 PLN1565 SAR1580 RON1585F XDR1589 SGD1625 TJS1670 THB1675 BDT1685 TRY1700J TMT1710A UZS1717 UAH1720 CZK1760 SEK1770 CHF1775 ' +
    'ETB1800 RSD1805F ZAR1810 KRW1815 JPY1820 MMK2005'
  )
    .split(' ')
    .map((each) => [each.slice(0, 3), `R0${each.slice(3)}`] as const),
)

/**
 * Creates a provider of latest rates and history: official rates of the Bank of Russia, in roubles: some 50 currencies and the
 * special drawing right, each table for the next day, since 1999. Needs no key. Rates of several units are divided exactly.
 * Fetches a table per day, or all days of a currency at once.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://www.cbr.ru/eng/development/SXML/
 * @example
 * ```ts
 * import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
 * import { createCbrProvider } from 'ratesmith/providers'
 *
 * const history = [createFrankfurterProvider(), createCbrProvider()]
 * const handler = createRatesHandler({ providers: { history } })
 * ```
 */
export function createCbrProvider(options: BankOptions = {}): LatestProvider & HistoryProvider {
  return createBank(options, {
    attribution: { name: 'Bank of Russia', url: 'https://www.cbr.ru/eng/currency_base/daily/' },
    terms: 'https://www.cbr.ru/eng/user_agreement/',
    publication: {
      id: 'cbr',
      frequency: 'daily',
      holidays:
        '01-01, 01-02, 01-03, 01-04, 01-05, 01-06, 01-07, 01-08, 02-23, 03-08, 05-01, 05-09, 06-12, 11-04'.split(
          ', ',
        ),
      time: '17:00',
      timeZone: 'Europe/Moscow',
      dated: 'effect',
      since: '1999-01-01',
      lag: 4 * 86_400_000,
    },
    base: 'RUB',
    url: 'https://www.cbr.ru',
    accept: 'text/xml',
    encoding: 'windows-1251',
    maxDays: 1,
    requests: (root, { start }) => [
      { url: `${root}/scripts/XML_daily.asp?date_req=${formatDay(start, 'DD/MM/YYYY')}` },
    ],
    seriesRequest(root, { start, end }, code) {
      const id = IDS.get(code)
      if (id === undefined) throw new Error('the currency has no known identifier')
      const [from, to] = [start, end].map((day) => formatDay(day, 'DD/MM/YYYY'))
      const query = `date_req1=${from}&date_req2=${to}&VAL_NM_RQ=${id}`
      return { url: `${root}/scripts/XML_dynamic.asp?${query}`, about: code }
    },
    read(text, add, { about: code }, { start }) {
      if (code === undefined) {
        readTable(text, start, add)
        return
      }
      for (const record of readXml(text, 'ValCurs/Record')) {
        if (record.attributes.get('Id') !== IDS.get(code)) throw new Error('another currency')
        add({ date: dayIn(record.attributes.get('Date')), code, ...priceOf(record) })
      }
    },
  })
}

/** Reads the table of a day; for a day without one, the bank responds with the table before. */
function readTable(text: string, day: string, add: (quote: Quote) => void): void {
  let rows = 0
  for (const record of readXml(text, 'ValCurs/Valute')) {
    rows += 1
    const date = dayIn(record.parent?.attributes.get('Date'))
    const code = record.texts.get('CharCode') ?? ''
    if (date === '' || date >= day) add({ date, code, ...priceOf(record) })
  }
  if (rows === 0) throw new Error('no rates')
}

function priceOf({ texts }: XmlElement): Pick<Quote, 'price' | 'units'> {
  return { price: withPoint(texts.get('Value')), units: texts.get('Nominal') ?? '' }
}
