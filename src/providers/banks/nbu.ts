import { createBank } from '../../upstream/bank.ts'
import type { BankOptions } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { dayIn, formatDay, parseRows } from '../../upstream/published.ts'

export type { BankOptions }

/** Rates are made on the working day before that on which they apply; those of Mondays are read on Sunday. */
const FRIDAY_AND_SATURDAY = [5, 6]

/**
 * Creates a provider of latest rates and history: official rates of the National Bank of Ukraine, in hryvnias: some 40
 * currencies, precious metals and the special drawing right at 16:00 in Kyiv for the next day, since 1999. Needs no key. Rates of
 * 10 to 1,000 units are divided exactly.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://bank.gov.ua/en/open-data/api-dev
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createNbuProvider } from 'ratesmith/providers'
 *
 * const ukraine = createNbuProvider()
 * const handler = createRatesHandler({ providers: { latest: ukraine, history: ukraine } })
 * ```
 */
export function createNbuProvider(options: BankOptions = {}): LatestProvider & HistoryProvider {
  return createBank(options, {
    attribution: {
      name: 'National Bank of Ukraine',
      url: 'https://bank.gov.ua/en/markets/exchangerates',
    },
    terms: 'https://bank.gov.ua/en/useterms',
    publication: {
      id: 'nbu',
      frequency: 'daily',
      weekend: FRIDAY_AND_SATURDAY,
      holidays: [],
      time: '16:00',
      timeZone: 'Europe/Kyiv',
      dated: 'effect',
      since: '1999-01-04',
    },
    base: 'UAH',
    url: 'https://bank.gov.ua',
    accept: 'application/json',
    maxBytes: 8 * 1024 * 1024,
    maxDays: 366,
    requests(root, span) {
      const [start, end] = [span.start, span.end].map((day) => formatDay(day, 'YYYYMMDD'))
      const query = `start=${start}&end=${end}&sort=exchangedate&order=asc&json`
      return [{ url: `${root}/NBU_Exchange/exchange_site?${query}` }]
    },
    read(text, add) {
      for (const row of parseRows(text)) {
        const { exchangedate, cc: code, rate, units } = Object(row)
        add({ date: dayIn(exchangedate), code, price: rate, units })
      }
    },
  })
}
