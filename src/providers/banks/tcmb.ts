import { bank } from '../../upstream/bank.ts'
import type { KeyedSidedBankFactory } from '../../upstream/bank.ts'
import { dayIn, formatDay, jsonRows, sideOf, words } from '../../upstream/published.ts'

const CODES = /* @__PURE__ */ words(
  'AED AUD AZN CAD CHF CNY DKK EUR GBP JPY KRW KWD KZT NOK PKR QAR RON RUB SAR SEK USD',
)

/**
 * Creates a provider of the indicative rates of Türkiye Cumhuriyet Merkez Bankası, the central bank of Türkiye. Turkish tax
 * uses `side: 'buying'`; default is the middle of buying and selling. Late after five days: the calendar lacks religious
 * holidays.
 *
 * @see https://evds3.tcmb.gov.tr
 */
export const createTcmbProvider: KeyedSidedBankFactory = /* @__PURE__ */ bank({
  name: 'Central Bank of the Republic of Türkiye (middle of buying and selling rates)',
  page: 'https://www.tcmb.gov.tr/wps/wcm/connect/EN/TCMB+EN/Main+Menu/Statistics/Exchange+Rates',
  terms: 'https://www.tcmb.gov.tr/wps/wcm/connect/EN/TCMB+EN/Bottom+Menu/Other/Disclaimer',
  base: 'TRY',
  currencies: 20,
  publication: {
    id: 'tcmb',
    holidays: '01-01, 04-23, 05-01, 05-19, 07-15 2017-, 08-30, 10-29',
    time: '15:30',
    timeZone: 'Europe/Istanbul',
    dated: 'next-working-day',
    since: '2012-01-02',
    lagDays: 5,
  },
  root: 'https://evds3.tcmb.gov.tr',
  keyIn: 'header',
  hasSides: true,
  accept: 'application/json',
  minCodes: 15,
  maxDays: 366,
  requests({ start, end }, key) {
    const series = CODES.flatMap((code) => ['A', 'S'].map((side) => `TP.DK.${code}.${side}.YTL`))
    const [from, to] = [start, end].map((day) => formatDay(day, 'DD-MM-YYYY'))
    const range = `startDate=${from}&endDate=${to}&type=json&frequency=1`
    return [{ path: `/igmevdsms-dis/series=${series.join('-')}&${range}`, headers: { key } }]
  },
  read: /* @__PURE__ */ jsonRows('items', ({ Tarih, ...values }, request) =>
    CODES.flatMap((code) => {
      const [buying, selling] = ['A', 'S'].map((side) => values[`TP_DK_${code}_${side}_YTL`])
      if (buying === undefined || selling === undefined) throw new Error(`no series of ${code}`)
      if (buying === null || selling === null) return []
      // Of yen, 100 are quoted.
      const units = code === 'JPY' ? 100 : 1
      return [{ date: dayIn(Tarih), code, price: sideOf(request, buying, selling), units }]
    }),
  ),
})
