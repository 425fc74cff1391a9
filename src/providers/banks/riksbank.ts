import { bank } from '../../upstream/bank.ts'
import type { BankFactory } from '../../upstream/bank.ts'
import { jsonRows, withDaysBefore } from '../../upstream/published.ts'

/**
 * Creates a provider of the rates of Sveriges Riksbank, the central bank of Sweden. Without the index of all currencies.
 *
 * @see https://www.riksbank.se/en-gb/statistics/interest-rates-and-exchange-rates/retrieving-interest-rates-and-exchange-rates-via-api/
 */
export const createRiksbankProvider: BankFactory = /* @__PURE__ */ bank({
  name: 'Sveriges Riksbank',
  page: 'https://www.riksbank.se/en-gb/statistics/',
  terms: 'https://www.riksbank.se/en-gb/about-the-website/terms-of-use/',
  base: 'SEK',
  currencies: 30,
  publication: {
    id: 'riksbank',
    holidays:
      '01-01, 01-06, easter-2, easter+1, 05-01, easter+39, easter+50 -2004, 06-06 2005-, 06-19/5, 12-24, 12-25, 12-26, 12-31',
    time: '16:15',
    timeZone: 'Europe/Stockholm',
    since: '1999-01-04',
  },
  root: 'https://api.riksbank.se',
  accept: 'application/json',
  // The service rejects more than a year; ten days before are requested, too.
  maxDays: 355,
  spansOf: withDaysBefore,
  requests: ({ start, end }) => [`/swea/v1/Observations/ByGroup/130/${start}/${end}`],
  read: /* @__PURE__ */ jsonRows('', ({ seriesId, date, value }) => {
    if (seriesId === 'SEKETT') return []
    const [, code] = /^SEK([A-Z]{3})PMI$/.exec(String(seriesId)) ?? []
    if (code === undefined) throw new Error('a series with an unexpected name')
    return [{ date, code, price: value }]
  }),
})
