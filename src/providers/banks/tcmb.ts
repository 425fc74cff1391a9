import { createBank } from '../../upstream/bank.ts'
import type { HistoryProvider, LatestProvider } from '../../upstream/provider.ts'
import { dayIn, formatDay, middleOf, parseRows } from '../../upstream/published.ts'

/** Options of `createTcmbProvider`. */
export interface TcmbOptions {
  /** API key of your account; sent only to the bank, in a header. */
  key: string
  /** Root of the service, to which `/igmevdsms-dis/…` is appended (default `https://evds3.tcmb.gov.tr`). */
  url?: string | undefined
}

const CODES =
  'AED AUD AZN CAD CHF CNY DKK EUR GBP JPY KRW KWD KZT NOK PKR QAR RON RUB SAR SEK USD'.split(' ')

/** Quoted for 100 units. */
const HUNDREDS: ReadonlySet<string> = new Set(['JPY'])

/**
 * Creates a provider of latest rates and history: indicative rates of Türkiye Cumhuriyet Merkez Bankası, the central bank of
 * Türkiye, in liras: some 20 currencies at 15:30 in Ankara on Turkish working days, since 2012. Needs a key, which is free. The
 * bank publishes buying and selling rates; this provider has the middle of both. Its calendar has no religious holidays: on
 * these, rates count as late after five days.
 *
 * @throws {TypeError} if `key` or `url` is invalid
 * @see https://evds3.tcmb.gov.tr
 * @example
 * ```ts
 * import { createFrankfurterProvider, createRatesHandler } from 'ratesmith'
 * import { createTcmbProvider } from 'ratesmith/providers'
 *
 * const turkiye = createTcmbProvider({ key: '0123456789' })
 * const handler = createRatesHandler({ providers: { history: [createFrankfurterProvider(), turkiye] } })
 * ```
 */
export function createTcmbProvider(options: TcmbOptions): LatestProvider & HistoryProvider {
  const { key } = options
  return createBank(options, {
    attribution: {
      name: 'Central Bank of the Republic of Türkiye (middle of buying and selling rates)',
      url: 'https://www.tcmb.gov.tr/wps/wcm/connect/EN/TCMB+EN/Main+Menu/Statistics/Exchange+Rates',
    },
    terms: 'https://www.tcmb.gov.tr/wps/wcm/connect/EN/TCMB+EN/Bottom+Menu/Other/Disclaimer',
    publication: {
      id: 'tcmb',
      frequency: 'daily',
      holidays: '01-01, 04-23, 05-01, 05-19, 07-15 2017-, 08-30, 10-29'.split(', '),
      time: '15:30',
      timeZone: 'Europe/Istanbul',
      since: '2012-01-02',
      lag: 5 * 86_400_000,
    },
    base: 'TRY',
    url: 'https://evds3.tcmb.gov.tr',
    key,
    accept: 'application/json',
    minCodes: 15,
    maxDays: 366,
    requests(root, { start, end }) {
      const series = CODES.flatMap((code) => ['A', 'S'].map((side) => `TP.DK.${code}.${side}.YTL`))
      const [from, to] = [start, end].map((day) => formatDay(day, 'DD-MM-YYYY'))
      const range = `startDate=${from}&endDate=${to}&type=json&frequency=1`
      return [
        { url: `${root}/igmevdsms-dis/series=${series.join('-')}&${range}`, headers: { key } },
      ]
    },
    read(text, add) {
      for (const row of parseRows(text, (body) => Object(body).items)) {
        const { Tarih, ...values } = Object(row)
        const date = dayIn(Tarih)
        for (const code of CODES) {
          const [buying, selling] = [values[`TP_DK_${code}_A_YTL`], values[`TP_DK_${code}_S_YTL`]]
          if (buying === undefined || selling === undefined) throw new Error(`no series of ${code}`)
          if (buying === null || selling === null) continue
          add({ date, code, price: middleOf(buying, selling), units: HUNDREDS.has(code) ? 100 : 1 })
        }
      }
    },
  })
}
