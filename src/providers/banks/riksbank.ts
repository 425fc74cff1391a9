import { createBank } from '../../upstream/bank.ts'
import type { BankOptions } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { parseRows, withDaysBefore } from '../../upstream/published.ts'

export type { BankOptions }

/** The service rejects more than a year; ten days before are requested, too. */
const MAX_DAYS = 355

/**
 * Creates a provider of latest rates and history: rates of Sveriges Riksbank, the central bank of Sweden, in kronor: some 30
 * currencies at 16:15 in Stockholm on Swedish working days, since 1999. Needs no key.
 *
 * @throws {TypeError} if `url` is invalid
 * @see https://www.riksbank.se/en-gb/statistics/interest-rates-and-exchange-rates/retrieving-interest-rates-and-exchange-rates-via-api/
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createRiksbankProvider } from 'ratesmith/providers'
 *
 * const sweden = createRiksbankProvider()
 * const handler = createRatesHandler({ providers: { latest: sweden, history: sweden } })
 * ```
 */
export function createRiksbankProvider(
  options: BankOptions = {},
): LatestProvider & HistoryProvider {
  return createBank(options, {
    attribution: { name: 'Sveriges Riksbank', url: 'https://www.riksbank.se/en-gb/statistics/' },
    terms: 'https://www.riksbank.se/en-gb/about-the-website/terms-of-use/',
    publication: {
      id: 'riksbank',
      frequency: 'daily',
      holidays: (
        '01-01, 01-06, easter-2, easter+1, 05-01, easter+39, easter+50 -2004, 06-06 2005-, 06-19/5, ' +
        '12-24, 12-25, 12-26, 12-31'
      ).split(', '),
      time: '16:15',
      timeZone: 'Europe/Stockholm',
      since: '1999-01-04',
    },
    base: 'SEK',
    url: 'https://api.riksbank.se',
    accept: 'application/json',
    maxDays: MAX_DAYS,
    spansOf: (range) => withDaysBefore(range, MAX_DAYS),
    requests: (root, { start, end }) => [
      { url: `${root}/swea/v1/Observations/ByGroup/130/${start}/${end}` },
    ],
    read(text, add) {
      for (const row of parseRows(text)) {
        const { seriesId, date, value } = Object(row)
        // An index of all currencies.
        if (seriesId === 'SEKETT') continue
        const [, code] = /^SEK([A-Z]{3})PMI$/.exec(seriesId) ?? []
        if (code === undefined) throw new Error('a series with an unexpected name')
        add({ date, code, price: value })
      }
    },
  })
}
