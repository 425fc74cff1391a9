import type { DaySpan } from '../../rates/dates.ts'
import { bank } from '../../upstream/bank.ts'
import type { BankFactory } from '../../upstream/bank.ts'
import type { BankRequest } from '../../upstream/bank-days.ts'
import {
  codeOn,
  dayIn,
  formatDay,
  keysOf,
  middleOf,
  pairs,
  perTroyOunce,
  withPoint,
  words,
  xmlRows,
} from '../../upstream/published.ts'
import type { Quote, ReadRequest } from '../../upstream/published.ts'
import { readXml } from '../../upstream/xml.ts'
import type { XmlElement } from '../../upstream/xml.ts'

/** The bank's identifiers, at the end those of currencies that are no longer in its tables, and of metals. */
const IDS = /* @__PURE__ */ pairs(
  'AUD:R01010, AZN:R01020A, DZD:R01030, GBP:R01035, AMD:R01060, BHD:R01080, BYN:R01090B, BOB:R01105, BRL:R01115, ' +
    'HUF:R01135, VND:R01150, HKD:R01200, GEL:R01210, DKK:R01215, AED:R01230, USD:R01235, EUR:R01239, EGP:R01240, INR:R01270, ' +
    'IDR:R01280, IRR:R01300, KZT:R01335, CAD:R01350, QAR:R01355, KGS:R01370, CNY:R01375, CUP:R01395, MDL:R01500, MNT:R01503, ' +
    'NGN:R01520, NZD:R01530, NOK:R01535, OMR:R01540, PLN:R01565, SAR:R01580, RON:R01585F, XDR:R01589, SGD:R01625, ' +
    'TJS:R01670, THB:R01675, BDT:R01685, TRY:R01700J, TMT:R01710A, UZS:R01717, UAH:R01720, CZK:R01760, SEK:R01770, ' +
    'CHF:R01775, ETB:R01800, RSD:R01805F, ZAR:R01810, KRW:R01815, JPY:R01820, MMK:R02005, ATS:R01015, BEF:R01095, ' +
    'BGN:R01100, BYR:R01090, DEM:R01510, EEK:R01795, ESP:R01315, FIM:R01740, FRF:R01750, GRD:R01205, IEP:R01305, ISK:R01310, ' +
    'ITL:R01325, KWD:R01390, LBP:R01420, LTL:R01435, LVL:R01405, NLG:R01523, PTE:R01570, ROL:R01585, TJR:R01670, TMM:R01710, XAU:1, ' +
    'XAG:2, XPT:3, XPD:4',
)

const METALS = /* @__PURE__ */ words('XAU XAG XPT XPD')

function rangeOf(span: DaySpan): string {
  const [from, to] = [span.start, span.end].map((day) => formatDay(day, 'DD/MM/YYYY'))
  return `date_req1=${from}&date_req2=${to}`
}

function metalsOf(span: DaySpan): BankRequest {
  return { path: `/scripts/xml_metall.asp?${rangeOf(span)}`, about: 'metals' }
}

/** In a few series, some days have the identifier of the currency before or after. */
function* readSeries(text: string, { code = '' }: ReadRequest): Generator<Quote> {
  let [own, others] = [0, 0]
  for (const { attributes, texts } of readXml(text, 'ValCurs/Record')) {
    if (attributes.get('Id') !== IDS.get(code)) others += 1
    else {
      own += 1
      const date = dayIn(attributes.get('Date'))
      if (codeOn(date, code === 'TJR' ? 'TJS' : code) === code)
        yield { date, code, ...priceIn(texts) }
    }
  }
  if (own === 0 && others > 0) throw new Error('another currency')
}

/** Until 2008, the bank bought and sold metals at two prices. */
function* readMetals(text: string, { code: only }: ReadRequest): Generator<Quote> {
  for (const { attributes, texts } of readXml(text, 'Metall/Record')) {
    const code = METALS.find((each) => IDS.get(each) === attributes.get('Code'))
    const [buying, selling] = ['Buy', 'Sell'].map((name) => withPoint(texts.get(name)))
    const price = perTroyOunce(middleOf(buying, selling))
    if (code !== undefined && code === (only ?? code)) {
      yield { date: dayIn(attributes.get('Date')), code, price }
    }
  }
}

/** Without codes that have no series, so that a table and a series have the same rates. */
const readTable = /* @__PURE__ */ xmlRows(
  'ValCurs/Valute',
  ({ attributes, parent, texts }, { span }) => {
    const date = dayIn(parent?.attributes.get('Date'))
    const code = texts.get('CharCode') ?? ''
    // For a day without a table, the bank responds with the one before.
    const isBefore = date !== '' && date < span.start
    if (isBefore || IDS.get(code) !== attributes.get('ID')) return undefined
    return { date, code: codeOn(date, code), ...priceIn(texts) }
  },
)

function priceIn(texts: XmlElement['texts']): Pick<Quote, 'price' | 'units'> {
  return { price: withPoint(texts.get('Value')), units: texts.get('Nominal') }
}

/**
 * Creates a provider of the official rates of the Bank of Russia. With `XDR` and metals; `TJS` was `TJR` before 30 October
 * 2000. Late after four days: the calendar lacks holidays that the government moves.
 *
 * @see https://www.cbr.ru/eng/development/SXML/
 */
export const createCbrProvider: BankFactory = /* @__PURE__ */ bank({
  name: 'Bank of Russia',
  page: 'https://www.cbr.ru/eng/currency_base/daily/',
  terms: 'https://www.cbr.ru/eng/user_agreement/',
  base: 'RUB',
  currencies: 55,
  publication: {
    id: 'cbr',
    holidays:
      '01-01, 01-02, 01-03, 01-04, 01-05, 01-06, 01-07, 01-08, 02-23, 03-08, 05-01, 05-09, 06-12, 11-04',
    time: '17:00',
    timeZone: 'Europe/Moscow',
    dated: 'effect',
    since: '1999-01-01',
    lagDays: 4,
  },
  root: 'https://www.cbr.ru',
  accept: 'text/xml',
  encoding: 'windows-1251',
  maxDays: 1,
  requests: ({ start }) => [`/scripts/XML_daily.asp?date_req=${formatDay(start, 'DD/MM/YYYY')}`],
  codes: /* @__PURE__ */ keysOf(IDS),
  extras: (span) => [metalsOf(span)],
  series: (code, span) =>
    METALS.includes(code)
      ? metalsOf(span)
      : `/scripts/XML_dynamic.asp?${rangeOf(span)}&VAL_NM_RQ=${IDS.get(code)}`,
  read(text, request) {
    if (request.about === 'metals') return readMetals(text, request)
    return (request.code === undefined ? readTable : readSeries)(text, request)
  },
})
