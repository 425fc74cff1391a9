import type { Runtime } from '../async.ts'
import { createBackoff } from '../cache/backoff.ts'
import { UnavailableError } from '../cache/refresh.ts'
import { DAYS_BACK, daysFrom } from '../rates/calendar.ts'
import { addDays, dayNumber, periodStart, toDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { spansOf } from '../rates/market-history.ts'
import { MIN_RELOAD_MS, createPiece } from './history-piece.ts'
import type { Piece, Plan, Queue, Wanted } from './history-piece.ts'
import { LAST_FIVE_YEARS } from './history-source.ts'
import type { HistoryNeed, HistorySnapshot, Span } from './history-source.ts'
import { MAX_TABLES, continues } from './newest-days.ts'
import { isGap } from './publication.ts'
import type { PublicationContext } from './publication.ts'

export interface Pieces {
  find(need: HistoryNeed, newest: HistorySnapshot): HistorySnapshot[] | undefined
  /** @throws {UnavailableError} where one cannot be loaded */
  load(need: HistoryNeed, newest: HistorySnapshot): Promise<HistorySnapshot[]>
  spans(): ReadonlyMap<string, Span>
  close(): void
}

export function createPieces(context: PublicationContext): Pieces {
  const { options, publication } = context
  const pieces = new Map<string, Piece>()
  const inQueue = createQueue(options.runtime)
  let isClosed = false

  function pieceOf(plan: Plan): Piece {
    const known = pieces.get(plan.id)
    if (known) return known
    if (isClosed) throw new UnavailableError(0, new Error('closed'))
    if (plan.isTable) makeRoom(pieces)
    const piece = createPiece(context, plan, inQueue)
    pieces.set(plan.id, piece)
    return piece
  }

  async function load(plan: Plan, newest: HistorySnapshot): Promise<HistorySnapshot> {
    const isEnough = createTest(context, plan, newest)
    const part = await pieceOf(plan).load({ newest: newest.history, isEnough, since: plan.start })
    // A day without a table may be a holiday.
    if (plan.start === plan.end || isEnough(part)) return part
    throw new UnavailableError(MIN_RELOAD_MS, new Error(`no days after ${part.end}`))
  }

  function plansAt(need: HistoryNeed, newest: HistorySnapshot): Plan[] {
    return plansFor(context, need, { newest, today: toDay(options.runtime.now()) })
  }

  return {
    find(need, newest) {
      const parts: HistorySnapshot[] = []
      for (const plan of plansAt(need, newest)) {
        const part = pieces.get(plan.id)?.value()
        if (!part || !createTest(context, plan, newest)(part)) return undefined
        parts.push(part)
        if (isLast(plan, part)) break
      }
      return parts
    },
    async load(need, newest) {
      const parts: HistorySnapshot[] = []
      for (const plan of plansAt(need, newest)) {
        const part = await load(plan, newest)
        parts.push(part)
        if (isLast(plan, part)) break
      }
      return parts
    },
    spans: () => spansIn([...pieces.values()], publication.since),
    close() {
      isClosed = true
      for (const piece of pieces.values()) piece.close()
    },
  }
}

/** Returns the days of all currencies in the pieces that begin with the publication. */
function spansIn(pieces: readonly Piece[], since: Day): ReadonlyMap<string, Span> {
  const loaded = pieces.flatMap((piece) => piece.value() ?? [])
  const whole = loaded.filter(({ start }) => start <= since)
  return new Map(whole.flatMap(({ history }) => [...spansOf(history)]))
}

/** Returns whether no other piece is needed: the nearest day with rates is enough. */
function isLast(plan: Plan, { history }: HistorySnapshot): boolean {
  return plan.isTable === true && history.dates.length > 0
}

function createTest(
  { calendar }: PublicationContext,
  plan: Plan,
  newest: HistorySnapshot,
): Wanted['isEnough'] {
  return ({ start, end, history }) =>
    start <= plan.start &&
    continues(newest.history, history) &&
    // Days between the piece and the newest ones must not be missing.
    ((end ?? '') >= plan.end || !isGap(calendar, end, newest.history.dates[0] ?? ''))
}

/** Backoff of all pieces after failures of several, in ms: clients choose pieces, and each has only its own backoff. */
const BACKOFF = { initial: 1_000, max: 300_000 }

/** The queue has no time limit, as loads have. */
function createQueue(runtime: Runtime): Queue {
  const backoff = createBackoff(runtime, BACKOFF)
  let last: Promise<unknown> = Promise.resolve()
  let failed: { id: string; error: unknown } | undefined

  async function attempt(id: string, load: () => Promise<void>): Promise<void> {
    const left = backoff.remaining()
    if (left > 0) throw new UnavailableError(left, failed?.error)
    try {
      await load()
      backoff.reset()
      failed = undefined
    } catch (error) {
      if (failed && failed.id !== id) backoff.recordFailure()
      failed = { id, error }
      throw error
    }
  }

  return (id, load) => {
    const run = last.then(() => attempt(id, load))
    last = run.catch(() => undefined)
    return run
  }
}

const TABLE = 'day-'

/** The number of tables of single days that are kept, and that may be fetched in a day: clients choose the days. */
const MAX_TABLES_KEPT = 300
const TABLE_KEPT_MS = 86_400_000

/** @throws {UnavailableError} if all were fetched within a day */
function makeRoom(pieces: Map<string, Piece>): void {
  const tables = [...pieces].filter(([id]) => id.startsWith(TABLE))
  const [oldest] = tables
  if (!oldest || tables.length < MAX_TABLES_KEPT) return
  const [id, piece] = oldest
  const left = TABLE_KEPT_MS - piece.age()
  if (left > 0) throw new UnavailableError(left, new Error('too many tables of single days'))
  pieces.delete(id)
}

/** Returns the pieces that `need` needs, in the order in which to load them. */
function plansFor(
  { publication, calendar, providers }: PublicationContext,
  { codes, since, until, period = '5Y', isWhole, isFirst }: HistoryNeed,
  { newest, today }: { newest: HistorySnapshot; today: Day },
): Plan[] {
  const last = newest.history.dates.at(-1) ?? today
  const back = DAYS_BACK[publication.frequency] - DAYS_BACK.daily
  const wantedEnd = until === undefined ? last : addDays(until, isFirst ? back : 0)
  const end = wantedEnd < last ? wantedEnd : last
  const recent = addDays(LAST_FIVE_YEARS.startOn(last), -back)
  // Filled points need the days before a period.
  const wanted = addDays(since ?? addDays(periodStart(last, period), -DAYS_BACK.daily), -back)
  const start = wanted < publication.since ? publication.since : wanted
  const firstKept = newest.history.dates[0] ?? today
  // All days are in memory, or the last one.
  const isInMemory = start >= firstKept || (isWhole && !isFirst && end >= firstKept)
  if (isInMemory || start > end) return []
  const [provider] = providers
  if (!provider?.fetchSeries) return windowsOf(start, end, provider?.maxDays)
  if (!isWhole) {
    const isRecent = start >= recent && recent > publication.since
    const first = isRecent ? recent : publication.since
    // The days of the base are those of any other currency.
    const [other = 'USD'] = newest.history.columns.has('USD') ? [] : newest.history.columns.keys()
    const series = codes.length > 0 ? codes : [other]
    return series.map((code) => ({ id: code, code, start: first, end }))
  }
  const days = daysFrom(start, end).filter(calendar.isPublished)
  const ordered = isFirst ? days : days.toReversed()
  return ordered
    .slice(0, MAX_TABLES)
    .map((day) => ({ id: `${TABLE}${day}`, isTable: true, start: day, end: day }))
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
  const windowOf = (day: Day): Pick<Plan, 'start' | 'end'> => {
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
  for (
    let window = windowOf(end);
    window.end >= start;
    window = windowOf(addDays(window.start, -1))
  )
    plans.push({ id: window.start, ...window })
  return plans
}
