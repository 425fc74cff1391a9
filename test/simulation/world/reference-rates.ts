import type { Random } from './random.ts'
import { dayOf, fourOClock, targetDays } from './target-days.ts'

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

/** What the reference rates are like. */
export interface ReferenceRatesOptions {
  random: Random
  /** Ms since the Unix epoch. */
  startsAt: number
  duration: number
  /** How many days before the start the first row is: few make a simulation fast. */
  historyDays: number
  /** The share of days that come up to 20 hours late, before so many ms after the start. */
  lateShare: number
  calmFrom: number
  /** The share of days that lack a currency. */
  holeShare: number
}

const DAY = 86_400_000
const FIRST_RATES = { USD: 1.1612, GBP: 0.86312, INR: 101.62, JPY: 175.61 }

/** The codes of the central bank, without the euro. */
export const REFERENCE_CODES: readonly string[] = Object.keys(FIRST_RATES)

interface Row {
  day: string
  rates: DayRates
  availableAt: number
  json: string
}

/** Reference rates until some days after the end. */
export function createReferenceRates(options: ReferenceRatesOptions): ReferenceRates {
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

function createRows(options: ReferenceRatesOptions): Row[] {
  const { random, startsAt, duration, historyDays, holeShare } = options
  const last = dayOf(startsAt + duration + 10 * DAY)
  const days = targetDays(dayOf(startsAt - historyDays * DAY), last)
  let quotes: [string, number][] = Object.entries(FIRST_RATES)
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

function arrival(
  day: string,
  { random, startsAt, lateShare, calmFrom }: ReferenceRatesOptions,
): number {
  // Of what is long past, nobody asks when it came.
  if (Date.parse(day) < startsAt - 2 * DAY) return Date.parse(day) + 18 * 3_600_000
  const due = fourOClock(day)
  const isLate = due < startsAt + calmFrom && random.chance(lateShare)
  return due + (isLate ? random.magnitude(60_000, 20 * 3_600_000) : random.between(-60_000, 20_000))
}

function drift(rate: number, random: Random): number {
  return Number((rate * (1 + random.between(-0.008, 0.008))).toPrecision(5))
}
