import { bank } from '../../upstream/bank.ts'
import type { BankFactory } from '../../upstream/bank.ts'
import { dayIn, formatDay, jsonRows } from '../../upstream/published.ts'

/**
 * Creates a provider of the official rates of the National Bank of Ukraine. Rates are dated the day on which they apply, with
 * weekends: these have the rates of the working day before. The special drawing right and four metals are among the codes.
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
    // Rates are made on the working day before that on which they apply; those of Mondays are read on Sunday.
    weekend: [5, 6],
    time: '16:00',
    timeZone: 'Europe/Kyiv',
    dated: 'effect',
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
  read: /* @__PURE__ */ jsonRows('', ({ exchangedate, cc: code, rate, units }) => [
    { date: dayIn(exchangedate), code, price: rate, units },
  ]),
})
