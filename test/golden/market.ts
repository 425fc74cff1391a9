// Made-up rates of every currency on every day: data only, so that each work tree reads the same upstreams.

const DAY_MS = 86_400_000

/** Units for one US dollar, or for one unit of the code after the colon. Codes with an asterisk never move. */
const ANCHORS = `EUR 0.87, JPY 152, CZK 21.3, DKK* 7.46:EUR, GBP 0.757, HUF 335, PLN 3.7, RON 4.4, SEK 9.57, CHF 0.81, ISK 126,
  NOK 10.1, TRY 41.7, AUD 1.52, BRL 5.48, CAD 1.38, CNY 7.1, HKD* 7.8, IDR 16500, ILS 3.3, INR 88, KRW 1420, MXN 18.3, MYR 4.2,
  NZD 1.74, PHP 58, SGD 1.29, THB 32.5, ZAR 17.4, AED* 3.6725, AFN 67, ALL 84, AMD 385, ANG* 1.79, AOA 920, ARS 1450, AWG* 1.79,
  AZN* 1.7, BAM* 1.95583:EUR, BBD* 2, BDT 122, BGN* 1.95583:EUR, BHD* 0.376, BIF 2950, BMD* 1, BOB 6.9, BSD* 1, BTN* 1:INR,
  BWP 13.6, BYN 3, BZD* 2, CDF 2400, CLF 0.024, CLP 940, CNH 7.1, COP 3900, CRC 500, CUP* 24, CVE* 110.265:EUR, DJF* 177.721,
  DOP 63, DZD 130, EGP 48, ERN* 15, ETB 150, FJD 2.25, FKP* 1:GBP, GEL 2.7, GHS 11.2, GIP* 1:GBP, GMD 73, GNF 8700, GTQ 7.7,
  GYD 209, HNL 26.3, HRK* 7.5345:EUR, HTG 131, IQD 1310, IRR 1200000, JMD 160, JOD* 0.709, KES 129, KGS 87.4, KHR 4010,
  KMF* 491.96775:EUR, KWD 0.306, KYD* 0.833333, KZT 520, LAK 21700, LBP 89500, LKR 305, LRD 183, LSL* 1:ZAR, LYD 5.5, MAD 9.2,
  MDL 17, MGA 4450, MKD 53.5, MMK 2100, MNT 3570, MOP* 1.03:HKD, MRU 39.8, MUR 46, MVR 15.4, MWK 1730, MZN 63.8, NAD* 1:ZAR,
  NGN 1440, NIO 36.8, NPR* 1.6:INR, OMR* 0.384497, PAB* 1, PEN 3.4, PGK 4.25, PKR 281, PYG 7000, QAR* 3.64, RSD 102, RUB 82,
  RWF 1450, SAR* 3.75, SBD 8.2, SCR 14.2, SDG 500, SHP* 1:GBP, SLE 23.5, SLL* 1000:SLE, SOS 571, SRD 38.5, SSP 4600,
  STN* 24.5:EUR, SYP 112, SZL* 1:ZAR, TJS 9.3, TMT* 3.5, TND 2.95, TOP 2.38, TTD 6.78, TWD 31, TZS 2500, UAH 42.5, UGX 3550,
  UYU 39.5, UZS 12100, VES 380, VND 26200, VUV 120, WST 2.75, XAF* 655.957:EUR, XCD* 2.7, XCG* 1.79, XDR 0.74,
  XOF* 655.957:EUR, XPF* 119.331742:EUR, YER 239, ZMW 22.5, ZWG 26.2`

interface Anchor {
  units: number
  reference: string
  isFixed: boolean
}

const BY_CODE = new Map(
  ANCHORS.split(/,\s*/).map((each): [string, Anchor] => {
    const [name = '', value = ''] = each.trim().split(' ')
    const [units, reference = 'USD'] = value.split(':')
    return [name.slice(0, 3), { units: Number(units), reference, isFixed: name.endsWith('*') }]
  }),
)

/** All codes of the market. */
export const CODES: readonly string[] = ['USD', ...[...BY_CODE.keys()].toSorted()]

/** The codes of the European Central Bank, and the last days of those that it has ended. */
export const BANK_CODES =
  'USD JPY BGN CZK DKK GBP HUF PLN RON SEK CHF ISK NOK HRK RUB TRY AUD BRL CAD CNY HKD IDR ILS INR KRW MXN MYR NZD PHP SGD THB ZAR'.split(
    ' ',
  )
const ENDS: Record<string, string> = { BGN: '2025-12-31', HRK: '2022-12-30', RUB: '2022-03-01' }

/** Returns the day of an instant, or `days` later. */
export function dayOf(instant: number | string, days = 0): string {
  return new Date(new Date(instant).getTime() + days * DAY_MS).toISOString().slice(0, 10)
}

/** Returns the units of a code for one US dollar on a day, from arithmetic that is the same on every engine. */
function dollarRate(code: string, day: string): number {
  const anchor = BY_CODE.get(code)
  if (!anchor) return code === 'USD' ? 1 : NaN
  const units = anchor.units * dollarRate(anchor.reference, day)
  if (anchor.isFixed) return units
  const seed = Number.parseInt(code, 36)
  const at = Date.parse(day) / DAY_MS + seed
  const wave = (length: number): number => Math.abs(((at % length) / length) * 2 - 1) - 0.5
  const noise = ((seed * 7919 + at * 104_729) % 1_009) / 1_009 - 0.5
  return units * (1 + 0.1 * wave(701) + 0.04 * wave(53) + 0.008 * noise)
}

/** Returns the units of `code` for one unit of `base` on a day, with six digits. */
function rateOn(day: string, base: string, code: string): number {
  return Number((dollarRate(code, day) / dollarRate(base, day)).toPrecision(6))
}

/** Returns the rates of all codes against the dollar on a day. */
export function dollarRates(day: string): Record<string, number> {
  return Object.fromEntries(CODES.map((code) => [code, rateOn(day, 'USD', code)]))
}

/** Returns Easter Sunday of a year in days since the Unix epoch (the Gregorian computus of 1876). */
function easter(year: number): number {
  const [a, b, c] = [year % 19, Math.floor(year / 100), year % 100]
  const f = Math.floor((b + 8) / 25)
  const h = (19 * a + b - Math.floor(b / 4) - Math.floor((b - f + 1) / 3) + 15) % 30
  const l = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - h - (c % 4)) % 7
  const n = h + l - 7 * Math.floor((a + 11 * h + 22 * l) / 451) + 114
  return Date.UTC(year, Math.floor(n / 31) - 1, (n % 31) + 1) / DAY_MS
}

/** Returns whether banks publish on a day: a weekday on which TARGET is open. */
function isOpen(day: string): boolean {
  if (new Date(day).getUTCDay() % 6 === 0 || /-(01-01|05-01|12-25|12-26)$/.test(day)) return false
  const sinceEaster = Date.parse(day) / DAY_MS - easter(Number(day.slice(0, 4)))
  return sinceEaster !== -2 && sinceEaster !== 1
}

const days = new Map<string, [day: string, rates: Record<string, number>]>()

/** Returns the days from `start` to `end` that are published at `now` (16:00 in Frankfurt), with the units of each code for one euro. */
export function euroDays(
  start: string,
  end: string,
  now: number,
): [day: string, rates: Record<string, number>][] {
  const found: [string, Record<string, number>][] = []
  const last = end < dayOf(now) ? end : dayOf(now)
  for (let day = start < '1999-01-04' ? '1999-01-04' : start; day <= last; day = dayOf(day, 1)) {
    const hour = /-(0[4-9]|10)-/.test(day) ? 14 : 15
    if (!isOpen(day) || Date.parse(day) + hour * 3_600_000 > now) continue
    let made = days.get(day)
    if (!made) {
      const codes = BANK_CODES.filter((code) => day <= (ENDS[code] ?? day))
      made = [day, Object.fromEntries(codes.map((code) => [code, rateOn(day, 'EUR', code)]))]
      days.set(day, made)
    }
    found.push(made)
  }
  return found
}
