import { createBackoff } from '../cache/backoff.ts'
import type { Backoff } from '../cache/backoff.ts'
import { createReadThrough } from '../cache/read-through.ts'
import type { ReadThrough, RequestOptions } from '../cache/read-through.ts'
import { REQUEST_TIMEOUT_MS, UnavailableError } from '../cache/refresh.ts'
import { DAYS_BACK } from '../rates/calendar.ts'
import { DAY_MS, addDays, newestPublishedDay } from '../rates/dates.ts'
import type { Day, DaySpan } from '../rates/dates.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import type { Disagreements } from '../rates/seams.ts'
import { RejectedError } from '../rates/validate.ts'
import { snapshotFormat } from './history.ts'
import type { HistorySnapshot } from './history.ts'
import { HOST_BACKOFF, createLoadQueue } from './load-queue.ts'
import type { LoadQueue } from './load-queue.ts'
import { providerOf } from './newest-days.ts'
import type { Neighbours, Plan } from './piece-plans.ts'
import { continues, fetchRange } from './publication.ts'
import type { DayRange, ProviderCall, PublicationContext } from './publication.ts'
import { createFailover, sourceHooks, storedIn } from './source.ts'

/** What is wrong with a piece. */
export interface Verdict extends Disagreements {
  /** What it depends on. */
  inputs: readonly unknown[]
  gaps: readonly DaySpan[]
  /** The days without doubted rates. */
  history: MarketHistory
}

export interface Piece extends Plan {
  cached: ReadThrough<HistorySnapshot>
  /** Delay until a piece that is incomplete or disagrees is loaded again. */
  retry: Backoff
  verdict?: Verdict
  /** The value for which neighbours were loaded, and that was then loaded again. */
  settled?: HistorySnapshot | undefined
  reported: string
  /** Its neighbours before the first of the newest days. */
  around?: { firstKept: Day; neighbours: Neighbours }
}

const LIFETIME_MS = 30 * DAY_MS
const KEPT_MS = 366 * DAY_MS

/** Time until a day without rates is loaded again, in ms. */
export const UNSETTLED_MS = 600_000

/** Delays until a doubtful piece is loaded again, in ms. */
const RETRY = { initial: 300_000, max: 1_800_000 }

const CALL_TIMEOUT_MS = 15_000

/** Tables of single days that are kept, and loads of them in a minute: clients choose the days. */
const MAX_TABLES_KEPT = 300
const TABLES_PER_MINUTE = 60

/** The pieces in memory. */
export interface PieceMap {
  get(id: string): Piece | undefined
  valueOf(plan: Plan): HistorySnapshot | undefined
  /** Adds an empty piece, if there is none. */
  of(plan: Plan): Piece
  values(): HistorySnapshot[]
  /** Sets the newest days, which those of a piece continue. */
  setNewest(history: MarketHistory): void
  close(): void
}

export function createPieceMap(context: PublicationContext): PieceMap {
  const { runtime } = context.options
  const pieces = new Map<string, Piece>()
  const backoff = createBackoff(runtime, HOST_BACKOFF)
  const limits = { perMinute: TABLES_PER_MINUTE, maxWait: REQUEST_TIMEOUT_MS }
  const tables = createLoadQueue(runtime, backoff, limits)
  const others = createLoadQueue(runtime, backoff)
  let newest: MarketHistory | undefined
  let isClosed = false

  function create(plan: Plan): Piece {
    if (isClosed) throw new UnavailableError(0, new Error('closed'))
    const piece = { ...plan, retry: createBackoff(runtime, RETRY), reported: '' }
    const queue = plan.kind === 'table' ? tables : others
    return Object.assign(piece, { cached: createCached(context, piece, queue, () => newest) })
  }

  return {
    get: (id) => pieces.get(id),
    valueOf: ({ id }) => pieces.get(id)?.cached.value(),
    of(plan) {
      const piece = Object.assign(pieces.get(plan.id) ?? create(plan), plan)
      // The least recently used table is the first.
      if (plan.kind === 'table') pieces.delete(plan.id)
      pieces.set(plan.id, piece)
      if (plan.kind === 'table') dropTables(pieces)
      return piece
    },
    values: () => [...pieces.values()].flatMap(({ cached }) => cached.value() ?? []),
    setNewest: (history) => void (newest = history),
    close() {
      isClosed = true
      tables.close()
      others.close()
      for (const { cached } of pieces.values()) cached.close()
    },
  }
}

function dropTables(pieces: Map<string, Piece>): void {
  const tables = [...pieces.values()].filter(({ kind }) => kind === 'table')
  for (const { id } of tables.slice(0, Math.max(0, tables.length - MAX_TABLES_KEPT))) {
    pieces.delete(id)
  }
}

/** Loads a piece again, unless that did not help lately. */
export async function loadAgain({ cached, retry }: Piece, request?: RequestOptions): Promise<void> {
  if (retry.remaining() > 0) return
  cached.expire()
  await cached.refresh(request)
  if (cached.state().lastAttempt?.outcome === 'loaded') retry.recordFailure()
}

/** A piece of the past does not change, but for corrections: it is loaded again every month, in the background. */
function createCached(
  context: PublicationContext,
  piece: Omit<Piece, 'cached'>,
  queue: LoadQueue,
  newest: () => MarketHistory | undefined,
): ReadThrough<HistorySnapshot> {
  const { options, providers, checks, id } = context
  const failover = createFailover(options, 'history', providers, {
    timeout: CALL_TIMEOUT_MS,
    isRoot: false,
  })
  const format = snapshotFormat(options, providers)
  const ignore = (): void => undefined
  return createReadThrough<HistorySnapshot>({
    ...sourceHooks(options, 'history'),
    onRestored: ignore,
    onScheduled: ignore,
    onStale: ignore,
    maxStale: KEPT_MS,
    publishedAt: () => 0,
    lifetime({ value, loadedAt }) {
      const isUnsettled = value.end === undefined || value.end < value.start
      const lifetime = isUnsettled ? UNSETTLED_MS : LIFETIME_MS
      return { nextUpdateAt: loadedAt + lifetime, maxLifetime: Infinity }
    },
    async validateStored(snapshot) {
      const provider = providerOf(providers, snapshot)
      if (!provider) return snapshot
      const { history } = await checks.ofWhole(provider, snapshot.history, { isPiece: true })
      return { ...snapshot, history }
    },
    schedule: async (load, client) => queue.add(client, piece.id, load),
    load: (signal, { current }) =>
      failover({ signal, isAwaited: !current }, (provider, call) => {
        const isDoubted = (piece.verdict?.doubted.length ?? 0) > 0
        return fetchPiece(
          context,
          { provider, call },
          piece,
          isDoubted ? undefined : current,
          newest(),
        )
      }),
    stored: storedIn(options, 'history', format, `history:${id}:${piece.id}`),
  })
}

async function fetchPiece(
  context: PublicationContext,
  providerCall: ProviderCall,
  { start, end, code }: Plan,
  current: HistorySnapshot | undefined,
  newest: MarketHistory | undefined,
): Promise<HistorySnapshot> {
  const { calendar, checks } = context
  const { provider, call } = providerCall
  const { attribution } = provider
  const due = newestPublishedDay(call.now(), calendar)
  const newestDay = newest?.dates.at(-1) ?? due
  const known = due > newestDay ? due : newestDay
  const range = { start, end: end < known ? end : known, code }
  const fetched = await fetchRange(context, providerCall, range)
  const added = fetched.history
  if (newest && !continues(newest, added)) {
    throw new RejectedError('the quotes differ from the newest ones in base or direction')
  }
  const previous = current && continues(current.history, added) ? current.history : undefined
  const { history, isSame, doubtfulSince } = await (previous
    ? checks.ofUpdate(provider, { previous, added, start }, call.signal)
    : checks.ofWhole(provider, added, { signal: call.signal, isPiece: true }))
  const settled = settledEnd({ ...range, history }, newest, doubtfulSince)
  if (current && isSame && settled === current.end) return current
  return { attribution, servedBy: fetched.servedBy, start, history, end: settled }
}

/** Days before the end of a piece whose doubtful rates are fetched again with the days after it. */
const DOUBTFUL_DAYS = 7

/**
 * Returns the last day of a piece that needs no second look: it may be behind the newest days. A table without rates is settled
 * only long before them, because the bank may be late.
 */
function settledEnd(
  { history, start, end: last, code }: DayRange & { history: MarketHistory },
  newest: MarketHistory | undefined,
  doubtfulSince: Day | undefined,
): Day {
  const newestDay = newest?.dates.at(-1) ?? last
  const isRecent = last > addDays(newestDay, -DAYS_BACK.daily)
  if (start === last && isRecent && history.dates.length === 0) return addDays(start, -1)
  const column = code === undefined ? undefined : (newest?.columns.get(code) ?? new Float64Array())
  const isQuoted = (day: Day, row: number): boolean =>
    day >= start && day <= last && !(column && Number.isNaN(column[row] ?? NaN))
  const expected = newest?.dates.findLast(isQuoted)
  const isBehind = expected !== undefined && !history.dates.includes(expected)
  // Days after the newest one may be late.
  const [, known] = [newestDay, history.dates.at(-1) ?? ''].toSorted()
  const before = isBehind ? history.dates.findLast((day) => day < expected) : known
  const settled = before ?? addDays(start, -1)
  const end = settled < last ? settled : last
  const isDoubtful = doubtfulSince !== undefined && doubtfulSince > addDays(end, -DOUBTFUL_DAYS)
  return isDoubtful && doubtfulSince <= end ? addDays(doubtfulSince, -1) : end
}
