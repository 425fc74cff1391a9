import { bank } from '../../upstream/bank.ts'
import type { KeyedBankFactory } from '../../upstream/bank.ts'
import { jsonRows, keysOf, pairs } from '../../upstream/published.ts'

/** Names of the series; those that begin with `US` have dollars for one unit of the currency. */
const SERIES = /* @__PURE__ */ pairs(
  'BRL:BZUS, CAD:CAUS, CNY:CHUS, DKK:DNUS, HKD:HKUS, INR:INUS, JPY:JPUS, KRW:KOUS, MYR:MAUS, MXN:MXUS, NOK:NOUS, SEK:SDUS, ' +
    'ZAR:SFUS, SGD:SIUS, LKR:SLUS, CHF:SZUS, TWD:TAUS, THB:THUS, AUD:USAL, EUR:USEU, NZD:USNZ, GBP:USUK',
)

/**
 * Creates a provider of the rates of the Federal Reserve's release H.10 from FRED. Noon rates of the week before. Proxies can
 * see the key in the query; events and errors never have it.
 *
 * @see https://fred.stlouisfed.org/docs/api/fred/series_observations.html
 */
export const createFredProvider: KeyedBankFactory = /* @__PURE__ */ bank({
  name: 'Board of Governors of the Federal Reserve System, H.10 (via FRED)',
  page: 'https://fred.stlouisfed.org/categories/94',
  terms: 'https://fred.stlouisfed.org/legal/',
  base: 'USD',
  currencies: 22,
  publication: {
    id: 'fred',
    frequency: 'weekly',
    weekday: 5,
    holidays:
      '01-01, 01-15/1, 02-15/1, 05-25/1, 06-19 2021-, 07-04, 09-01/1, 10-08/1, 11-11, 11-22/4, 12-25',
    time: '16:15',
    timeZone: 'America/New_York',
    delayDays: 3,
    since: '1999-01-04',
    lagDays: 2,
  },
  root: 'https://api.stlouisfed.org',
  keyIn: 'query',
  accept: 'application/json',
  codes: /* @__PURE__ */ keysOf(SERIES),
  series(code, { start, end }, key) {
    const range = `observation_start=${start}&observation_end=${end}`
    const query = `series_id=DEX${SERIES.get(code)}&${range}&file_type=json`
    return `/fred/series/observations?${query}&api_key=${encodeURIComponent(key)}`
  },
  read: /* @__PURE__ */ jsonRows('observations', ({ date, value }, { code = '' }) => {
    const published = value === '.' ? '' : value
    const isPrice = SERIES.get(code)?.startsWith('US') === true
    return [{ date, code, ...(isPrice ? { price: published } : { rate: published }) }]
  }),
})
