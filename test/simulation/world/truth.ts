import type { LatestTruth as Publication } from '../../faults/fault.ts'
import type { Scene } from './fleet.ts'
import type { Random } from './random.ts'

export type { Publication }

const SECOND = 1_000
const DAY = 86_400 * SECOND

/** What the truth is made from. */
type TruthOptions = Pick<
  Scene,
  'random' | 'startsAt' | 'duration' | 'calmFrom' | 'lateShare' | 'historyDays' | 'holeShare'
>

/** What is published, independent of what upstreams send. */
export interface Truth {
  feed: LatestFeed
  referenceRates: ReferenceRates
}

/** The truth about latest rates: a table a day, shortly after midnight UTC. */
interface LatestFeed {
  /** The newest publication that can be fetched at `instant`, or the one `back` days before it. */
  at(instant: number, back?: number): Publication
  /** When the publication after the one of `instant` is announced for. */
  nextAnnounced(instant: number): number
}

/** Units for a dollar on the first day; enough codes that one in twenty may be bad. */
const FIRST_LATEST: Readonly<Record<string, number>> = Object.fromEntries(
  [
    'USD 1,AED 3.6725,AUD 1.5124,BRL 5.4321,CAD 1.3712,CHF 0.81234,CLP 951.23,CNY 7.1821,COP 4021.5',
    'CZK 21.083,DKK 6.4321,EGP 48.512,EUR 0.86123,GBP 0.74321,HKD 7.8012,HUF 345.21,IDR 16432',
    'ILS 3.4123,INR 87.512,JPY 151.23,KRW 1398.2,KWD 0.30612,MXN 18.712,NOK 10.123,NZD 1.7012',
    'PLN 3.6712,SEK 9.4512,SGD 1.2912,THB 32.512,TRY 41.512,UAH 41.872,ZAR 17.512',
  ].flatMap((line) =>
    line.split(',').map((quote): [string, number] => {
      const [code = '', rate] = quote.split(' ')
      return [code, Number(rate)]
    }),
  ),
)

/** The codes of the feed, in its order. */
export const LATEST_CODES: readonly string[] = Object.keys(FIRST_LATEST)

/** A feed that had published for three days when the simulation starts. */
export function createLatestFeed({
  random,
  startsAt,
  lateShare,
  calmFrom,
}: TruthOptions): LatestFeed {
  const firstDay = Math.floor(startsAt / DAY) - 4
  const publications: (Publication & { availableAt: number })[] = []

  function publish(): void {
    const number = publications.length
    const nominal = (firstDay + number) * DAY + 151 * SECOND
    const isLate = nominal < startsAt + calmFrom && random.chance(lateShare)
    const delay = isLate ? random.magnitude(60 * SECOND, 3 * 3_600_000) : random.between(0, 45_000)
    publications.push({
      updatedAt: nominal,
      nextUpdateAt: nominal + DAY + random.whole(60, 1_200) * SECOND,
      availableAt: nominal + delay,
      rates: driftOfAll(publications.at(-1)?.rates ?? FIRST_LATEST, random),
    })
  }

  function newest(instant: number): number {
    let number = Math.max(0, Math.floor(instant / DAY) - firstDay)
    while (publications.length <= number) publish()
    while (number > 0 && (publications[number]?.availableAt ?? Infinity) > instant) number -= 1
    return number
  }

  function at(instant: number, back = 0): Publication {
    const found = publications[Math.max(0, newest(instant) - back)]
    if (!found) throw new Error('nothing has been published yet')
    return found
  }

  return { at, nextAnnounced: (instant) => at(instant).nextUpdateAt }
}

/** `rates` a day later: nothing moves by more than 1 %. */
function driftOfAll(
  rates: Readonly<Record<string, number>>,
  random: Random,
): Record<string, number> {
  const later: Record<string, number> = {}
  for (const [code, rate] of Object.entries(rates)) {
    const moved = rate * (1 + random.between(-0.01, 0.01))
    later[code] = code === 'USD' ? 1 : Number(moved.toPrecision(6))
  }
  return later
}

/** The rates of one published day, units for one euro. */
type DayRates = ReadonlyMap<string, number>

/** The truth about reference rates: one row a TARGET day, around 16:00 in Frankfurt. */
export interface ReferenceRates {
  /** The published rates of `day`, or `undefined` where nothing is published on it. */
  on(day: string): DayRates | undefined
  /** The days that are published, from `first` to `last`. */
  between(first: string, last: string): string[]
  /** The newest day that can be fetched at `instant`, in ms since the Unix epoch. */
  newest(instant: number): string
  /** When `day` can be fetched, in ms since the Unix epoch. */
  availableAt(day: string): number
  /** The rows that a relay answers with for `start..end` at `instant`, as JSON members ready to be joined. */
  rows(range: { start: string; end: string }, instant: number): string[]
}

const FIRST_REFERENCE = { USD: 1.1612, GBP: 0.86312, INR: 101.62, JPY: 175.61 }

/** The codes of the central bank, without the euro. */
export const REFERENCE_CODES: readonly string[] = Object.keys(FIRST_REFERENCE)

interface Row {
  day: string
  rates: DayRates
  availableAt: number
  json: string
}

/** Reference rates until some days after the end. */
export function createReferenceRates(options: TruthOptions): ReferenceRates {
  const rows = createRows(options)
  const byDay = new Map(rows.map((row) => [row.day, row]))

  function lastIndex(isWanted: (row: Row) => boolean): number {
    let [low, high] = [0, rows.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const row = rows[middle]
      if (row && isWanted(row)) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  return {
    on: (day) => byDay.get(day)?.rates,
    between(first, last) {
      const from = lastIndex((row) => row.day < first) + 1
      return rows.slice(from, lastIndex((row) => row.day <= last) + 1).map((row) => row.day)
    },
    newest: (instant) => rows[lastIndex((row) => row.availableAt <= instant)]?.day ?? '',
    availableAt: (day) => byDay.get(day)?.availableAt ?? Infinity,
    rows({ start, end }, instant) {
      const last = lastIndex((row) => row.day <= end && row.availableAt <= instant)
      // The relay snaps a start without rates back to the day before it that has some.
      const first = Math.min(
        Math.max(
          0,
          lastIndex((row) => row.day <= start),
        ),
        last,
      )
      return rows.slice(Math.max(0, first), last + 1).map((row) => row.json)
    },
  }
}

function createRows(options: TruthOptions): Row[] {
  const { random, startsAt, duration, historyDays, holeShare } = options
  const last = dayOf(startsAt + duration + 10 * DAY)
  const days = targetDays(dayOf(startsAt - historyDays * DAY), last)
  let quotes: [string, number][] = Object.entries(FIRST_REFERENCE)
  let availableAt = 0
  return days.map((day) => {
    quotes = quotes.map(([code, rate]) => [code, drift(rate, random)])
    const holed = random.chance(holeShare) ? random.pick(REFERENCE_CODES) : undefined
    const published = quotes.filter(([code]) => code !== holed)
    // Rows come in their order, however late one is.
    availableAt = Math.max(availableAt + 60_000, arrival(day, options))
    const json = `"${day}":${JSON.stringify(Object.fromEntries(published))}`
    return { day, rates: new Map(published), availableAt, json }
  })
}

function arrival(day: string, { random, startsAt, lateShare, calmFrom }: TruthOptions): number {
  // Of what is long past, nobody asks when it came.
  if (Date.parse(day) < startsAt - 2 * DAY) return Date.parse(day) + 18 * 3_600_000
  const due = fourOClock(day)
  const isLate = due < startsAt + calmFrom && random.chance(lateShare)
  return due + (isLate ? random.magnitude(60_000, 20 * 3_600_000) : random.between(-60_000, 20_000))
}

function drift(rate: number, random: Random): number {
  return Number((rate * (1 + random.between(-0.008, 0.008))).toPrecision(5))
}

/** The day of `instant` (ms since the Unix epoch) in UTC, as `YYYY-MM-DD`. */
export function dayOf(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10)
}

/** Every day from `first` to `last` on which the central bank publishes: no weekends, none of its six holidays. */
export function targetDays(first: string, last: string): string[] {
  const days: string[] = []
  for (let at = Date.parse(first); at <= Date.parse(last); at += DAY) {
    const weekday = new Date(at).getUTCDay()
    const day = dayOf(at)
    if (weekday !== 0 && weekday !== 6 && !isHoliday(day)) days.push(day)
  }
  return days
}

/** 16:00 in Frankfurt on `day`, in ms since the Unix epoch. */
export function fourOClock(day: string): number {
  return hourInFrankfurt(day, 16)
}

/** `hour` o'clock (8 to 22) in Frankfurt on `day`, in ms since the Unix epoch. */
export function hourInFrankfurt(day: string, hour: number): number {
  const noon = Date.parse(`${day}T12:00:00Z`)
  const ahead = Number(FRANKFURT.format(noon)) - 12
  return noon + (hour - 12 - ahead) * 3_600_000
}

const FRANKFURT = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Europe/Berlin',
  hour: '2-digit',
  hourCycle: 'h23',
})

function isHoliday(day: string): boolean {
  if (/-(01-01|05-01|12-25|12-26)$/.test(day)) return true
  const easter = easterSunday(Number(day.slice(0, 4)))
  return day === dayOf(easter - 2 * DAY) || day === dayOf(easter + DAY)
}

/** By the method of J.-M. Oudin, 1940. In ms since the Unix epoch. */
function easterSunday(year: number): number {
  const golden = year % 19
  const century = Math.floor(year / 100)
  const h =
    (century - Math.floor(century / 4) - Math.floor((8 * century + 13) / 25) + 19 * golden + 15) %
    30
  const correction = Math.floor(29 / (h + 1)) * Math.floor((21 - golden) / 11)
  const moon = h - Math.floor(h / 28) * (1 - correction)
  const weekday = (year + Math.floor(year / 4) + moon + 2 - century + Math.floor(century / 4)) % 7
  const offset = moon - weekday
  const month = 3 + Math.floor((offset + 40) / 44)
  return Date.UTC(year, month - 1, offset + 28 - 31 * Math.floor(month / 4))
}
