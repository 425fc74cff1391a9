import { bank } from '../../upstream/bank.ts'
import type { BankFactory } from '../../upstream/bank.ts'
import type { HistoryProvider } from '../../upstream/provider.ts'
import { dayIn, monthsOf, xmlRows } from '../../upstream/published.ts'

/**
 * Creates a provider of the monthly rates of HM Revenue & Customs for customs and VAT. The rates of a month are dated its
 * first day.
 *
 * @see https://www.gov.uk/government/collections/exchange-rates-for-customs-and-vat
 */
export const createHmrcProvider: BankFactory<HistoryProvider> = /* @__PURE__ */ bank({
  name: 'HM Revenue & Customs (monthly rates)',
  page: 'https://www.trade-tariff.service.gov.uk/exchange_rates',
  terms: 'https://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/',
  base: 'GBP',
  currencies: 150,
  publication: {
    id: 'hmrc',
    frequency: 'monthly',
    weekend: [],
    time: '00:00',
    timeZone: 'Europe/London',
    since: '2021-01-01',
  },
  latest: false,
  root: 'https://www.trade-tariff.service.gov.uk',
  accept: 'application/xml, text/xml',
  maxDays: 31,
  spansOf: monthsOf,
  requests({ start }) {
    const month = `${start.slice(0, 4)}-${Number(start.slice(5, 7))}`
    return [`/api/v2/exchange_rates/files/monthly_xml_${month}.xml`]
  },
  read: /* @__PURE__ */ xmlRows('exchangeRateMonthList/exchangeRate', ({ parent, texts }) => {
    const [, first] = /^(\S+) to \S+$/.exec(parent?.attributes.get('Period') ?? '') ?? []
    return { date: dayIn(first), code: texts.get('currencyCode'), rate: texts.get('rateNew') ?? '' }
  }),
})
