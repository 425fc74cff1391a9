import { runInBackground, sleep } from '../async.ts'
import type { Runtime } from '../async.ts'
import { REFRESH_TIMEOUT_MS, createSingleFlight } from '../cache/refresh.ts'
import type { StoredValue } from '../cache/store.ts'
import { DAYS_BACK } from '../rates/calendar.ts'
import { addDays, newestPublishedDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { mergeHistory } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { RejectedError } from '../rates/validate.ts'
import { snapshotFormat } from './history-source.ts'
import type { HistorySnapshot } from './history-source.ts'
import { continues } from './newest-days.ts'
import { DAYS_REFETCHED, fetchRange } from './publication.ts'
import type { PublicationContext } from './publication.ts'
import { isSameSource, storedIn } from './source.ts'

export interface Plan {
  /** Identifies the piece: a code, or the first day of a window. */
  id: string
  code?: string
  /** Whether it is the table of one day. */
  isTable?: boolean
  start: Day
  end: Day
}

export type Queue = (id: string, load: () => Promise<void>) => Promise<void>

/** Some days of one currency or of all, loaded when they are first needed. */
export interface Piece {
  value(): HistorySnapshot | undefined
  /** Returns the time since they were fetched, in ms. */
  age(): number
  /** @throws {UnavailableError} where the load fails, and during backoff */
  load(wanted: Wanted): Promise<HistorySnapshot>
  close(): void
}

export interface Wanted {
  since: Day
  newest: MarketHistory
  isEnough(value: HistorySnapshot): boolean
}

const STORED_FOR_MS = 366 * 86_400_000

/** The shortest time between two loads of a piece, in ms: its last days may be missing upstream. */
export const MIN_RELOAD_MS = 600_000

export function createPiece(context: PublicationContext, plan: Plan, inQueue: Queue): Piece {
  const { runtime } = context.options
  const store = createPieceStore(context, plan)
  let value: HistorySnapshot | undefined
  let fetchedAt = -Infinity
  let wanted: Wanted | undefined
  let loading: Promise<void> | undefined

  async function readStore(): Promise<boolean> {
    await store?.read((found) => {
      // Another process may have loaded fewer days.
      if (!value || wanted?.isEnough(found) || isWider(found, value)) value = found
    })
    return value !== undefined && wanted?.isEnough(value) === true
  }

  const flight = createSingleFlight({
    runtime,
    onBackoff: () => undefined,
    async task(signal) {
      if (await readStore()) return 'restored'
      if (await store?.waitForLease(readStore, signal)) return 'restored'
      if (!wanted) throw new Error('nothing is wanted')
      const { since: start, newest } = wanted
      value = await fetchPiece(context, { ...plan, start }, { current: value, newest, signal })
      fetchedAt = runtime.monotonic()
      store?.write(value)
      return 'loaded'
    },
  })
  const age = (): number => runtime.monotonic() - fetchedAt

  async function load(): Promise<void> {
    // Stored pieces, and those in backoff, need not wait for others.
    if (flight.canStart() && (await readStore())) return
    await (flight.canStart() ? inQueue(plan.id, flight.run) : flight.run())
  }

  return {
    value: () => value,
    age,
    async load(request) {
      if (value && request.isEnough(value)) return value
      // A load in progress may be for fewer days.
      await loading
      const isRecent = value && value.start <= request.since && age() < MIN_RELOAD_MS
      if (value && (isRecent || request.isEnough(value))) return value
      if (!loading) {
        wanted = request
        loading = load().finally(() => (loading = undefined))
      }
      await loading
      return requireLoaded(value)
    },
    close: flight.close,
  }
}

function isWider(one: HistorySnapshot, other: HistorySnapshot): boolean {
  return one.start <= other.start && (one.end ?? '') >= (other.end ?? '')
}

function requireLoaded(value: HistorySnapshot | undefined): HistorySnapshot {
  if (value) return value
  throw new Error('the piece is not loaded')
}

interface PieceStore {
  read(found: (value: HistorySnapshot) => void): Promise<void>
  waitForLease: Lease['waitFor']
  write(value: HistorySnapshot): void
}

function createPieceStore(context: PublicationContext, plan: Plan): PieceStore | undefined {
  const { options, publication, providers } = context
  const { runtime, waitUntil } = options
  const format = snapshotFormat(options, providers)
  const stored = storedIn(options, 'history', format, `history:${publication.id}:${plan.id}`)
  if (!stored) return undefined
  return {
    read: (found) => stored.read(async ({ value }) => found(await checkStored(context, value))),
    waitForLease: createLease(runtime, stored).waitFor,
    write(value) {
      const loadedAt = runtime.now()
      const writing = stored.write({ value, loadedAt }, loadedAt + STORED_FOR_MS)
      runInBackground(writing, waitUntil)
    },
  }
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

interface PieceUpdate extends Pick<Wanted, 'newest'> {
  current: HistorySnapshot | undefined
  signal: AbortSignal
}

function fetchPiece(
  context: PublicationContext,
  { code, start, end }: Plan,
  { current, newest, signal }: PieceUpdate,
): Promise<HistorySnapshot> {
  const { failover, calendar, checks } = context
  return failover({ signal, isAwaited: true }, async (provider, call) => {
    const due = laterDay(newestPublishedDay(call.now(), calendar), newest.dates.at(-1) ?? '')
    const last = code === undefined && end < due ? end : due
    const known = current && continues(newest, current.history) ? current : undefined
    const first = known && known.start < start ? known.start : start
    const fetchDays = async (range: { start: Day; end: Day }): Promise<MarketHistory> => {
      const about = code === undefined ? range : { ...range, code }
      const added = await fetchRange(context, { provider, call }, about)
      if (continues(newest, added)) return added
      throw new RejectedError('the quotes differ from the newest ones in base or direction')
    }
    const whole = { start: first, end: last }
    let history = known?.history
    for (const range of known ? missingRanges(known, start, last) : [whole]) {
      const added = await fetchDays(range)
      if (!history) history = added
      else if (continues(history, added)) history = mergeHistory(history, added, '')
      else history = await fetchDays(whole)
    }
    if (!history) throw new Error('a piece without a range')
    const checked = await checks.ofWhole(provider, history, signal)
    const settled = lastSettled({ history, ...whole, code }, newest, checked.doubtfulSince)
    const until = known?.end !== undefined && known.end >= last ? known.end : settled
    return { history: checked.history, attribution: provider.attribution, start: first, end: until }
  })
}

/** Returns the ranges before and after `current`, and its last days again, because banks correct mistakes. */
function missingRanges(
  current: HistorySnapshot,
  start: Day,
  last: Day,
): { start: Day; end: Day }[] {
  const { end = addDays(current.start, -1) } = current
  const again = laterDay(addDays(end, -DAYS_REFETCHED), current.start)
  const before = { start, end: addDays(current.start, -1) }
  const after = { start: again, end: last }
  return [...(start < current.start ? [before] : []), ...(end < last ? [after] : [])]
}

function laterDay(one: Day, other: Day): Day {
  return one > other ? one : other
}

interface FetchedPiece {
  history: MarketHistory
  start: Day
  end: Day
  code: string | undefined
}

/**
 * Returns the last day of a piece that needs no second look. Its end, if that is not later than the newest days and the piece
 * is not behind them; a table without rates only long before the newest days, because the bank may be late.
 */
function lastSettled(
  { history, start, end, code }: FetchedPiece,
  newest: MarketHistory,
  doubtfulSince: Day | undefined,
): Day {
  const newestDay = newest.dates.at(-1) ?? end
  const isRecent = end > addDays(newestDay, -DAYS_BACK.daily)
  if (start === end && isRecent && history.dates.length === 0) return addDays(start, -1)
  const column = code === undefined ? undefined : (newest.columns.get(code) ?? new Float64Array())
  const isQuoted = (day: Day, row: number): boolean =>
    day >= start && day <= end && !(column && Number.isNaN(column[row] ?? NaN))
  const expected = newest.dates.findLast(isQuoted)
  const isBehind = expected !== undefined && !history.dates.includes(expected)
  const last = isBehind
    ? (history.dates.findLast((day) => day < expected) ?? addDays(start, -1))
    : end < newestDay
      ? end
      : newestDay
  const isDoubtful = doubtfulSince !== undefined && doubtfulSince > addDays(last, -DAYS_REFETCHED)
  return isDoubtful && doubtfulSince <= last ? addDays(doubtfulSince, -1) : last
}
