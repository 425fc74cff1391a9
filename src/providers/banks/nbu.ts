import { weekdayOf } from '../../rates/dates.ts'
import { bank } from '../../upstream/bank.ts'
import type { BankFactory } from '../../upstream/bank.ts'
import { codeOn, dayIn, formatDay, jsonRows } from '../../upstream/published.ts'

/**
 * Creates a provider of the official rates of the National Bank of Ukraine. Fridays' rates, which the bank repeats on
 * Saturdays and Sundays, count once. With `XDR` and metals; `TJS` was `TJR` before 30 October 2000.
 *
 * @see https://bank.gov.ua/en/open-data/api-dev
 */
export const createNbuProvider: BankFactory = /* @__PURE__ */ bank({
  name: 'National Bank of Ukraine',
  page: 'https://bank.gov.ua/en/markets/exchangerates',
  terms: 'https://bank.gov.ua/en/useterms',
  base: 'UAH',
  currencies: 40,
  publication: {
    id: 'nbu',
    time: '16:00',
    timeZone: 'Europe/Kyiv',
    dated: 'next-working-day',
    since: '1999-01-04',
  },
  root: 'https://bank.gov.ua',
  accept: 'application/json',
  maxBytes: 8_388_608,
  maxDays: 366,
  requests(span) {
    const [start, end] = [span.start, span.end].map((day) => formatDay(day, 'YYYYMMDD'))
    return [
      `/NBU_Exchange/exchange_site?start=${start}&end=${end}&sort=exchangedate&order=asc&json`,
    ]
  },
  read: /* @__PURE__ */ jsonRows('', ({ exchangedate, cc, rate, units }) => {
    const date = dayIn(exchangedate)
    return weekdayOf(date) > 5 ? [] : [{ date, code: codeOn(date, cc), price: rate, units }]
  }),
})
