import { createBank } from '../../upstream/bank.ts'
import type { BankOptions } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { parseRows } from '../../upstream/published.ts'

export type { BankOptions }

const FOUR_DAYS_MS = 4 * 86_400_000

/**
 * Creates a provider of latest rates and history: reference rates of Financial Benchmarks India, in rupees: the US dollar,
 * pound, euro, yen and a few other currencies at 13:30 in Mumbai on Indian working days, since 2018. Needs no key. Rates of 100
 * or 10,000 units are divided exactly. Its calendar has no religious holidays: on these, rates count as late after four days.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://www.fbil.org.in
 * @example
 * ```ts
 * import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
 * import { createFbilProvider } from 'ratesmith/providers'
 *
 * const history = [createFrankfurterProvider(), createFbilProvider()]
 * const handler = createRatesHandler({ providers: { history } })
 * ```
 */
export function createFbilProvider(options: BankOptions = {}): LatestProvider & HistoryProvider {
  return createBank(options, {
    attribution: {
      name: 'Financial Benchmarks India (FBIL)',
      url: 'https://www.fbil.org.in/#/refrates',
    },
    terms: 'https://www.fbil.org.in/#/termsandcondition',
    publication: {
      id: 'fbil',
      frequency: 'daily',
      holidays: '01-26, 05-01, 08-15, 10-02, 12-25'.split(', '),
      time: '13:30',
      timeZone: 'Asia/Kolkata',
      since: '2018-07-10',
      lag: FOUR_DAYS_MS,
    },
    base: 'INR',
    url: 'https://www.fbil.org.in',
    accept: 'application/json',
    minCodes: 5,
    maxDays: 366,
    requests(root, { start, end }) {
      const query = `fromDate=${start}&toDate=${end}&authenticated=false`
      return [{ url: `${root}/wasdm/refrates/fetchfiltered?${query}` }]
    },
    read(text, add) {
      for (const row of parseRows(text)) {
        const { processRunDate, subProdName, rate } = Object(row)
        const [, units, code = ''] = /^INR \/ (\d+) ([A-Z]{3})$/.exec(subProdName) ?? []
        const [date = ''] = String(processRunDate).split(' ')
        add({ date, code, price: rate, units })
      }
    },
  })
}
