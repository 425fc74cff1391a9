import { DAYS_BACK, daysFrom } from '../rates/calendar.ts'
import { addDays, dayNumber, periodStart, subtractMonths, toDay } from '../rates/dates.ts'
import type { Day, DaySpan } from '../rates/dates.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import type { HistoryNeed } from './history.ts'
import { MAX_TABLES } from './newest-days.ts'
import type { PublicationContext } from './publication.ts'

/** A piece of the days before the newest ones: some days of all currencies, the series of one, or the table of a day. */
export interface Plan extends DaySpan {
  id: string
  /** The last day that a request needs. */
  needed: Day
  kind: 'days' | 'series' | 'table'
  /** Of a series. */
  code?: string
}

const END_OF_TIME = '9999-12-31'

/** Returns the pieces that `need` needs, in the order in which to load them. */
export function plansFor(
  { options, calendar, since: firstDay, daysBack, providers, isInOneCall }: PublicationContext,
  { codes, since, until, period = '5Y', whole, rule }: HistoryNeed,
  newest: MarketHistory,
): Plan[] {
  const last = newest.dates.at(-1) ?? toDay(options.runtime.now())
  const firstKept = newest.dates[0] ?? last
  const back = daysBack - DAYS_BACK.daily
  const isFirst = rule === 'next'
  if (isInOneCall) {
    const isOld = firstDay < firstKept && since !== undefined && addDays(since, -back) < firstKept
    // Up to the end of a year, so that the newest days overlap it for long.
    const archive = { start: firstDay, end: yearEnd(addDays(firstKept, -1)), needed: until ?? last }
    return isOld ? [{ id: 'archive', kind: 'days', ...archive }] : []
  }
  const wantedEnd = until === undefined ? last : addDays(until, isFirst ? back : 0)
  const end = wantedEnd < last ? wantedEnd : last
  // Filled points need the days before a period.
  const wanted = addDays(since ?? addDays(periodStart(last, period), -DAYS_BACK.daily), -back)
  const start = wanted < firstDay ? firstDay : wanted
  // All days are in memory, or the last one with a whole table.
  const hasTable = (): boolean =>
    newest.dates.some((day) => day <= end && calendar.isPublished(day))
  const isInMemory = start >= firstKept || (whole === 'day' && !isFirst && hasTable())
  if (isInMemory || start > end) return []
  const [provider] = providers
  // Tables of single days would be thousands of calls.
  const isByRange = whole === 'range' && provider?.maxDays !== 1
  if (!provider?.fetchSeries || isByRange) {
    const before = end < firstKept ? end : addDays(firstKept, -1)
    return windowsOf(start, before, provider?.maxDays)
  }
  if (whole === 'day') {
    const days = daysFrom(start, end).filter(calendar.isPublished)
    const ordered = isFirst ? days : days.toReversed()
    return ordered.slice(0, MAX_TABLES).map((day) => {
      return { id: `day-${day}`, kind: 'table', start: day, end: day, needed: day }
    })
  }
  // The days of the base are those of any other currency.
  const [other = 'USD'] = newest.columns.has('USD') ? [] : newest.columns.keys()
  const others = whole === 'range' ? [...newest.columns.keys()] : [other]
  const series = codes.length > 0 ? codes : others
  return series.map((code) => seriesPlan(code, firstDay, end))
}

/** The whole series of a currency. */
export function seriesPlan(code: string, start: Day, needed: Day): Plan {
  return { id: code, kind: 'series', code, start, end: END_OF_TIME, needed }
}

export type Neighbours = readonly [before: Plan | undefined, after: Plan | undefined]

/**
 * Returns the last piece of the year before one and the first of the year after, as far as there are any before the newest
 * days. Those of the same year may have the same mistake.
 */
export function neighboursOf(
  { providers, since }: PublicationContext,
  { kind, id, start, end }: Plan,
  firstKept: Day,
): Neighbours {
  if (kind !== 'days' || id === 'archive') return [undefined, undefined]
  const [{ maxDays } = {}] = providers
  const windowAt = (day: Day): Plan | undefined => windowsOf(day, day, maxDays)[0]
  const [before, after] = [yearEnd(subtractMonths(start, 12)), addDays(yearEnd(end), 1)]
  return [
    before >= since ? windowAt(before) : undefined,
    after <= firstKept ? windowAt(after) : undefined,
  ]
}

function yearEnd(day: Day): Day {
  return `${day.slice(0, 4)}-12-31`
}

/** Length of the longest month, quarter and year, in days. */
const WINDOWS = [
  { months: 12, days: 366 },
  { months: 3, days: 92 },
  { months: 1, days: 31 },
]

/** Returns the years, quarters, months or spans of `maxDays` from `start` to `end`, newest first. */
function windowsOf(start: Day, end: Day, maxDays = Infinity): Plan[] {
  const months = WINDOWS.find(({ days }) => days <= maxDays)?.months
  const windowOf = (day: Day): DaySpan => {
    // Most banks: without the cost of dates.
    if (months === 12) return { start: `${day.slice(0, 4)}-01-01`, end: yearEnd(day) }
    if (months === undefined) {
      const first = addDays(day, -(dayNumber(day) % maxDays))
      return { start: first, end: addDays(first, maxDays - 1) }
    }
    const month = Math.floor((Number(day.slice(5, 7)) - 1) / months) * months
    const year = Number(day.slice(0, 4))
    const firstAt = (at: number): Day => toDay(Date.UTC(year, at, 1))
    return { start: firstAt(month), end: addDays(firstAt(month + months), -1) }
  }
  const plans: Plan[] = []
  for (let day = end; ;) {
    const window = windowOf(day)
    const id = months === 12 ? window.start.slice(0, 4) : window.start
    plans.push({ id, kind: 'days', ...window, needed: window.end })
    if (window.start <= start) return plans
    day = addDays(window.start, -1)
  }
}
