import { createBank } from '../../upstream/bank.ts'
import type { BankRequest } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { parseRows } from '../../upstream/published.ts'

/** Options of `createFredProvider`. */
export interface FredOptions {
  /** API key of your account; sent only to the Federal Reserve Bank of St. Louis, in the query. */
  key: string
  /** Root of the service, to which `/fred/series/observations` is appended (default `https://api.stlouisfed.org`). */
  url?: string | undefined
}

/** Names of the series; those that begin with `US` have dollars for one unit of the currency. */
const SERIES: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ (
    'BRL:BZUS CAD:CAUS CNY:CHUS DKK:DNUS HKD:HKUS INR:INUS JPY:JPUS KRW:KOUS MYR:MAUS MXN:MXUS NOK:NOUS SEK:SDUS ' +
    'ZAR:SFUS SGD:SIUS LKR:SLUS CHF:SZUS TWD:TAUS THB:THUS AUD:USAL EUR:USEU NZD:USNZ GBP:USUK'
  )
    .split(' ')
    .map((each) => [each.slice(0, 3), each.slice(4)] as const),
)

/**
 * Creates a provider of latest rates and history: the rates of the Federal Reserve's release H.10 from FRED, against the US
 * dollar: 22 currencies of New York at noon, released on Mondays for the week before, since 1999. Needs a key. Sends a request
 * for each currency, one after another, or one for the history of a currency.
 *
 * @throws {TypeError} if `key` or `url` is invalid
 * @see https://fred.stlouisfed.org/docs/api/fred/series_observations.html
 * @example
 * ```ts
 * import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
 * import { createFredProvider } from 'ratesmith/providers'
 *
 * const fred = createFredProvider({ key: '0123456789abcdef0123456789abcdef' })
 * const handler = createRatesHandler({ providers: { history: [createFrankfurterProvider(), fred] } })
 * ```
 */
export function createFredProvider(options: FredOptions): LatestProvider & HistoryProvider {
  const { key } = options
  const requestFor = (
    root: string,
    { start, end }: { start: string; end: string },
    code: string,
  ): BankRequest => {
    const range = `observation_start=${start}&observation_end=${end}`
    const query = `series_id=DEX${SERIES.get(code) ?? ''}&${range}&file_type=json`
    const secret = `api_key=${encodeURIComponent(key)}`
    return { url: `${root}/fred/series/observations?${query}&${secret}`, about: code }
  }
  return createBank(options, {
    attribution: {
      name: 'Board of Governors of the Federal Reserve System, H.10 (via FRED)',
      url: 'https://fred.stlouisfed.org/categories/94',
    },
    terms: 'https://fred.stlouisfed.org/legal/',
    publication: {
      id: 'fred',
      frequency: 'weekly',
      weekday: 5,
      holidays:
        '01-01, 01-15/1, 02-15/1, 05-25/1, 06-19 2021-, 07-04, 09-01/1, 10-08/1, 11-11, 11-22/4, 12-25'.split(
          ', ',
        ),
      time: '16:15',
      timeZone: 'America/New_York',
      delayDays: 3,
      since: '1999-01-04',
      lag: 2 * 86_400_000,
    },
    base: 'USD',
    url: 'https://api.stlouisfed.org',
    key,
    accept: 'application/json',
    requests: (root, span) => [...SERIES.keys()].map((code) => requestFor(root, span, code)),
    seriesRequest: (root, span, code) =>
      SERIES.has(code) ? requestFor(root, span, code) : undefined,
    read(text, add, { about: code = '' }) {
      const isPrice = SERIES.get(code)?.startsWith('US') === true
      for (const row of parseRows(text, (body) => Object(body).observations)) {
        const { date, value } = Object(row)
        const published = value === '.' ? '' : value
        add({ date, code, ...(isPrice ? { price: published } : { rate: published }) })
      }
    },
  })
}
