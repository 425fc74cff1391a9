import { readColumns } from '../../rates/csv.ts'
import { bank } from '../../upstream/bank.ts'
import type { BankFactory } from '../../upstream/bank.ts'
import type { HistoryProvider } from '../../upstream/provider.ts'
import { codeOn, dayIn, monthsOf, pairs } from '../../upstream/published.ts'

/** ISO 4217 codes of currencies that HMRC gives others. */
const CODES = /* @__PURE__ */ pairs('VED:VES, ZIG:ZWG')

/**
 * Creates a provider of the monthly rates of HM Revenue & Customs for customs and VAT. A correction has its own day. `VED` is
 * `VES`, `ZIG` is `ZWG`, `SLE` before March 2023 is `SLL`; `ECS` is omitted.
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
  accept: 'text/csv',
  maxDays: 31,
  spansOf: monthsOf,
  requests({ start }) {
    const month = start.slice(0, 7)
    const [path = '', ...otherPaths] = [month.replace('-0', '-'), month].flatMap((each) =>
      ['/uk/api', '/api/v2'].map((api) => `${api}/exchange_rates/files/monthly_csv_${each}.csv`),
    )
    return [{ path, otherPaths }]
  },
  isEmpty: ({ status }, isOver) => status === 404 && !isOver,
  *read(text) {
    const columns = ['Currency Code', 'Currency Units per £1', 'Start date', 'End date']
    let isWhole = false
    for (const [name = '', rate, start, end] of readColumns(text, columns)) {
      const date = dayIn(start)
      if (dayIn(end) < date) throw new Error('an invalid end of a period')
      isWhole ||= name === 'USD'
      if (name !== 'ECS') yield { date, code: codeOn(date, CODES.get(name) ?? name), rate }
    }
    // One of the last rows, by the name of the country.
    if (!isWhole) throw new Error('the table has no USD; it is truncated')
  },
})
