import { createBankHistory } from '../../upstream/bank.ts'
import type { BankOptions } from '../../upstream/bank.ts'
import type { HistoryProvider } from '../../upstream/provider.ts'
import { dayIn, monthsOf } from '../../upstream/published.ts'
import { readXml } from '../../upstream/xml.ts'

export type { BankOptions }

/**
 * Creates a provider of history: monthly rates of HM Revenue & Customs for customs and VAT, against sterling: some 150
 * currencies, each month's dated its first day, since 2021. Needs no key. They are rates of a period, and not available as
 * latest rates. Requests a file for each month.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://www.gov.uk/government/collections/exchange-rates-for-customs-and-vat
 * @example
 * ```ts
 * import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
 * import { createHmrcProvider } from 'ratesmith/providers'
 *
 * const history = [createFrankfurterProvider(), createHmrcProvider()]
 * const handler = createRatesHandler({ providers: { history } })
 * ```
 */
export function createHmrcProvider(options: BankOptions = {}): HistoryProvider {
  return createBankHistory(options, {
    attribution: {
      name: 'HM Revenue & Customs (monthly rates)',
      url: 'https://www.trade-tariff.service.gov.uk/exchange_rates',
    },
    terms: 'https://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/',
    publication: {
      id: 'hmrc',
      frequency: 'monthly',
      weekend: [],
      holidays: [],
      time: '00:00',
      timeZone: 'Europe/London',
      since: '2021-01-01',
    },
    base: 'GBP',
    url: 'https://www.trade-tariff.service.gov.uk',
    accept: 'application/xml, text/xml',
    maxDays: 31,
    spansOf: monthsOf,
    requests(root, { start }) {
      const month = `${start.slice(0, 4)}-${Number(start.slice(5, 7))}`
      return [{ url: `${root}/api/v2/exchange_rates/files/monthly_xml_${month}.xml` }]
    },
    read(text, add) {
      let rows = 0
      for (const row of readXml(text, 'exchangeRateMonthList/exchangeRate')) {
        rows += 1
        const [, first] = /^(\S+) to \S+$/.exec(row.parent?.attributes.get('Period') ?? '') ?? []
        const code = row.texts.get('currencyCode') ?? ''
        add({ date: dayIn(first), code, rate: row.texts.get('rateNew') })
      }
      if (rows === 0) throw new Error('no rates')
    },
  })
}
