import { runInBackground, sleep } from '../async.ts'
import type { Runtime } from '../async.ts'
import { REFRESH_TIMEOUT_MS, UnavailableError, createSingleFlight } from '../cache/refresh.ts'
import type { StoredValue } from '../cache/store.ts'
import { daysFrom } from '../rates/calendar.ts'
import { addDays, dayNumber, newestPublishedDay, toDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { mergeHistory, spansOf } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { LAST_FIVE_YEARS, snapshotFormat } from './history-source.ts'
import type { HistoryNeed, HistorySnapshot, Span } from './history-source.ts'
import { MAX_TABLES, continues } from './newest-days.ts'
import { DAYS_BACK, DAYS_REFETCHED, fetchRange, isGap } from './publication.ts'
import type { PublicationContext } from './publication.ts'
import { isSameSource, storedIn } from './source.ts'

/** A piece that a request needs. */
interface Plan {
  /** Identifies the piece: a code, or the first day of a window. */
  id: string
  code?: string
  /** Whether it is the table of one day. */
  isTable?: boolean
  start: Day
  end: Day
}

/** The pieces of a publication. */
export interface Pieces {
  /** Returns the parts of the history that `need` names, besides the `newest` days, if all are in memory. */
  find(need: HistoryNeed, newest: HistorySnapshot): HistorySnapshot[] | undefined
  /**
   * Loads these parts.
   *
   * @throws {UnavailableError} where one cannot be loaded
   */
  load(need: HistoryNeed, newest: HistorySnapshot): Promise<HistorySnapshot[]>
  /** Returns the days of the currencies whose whole series are loaded. */
  spans(): ReadonlyMap<string, Span>
  close(): void
}

/** Creates the pieces of a publication, none of which is loaded. */
export function createPieces(context: PublicationContext): Pieces {
  const { options, publication, calendar } = context
  const pieces = new Map<string, Piece>()

  function pieceOf(plan: Plan): Piece {
    const known = pieces.get(plan.id)
    if (known) return known
    if (plan.isTable) makeRoom(pieces)
    const piece = createPiece(context, plan)
    pieces.set(plan.id, piece)
    return piece
  }

  function isEnoughFor(plan: Plan, newest: HistorySnapshot): IsEnough {
    return ({ start, end }) =>
      start <= plan.start &&
      // Days between the piece and the newest ones must not be missing.
      ((end ?? '') >= plan.end || !isGap(calendar, end, newest.history.dates[0] ?? ''))
  }

  function plansAt(need: HistoryNeed, newest: HistorySnapshot): Plan[] {
    return plansFor(context, need, { newest, today: toDay(options.runtime.now()) })
  }

  return {
    find(need, newest) {
      const parts: HistorySnapshot[] = []
      for (const plan of plansAt(need, newest)) {
        const part = pieces.get(plan.id)?.value()
        if (!part || !isEnoughFor(plan, newest)(part)) return undefined
        parts.push(part)
        if (isLast(plan, part)) break
      }
      return parts
    },
    async load(need, newest) {
      const parts: HistorySnapshot[] = []
      for (const plan of plansAt(need, newest)) {
        const part = await pieceOf(plan).load(plan.start, isEnoughFor(plan, newest))
        parts.push(part)
        if (isLast(plan, part)) break
      }
      return parts
    },
    spans() {
      const loaded = [...pieces.values()].flatMap((piece) => piece.value() ?? [])
      const whole = loaded.filter(({ start }) => start <= publication.since)
      return new Map(whole.flatMap(({ history }) => [...spansOf(history)]))
    },
    close() {
      for (const piece of pieces.values()) piece.close()
    },
  }
}

/** Returns whether no other piece is needed: the nearest day with rates is enough. */
function isLast(plan: Plan, { history }: HistorySnapshot): boolean {
  return plan.isTable === true && history.dates.length > 0
}

/** The number of tables of single days that are kept, and that may be fetched in a day: clients choose the days. */
const MAX_TABLES_KEPT = 300
const TABLE_KEPT_MS = 86_400_000

/**
 * Removes the oldest table of a single day, if there are too many.
 *
 * @throws {UnavailableError} if all were fetched within a day
 */
function makeRoom(pieces: Map<string, Piece>): void {
  const tables = [...pieces].filter(([, piece]) => piece.isTable)
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
  { codes, since, until, isWhole, isFirst }: HistoryNeed,
  { newest, today }: { newest: HistorySnapshot; today: Day },
): Plan[] {
  const last = newest.history.dates.at(-1) ?? today
  const back = DAYS_BACK[publication.frequency] - DAYS_BACK.daily
  const wantedEnd = until === undefined ? last : addDays(until, isFirst ? back : 0)
  const end = wantedEnd < last ? wantedEnd : last
  const recent = LAST_FIVE_YEARS.startOn(today)
  const wanted = addDays(since ?? recent, -back)
  const start = wanted < publication.since ? publication.since : wanted
  const firstKept = newest.history.dates[0] ?? today
  // All days are in memory.
  if (start >= firstKept || start > end) return []
  const [provider] = providers
  if (!provider?.fetchSeries) return windowsOf(start, end, provider?.maxDays)
  if (!isWhole) {
    const isRecent = start >= recent && recent > publication.since
    const first = isRecent ? recent : publication.since
    return codes.map((code) => ({ id: code, code, start: first, end }))
  }
  const days = daysFrom(start, end).filter(calendar.isPublished)
  const ordered = isFirst ? days : days.toReversed()
  return ordered
    .slice(0, MAX_TABLES)
    .map((day) => ({ id: `day-${day}`, isTable: true, start: day, end: day }))
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

/** Some days of one currency or of all, loaded when they are first needed. */
interface Piece {
  readonly isTable: boolean
  /** Returns the loaded days. */
  value(): HistorySnapshot | undefined
  /** Returns the time since they were loaded, in ms. */
  age(): number
  /**
   * Returns the days from `since` on, and loads them unless `isEnough` returns true for those in memory or in the store.
   *
   * @throws {UnavailableError} where that fails, and during backoff
   */
  load(since: Day, isEnough: IsEnough): Promise<HistorySnapshot>
  close(): void
}

type IsEnough = (value: HistorySnapshot) => boolean

/** A piece in the store expires a year after it was written. */
const STORED_FOR_MS = 366 * 86_400_000

/** The shortest time between two loads of a piece, in ms: its last days may be missing upstream. */
const MIN_RELOAD_MS = 600_000

/** Creates a piece that all requests and processes load once. */
function createPiece(context: PublicationContext, plan: Plan): Piece {
  const { options, publication, providers } = context
  const { runtime, waitUntil } = options
  const format = snapshotFormat(options, providers)
  const stored = storedIn(options, 'history', format, `history:${publication.id}:${plan.id}`)
  const lease = stored && createLease(runtime, stored)
  let value: HistorySnapshot | undefined
  let loadedAt = -Infinity
  let wanted: { since: Day; isEnough: IsEnough } = { since: plan.start, isEnough: () => false }

  const isLoaded = (): boolean => value !== undefined && wanted.isEnough(value)

  async function readStore(): Promise<boolean> {
    await stored?.read(async ({ value: found }) => {
      const checked = await checkStored(context, found)
      if (!isLoaded()) value = checked
    })
    return isLoaded()
  }

  const flight = createSingleFlight({
    runtime,
    onBackoff: () => undefined,
    async task(signal) {
      if (await readStore()) return 'restored'
      if (await lease?.waitFor(readStore, signal)) return 'restored'
      const { since } = wanted
      value = await fetchPiece(context, { ...plan, start: since }, { current: value, signal })
      loadedAt = runtime.monotonic()
      if (stored) runInBackground(writeTo(stored, value, runtime.now()), waitUntil)
      return 'loaded'
    },
  })
  const age = (): number => runtime.monotonic() - loadedAt

  return {
    isTable: plan.isTable === true,
    value: () => value,
    age,
    async load(since, isEnough) {
      if (value && isEnough(value)) return value
      // A load in progress may be for fewer days.
      if (!flight.canStart()) await flight.run()
      const isRecent = value && value.start <= since && age() < MIN_RELOAD_MS
      if (value && (isRecent || isEnough(value))) return value
      wanted = { since, isEnough }
      await flight.run()
      return requireLoaded(value)
    },
    close: flight.close,
  }
}

function requireLoaded(value: HistorySnapshot | undefined): HistorySnapshot {
  if (value) return value
  throw new Error('the piece is not loaded')
}

function writeTo(
  stored: StoredValue<HistorySnapshot>,
  value: HistorySnapshot,
  loadedAt: number,
): Promise<void> {
  return stored.write({ value, loadedAt }, loadedAt + STORED_FOR_MS)
}

async function checkStored(
  { providers, checks }: PublicationContext,
  found: HistorySnapshot,
): Promise<HistorySnapshot> {
  const provider = providers.find((each) => isSameSource(each.attribution, found.attribution))
  if (!provider) return found
  const { history } = await checks.ofWhole(provider, found.history)
  return { ...found, history }
}

/** How often, and how long, the store is polled in ms while another process loads the piece. */
const POLL_INTERVAL_MS = 100
const POLL_TIMEOUT_MS = 4_000

interface Lease {
  /** Waits until this process may load, or `isDone` returns true; returns whether it did. */
  waitFor(isDone: () => Promise<boolean>, signal: AbortSignal): Promise<boolean>
}

function createLease(runtime: Runtime, stored: StoredValue<HistorySnapshot>): Lease {
  let until = -Infinity
  return {
    async waitFor(isDone, signal) {
      const startedAt = runtime.monotonic()
      while (runtime.monotonic() >= until) {
        const isGranted = await stored.tryAcquireLease(runtime.now() + REFRESH_TIMEOUT_MS)
        if (isGranted || runtime.monotonic() - startedAt > POLL_TIMEOUT_MS) {
          until = runtime.monotonic() + REFRESH_TIMEOUT_MS
          break
        }
        await sleep(runtime, POLL_INTERVAL_MS, signal)
        if (await isDone()) return true
      }
      return false
    },
  }
}

/** Fetches a piece, or the days before and after those in memory. */
function fetchPiece(
  context: PublicationContext,
  { code, start, end }: Plan,
  { current, signal }: { current: HistorySnapshot | undefined; signal: AbortSignal },
): Promise<HistorySnapshot> {
  const { failover, calendar, checks } = context
  return failover({ signal, isAwaited: true }, async (provider, call) => {
    const due = newestPublishedDay(call.now(), calendar)
    const last = code === undefined && end < due ? end : due
    const ranges =
      current?.end === undefined ? [{ start, end: last }] : missingRanges(current, start, last)
    let history = current?.history
    for (const range of ranges) {
      const about = code === undefined ? range : { ...range, code }
      const added = await fetchRange(context, { provider, call }, about)
      history = history && continues(history, added) ? mergeHistory(history, added, '') : added
    }
    if (!history) throw new Error('a piece without a range')
    const checked = await checks.ofWhole(provider, history, signal)
    const first = current && current.start < start ? current.start : start
    const until = lastSettled(history, last)
    return { history: checked.history, attribution: provider.attribution, start: first, end: until }
  })
}

/** Returns the ranges before and after `current`, and its last days again, because banks correct mistakes. */
function missingRanges(
  current: HistorySnapshot,
  start: Day,
  last: Day,
): { start: Day; end: Day }[] {
  const { end = current.start } = current
  const before = { start, end: addDays(current.start, -1) }
  const after = { start: addDays(end, -DAYS_REFETCHED), end: last }
  return [...(start < current.start ? [before] : []), ...(end < last ? [after] : [])]
}

/** Returns the last day of a piece that needs no second look: not a due day whose rates may still be published. */
function lastSettled({ dates }: MarketHistory, last: Day): Day {
  const newest = dates.at(-1)
  return newest !== undefined && newest > addDays(last, -DAYS_REFETCHED) ? newest : last
}
