import { runInBackground } from '../async.ts'
import { createBackoff } from '../cache/backoff.ts'
import type { Backoff } from '../cache/backoff.ts'
import { createReadThrough } from '../cache/read-through.ts'
import type { CacheResult, ReadThrough, RequestOptions } from '../cache/read-through.ts'
import { REQUEST_TIMEOUT_MS, UnavailableError } from '../cache/refresh.ts'
import { DAYS_BACK, daysFrom } from '../rates/calendar.ts'
import {
  DAY_MS,
  addDays,
  dayNumber,
  newestPublishedDay,
  periodStart,
  toDay,
} from '../rates/dates.ts'
import type { Day, DaySpan } from '../rates/dates.ts'
import { findRevisions, mergeHistories, spansOf } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import {
  findDisagreements,
  findDisagreementsOfTable,
  gapsIn,
  withoutYears,
} from '../rates/seams.ts'
import type { Disagreements, YearOfCode } from '../rates/seams.ts'
import { RejectedError } from '../rates/validate.ts'
import { snapshotFormat } from './history.ts'
import type { HistoryNeed, HistorySnapshot, Span } from './history.ts'
import { HOST_BACKOFF, concernsOnePiece, createLoadQueue } from './load-queue.ts'
import type { LoadQueue } from './load-queue.ts'
import { MAX_TABLES, firstDoubtful, providerOf } from './newest-days.ts'
import { continues, described, fetchRange, isGap } from './publication.ts'
import type { ProviderCall, PublicationContext } from './publication.ts'
import { createFailover, sourceHooks, storedIn } from './source.ts'

/** The days before the newest ones, in pieces that are loaded when they are first needed. */
export interface Pieces {
  /** Returns the rates in memory, undefined where pieces have to be loaded. */
  find(need: HistoryNeed, newest: CacheResult<HistorySnapshot>): Found | undefined
  /** @throws {UnavailableError} where one cannot be loaded */
  load(need: HistoryNeed, newest: HistorySnapshot, client: object): Promise<void>
  spans(): ReadonlyMap<string, Span>
  close(): void
}

type Found = CacheResult<HistorySnapshot>

/** Some days of all currencies, the series of one currency, or the table of a day. */
interface Plan extends DaySpan {
  id: string
  /** The last day that a request needs. */
  needed: Day
  kind: 'days' | 'series' | 'table'
  /** Of a series. */
  code?: string
}

interface Piece extends Plan {
  cached: ReadThrough<HistorySnapshot>
  /** Delay until a piece that is incomplete or disagrees is loaded again. */
  retry: Backoff
  verdict?: Verdict
  /** The value for which neighbours were loaded, and that was then loaded again. */
  settled?: HistorySnapshot | undefined
  reported: string
}

/** What is wrong with a piece. */
interface Verdict {
  inputs: readonly unknown[]
  doubted: readonly YearOfCode[]
  /** Years that neighbours may confirm, which are not loaded yet. */
  unconfirmed: readonly YearOfCode[]
  gaps: readonly DaySpan[]
  /** The days without doubted rates. */
  history: MarketHistory
}

const END_OF_TIME = '9999-12-31'

const LIFETIME_MS = 30 * DAY_MS
const KEPT_MS = 366 * DAY_MS
const UNSETTLED_MS = 600_000

/** Delays until a doubtful piece is loaded again, in ms. */
const RETRY = { initial: 300_000, max: 1_800_000 }

const CALL_TIMEOUT_MS = 15_000

/** Tables of single days that are kept, and loads of them in a minute: clients choose the days. */
const MAX_TABLES_KEPT = 300
const TABLES_PER_MINUTE = 60

const MAX_VIEWS = 64
const MAX_VARIANTS = 1_000

export function createPieces(context: PublicationContext): Pieces {
  const { options, calendar, since, daysBack } = context
  const { runtime, emit } = options
  const pieces = new Map<string, Piece>()
  const views = createViews(context)
  const backoff = createBackoff(runtime, HOST_BACKOFF)
  const queues = {
    other: createLoadQueue(runtime, backoff),
    table: createLoadQueue(runtime, backoff, {
      perMinute: TABLES_PER_MINUTE,
      maxWait: REQUEST_TIMEOUT_MS,
    }),
  }
  let newestDays: HistorySnapshot | undefined
  let isClosed = false

  function pieceOf(plan: Plan): Piece {
    const known = pieces.get(plan.id)
    if (known) {
      // The least recently used table is the first.
      if (plan.kind === 'table') pieces.delete(plan.id)
      pieces.set(plan.id, known)
      return Object.assign(known, plan)
    }
    if (isClosed) throw new UnavailableError(0, new Error('closed'))
    const about: Omit<Piece, 'cached'> = {
      ...plan,
      retry: createBackoff(runtime, RETRY),
      reported: '',
    }
    const queue = plan.kind === 'table' ? queues.table : queues.other
    const cached = createCachedPiece(context, about, queue.add, () => newestDays?.history)
    const piece = Object.assign(about, { cached })
    pieces.set(plan.id, piece)
    if (plan.kind === 'table') dropTables(pieces)
    return piece
  }

  function valueOf(plan: Plan): HistorySnapshot | undefined {
    return pieces.get(plan.id)?.cached.state().value
  }

  /** Whether a value can be joined with the newest days. A day without rates may be a holiday, or late. */
  function isUsable(plan: Plan, value: HistorySnapshot, newest: MarketHistory): boolean {
    if (value.start > plan.start || !continues(newest, value.history)) return false
    if (plan.start === plan.end) {
      return value.history.dates.length > 0 || pieces.get(plan.id)?.cached.state().stale === false
    }
    // Days between the piece and the newest ones must not be missing.
    return (value.end ?? '') >= plan.needed || !isGap(calendar, value.end, newest.dates[0] ?? '')
  }

  function plansAt(need: HistoryNeed, { history }: HistorySnapshot): Plan[] {
    return plansFor(context, need, history, toDay(runtime.now()))
  }

  /** Rates that are doubted after all do not confirm others. */
  function believed(plan: Plan | undefined): MarketHistory | undefined {
    const piece = plan && pieces.get(plan.id)
    const value = piece?.cached.state().value
    return piece?.settled === value ? (piece?.verdict?.history ?? value?.history) : value?.history
  }

  function verdictOf(piece: Piece, value: HistorySnapshot, newest: MarketHistory): Verdict {
    const [before, after] = neighboursOf(context, piece, newest)
    const neighbours = { before: believed(before), after: after ? believed(after) : newest, newest }
    const inputs = [value, neighbours.before, neighbours.after, newest, piece.settled]
    const known = piece.verdict
    if (known && inputs.every((each, index) => each === known.inputs[index])) return known
    const { history } = value
    // Only what a real market has published has to look like one.
    const isReal = providerOf(context.providers, value)?.sanityChecks
    const find = (): Disagreements =>
      piece.kind === 'table'
        ? findDisagreementsOfTable(history, newest, (code) => {
            const series = pieces.get(code)
            const loaded = series?.cached.state().value
            return series && loaded && verdictOf(series, loaded, newest).history
          })
        : findDisagreements(history, neighbours, daysBack * 2)
    const { doubted, unconfirmed } = isReal ? find() : { doubted: [], unconfirmed: [] }
    const gaps = isReal && piece.kind === 'days' ? gapsOf(context, value) : []
    const about = { doubted, unconfirmed, gaps }
    piece.verdict = { inputs, ...about, history: withoutYears(history, doubted) }
    return piece.verdict
  }

  /** Returns what is wrong with the rates that `need` needs. */
  function problemIn(
    { doubted, unconfirmed, gaps }: Verdict,
    { codes, since = '', until = '9999', isWhole = false }: HistoryNeed,
    isSettled: boolean,
  ): string | undefined {
    const isNeeded = ({ code, year }: YearOfCode): boolean =>
      year >= since.slice(0, 4) &&
      year <= until.slice(0, 4) &&
      (isWhole || codes.some((each) => each.toUpperCase() === code))
    const wrong = doubted.find(isNeeded) ?? (isSettled ? undefined : unconfirmed.find(isNeeded))
    if (wrong) return `${wrong.code} of ${wrong.year} disagrees with the rates before and after`
    const gap = gaps.find(({ start, end }) => end >= since && start <= until)
    return gap && `no rates from ${gap.start} to ${gap.end}`
  }

  /** Loads a doubtful piece again, where that was not done lately, and first the neighbours that may confirm it. */
  async function settle(
    piece: Piece,
    need: HistoryNeed,
    newest: MarketHistory,
    request: RequestOptions,
  ): Promise<void> {
    const problem = (isSettled: boolean): string | undefined => {
      const value = valueOf(piece)
      return value && problemIn(verdictOf(piece, value, newest), need, isSettled)
    }
    const neighbours = neighboursOf(context, piece, newest).toReversed()
    for (const neighbour of piece.kind === 'table' ? seriesOf(piece) : neighbours) {
      // Neighbours do not fill a gap.
      if (!neighbour || valueOf(neighbour) || !problem(false)?.includes('disagrees')) continue
      // Without a neighbour that is only late, nothing is known.
      if (!(await isLoadedOrAbsent(pieceOf(neighbour), request))) return
    }
    // Of a table, more is known now.
    delete piece.verdict
    if (problem(true) !== undefined) await loadAgain(piece, request)
    const left = problem(true)
    piece.settled = valueOf(piece)
    if (left === undefined) piece.retry.reset()
    if (left !== undefined && left !== piece.reported) {
      const provider = piece.settled?.attribution.name ?? ''
      const about = { provider, publication: context.id, piece: piece.id, reason: left }
      emit({ type: 'history_incomplete', dataSet: 'history', ...about })
    }
    piece.reported = left ?? ''
  }

  /** The series that may confirm a table. */
  const seriesOf = ({ verdict }: Piece): Plan[] =>
    (verdict?.unconfirmed ?? []).map(({ code }) => {
      return { id: code, kind: 'series', code, start: since, end: END_OF_TIME, needed: since }
    })

  /** Loads a piece again, unless that did not help lately. */
  async function loadAgain(piece: Piece, request?: RequestOptions): Promise<void> {
    if (piece.retry.remaining() > 0) return
    piece.cached.expire()
    await piece.cached.refresh(request)
    const isLoaded = piece.cached.state().lastAttempt?.outcome === 'loaded'
    if (isLoaded) piece.retry.recordFailure()
  }

  async function loadPiece(
    plan: Plan,
    need: HistoryNeed,
    newest: MarketHistory,
    request: RequestOptions,
  ): Promise<void> {
    const piece = pieceOf(plan)
    const { value } = await piece.cached.get(request)
    if (!isUsable(plan, value, newest)) await loadAgain(piece, request)
    const loaded = valueOf(plan)
    if (!loaded || !isUsable(plan, loaded, newest)) {
      throw new UnavailableError(UNSETTLED_MS, new Error(`no days after ${loaded?.end}`))
    }
    if (problemIn(verdictOf(piece, loaded, newest), need, false) === undefined) piece.retry.reset()
    else await settle(piece, need, newest, request)
  }

  return {
    find(need, newest) {
      const { value } = newest
      newestDays = value
      let isIncomplete = false
      const parts: Part[] = []
      for (const plan of plansAt(need, value)) {
        const piece = pieces.get(plan.id)
        // A refresh that is due begins.
        const part = piece?.cached.current()?.value
        if (!piece || !part || !isUsable(plan, part, value.history)) return undefined
        const verdict = verdictOf(piece, part, value.history)
        const isSettled = piece.settled === part
        if (problemIn(verdict, need, isSettled) !== undefined) {
          if (!isSettled) return undefined
          runInBackground(loadAgain(piece), options.waitUntil)
          isIncomplete = true
        }
        parts.push({ plan, history: verdict.history })
        if (plan.kind === 'table' && part.history.dates.length > 0) break
      }
      return { ...newest, value: views.view(need, parts, value, isIncomplete) }
    },
    async load(need, newest, client) {
      const request = { client }
      newestDays = newest
      const plans = plansAt(need, newest)
      if (plans[0]?.kind !== 'table') {
        await Promise.all(plans.map((plan) => loadPiece(plan, need, newest.history, request)))
        return
      }
      for (const plan of plans) {
        const piece = pieceOf(plan)
        const { value } = await piece.cached.get(request)
        if (!isUsable(plan, value, newest.history)) await piece.cached.refresh(request)
        const table = valueOf(plan) ?? value
        if (table.history.dates.length === 0) continue
        const problem = problemIn(verdictOf(piece, table, newest.history), need, false)
        if (problem !== undefined) await settle(piece, need, newest.history, request)
        return
      }
    },
    spans() {
      const loaded = [...pieces.values()].flatMap(({ cached }) => cached.state().value ?? [])
      const whole = loaded.filter(({ start }) => start <= since)
      return new Map(whole.flatMap(({ history }) => [...spansOf(history)]))
    },
    close() {
      isClosed = true
      for (const queue of Object.values(queues)) queue.close()
      for (const { cached } of pieces.values()) cached.close()
    },
  }
}

async function isLoadedOrAbsent({ cached }: Piece, request: RequestOptions): Promise<boolean> {
  try {
    await cached.get(request)
    return true
  } catch (error) {
    return concernsOnePiece(error)
  }
}

function dropTables(pieces: Map<string, Piece>): void {
  const tables = [...pieces.values()].filter(({ kind }) => kind === 'table')
  for (const { id } of tables.slice(0, Math.max(0, tables.length - MAX_TABLES_KEPT))) {
    pieces.delete(id)
  }
}

/** A piece of the past does not change, but for corrections: it is loaded again every month, in the background. */
function createCachedPiece(
  context: PublicationContext,
  piece: Omit<Piece, 'cached'>,
  queue: LoadQueue['add'],
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
      const { history } = await checks.ofWhole(provider, snapshot.history)
      return { ...snapshot, history }
    },
    schedule: (load, client) => queue(client, piece.id, load),
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
  const { calendar, checks, options } = context
  const { provider, call } = providerCall
  const { attribution } = provider
  const due = newestPublishedDay(call.now(), calendar)
  const newestDay = newest?.dates.at(-1) ?? due
  const known = due > newestDay ? due : newestDay
  const last = end < known ? end : known
  const fetched = await fetchRange(context, providerCall, { start, end: last, code })
  const added = fetched.history
  if (newest && !continues(newest, added)) {
    throw new RejectedError('the quotes differ from the newest ones in base or direction')
  }
  const about = { attribution, servedBy: fetched.servedBy, start }
  if (!current || !continues(current.history, added)) {
    const { history, doubtfulSince } = await checks.ofWhole(provider, added, call.signal)
    const settled = settledEnd({ history, start, last, code }, newest, doubtfulSince)
    return { ...about, history, end: settled }
  }
  const previous = current.history
  const merged = mergeHistories([previous, added])
  const history = await checks.ofUpdate(provider, { merged, added, previous }, call.signal)
  const { revised, isSame } = findRevisions(previous, history, start)
  if (revised.length > 0) {
    options.emit({ type: 'rates_revised', dataSet: 'history', provider: attribution.name, revised })
  }
  const doubtfulSince = firstDoubtful(added, history)
  const settled = settledEnd({ history, start, last, code }, newest, doubtfulSince)
  return isSame && settled === current.end ? current : { ...about, history, end: settled }
}

interface FetchedPiece {
  history: MarketHistory
  start: Day
  last: Day
  code: string | undefined
}

/** Days before the end of a piece whose doubtful rates are fetched again with the days after it. */
const DOUBTFUL_DAYS = 7

/**
 * Returns the last day of a piece that needs no second look: it may be behind the newest days. A table without rates is settled
 * only long before them, because the bank may be late.
 */
function settledEnd(
  { history, start, last, code }: FetchedPiece,
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
  const before = isBehind ? history.dates.findLast((day) => day < expected) : last
  const end = before ?? addDays(start, -1)
  const isDoubtful = doubtfulSince !== undefined && doubtfulSince > addDays(end, -DOUBTFUL_DAYS)
  return isDoubtful && doubtfulSince <= end ? addDays(doubtfulSince, -1) : end
}

function gapsOf(
  { calendar, frequency, since, lag }: PublicationContext,
  { history, start, end = start }: HistorySnapshot,
): DaySpan[] {
  const days = { start: start < since ? since : start, end }
  const late = Math.ceil(lag / DAY_MS) + 1
  return gapsIn(history.dates, days, calendar, { frequency, late })
}

/** Returns the pieces that `need` needs, in the order in which to load them. */
function plansFor(
  { calendar, since: firstDay, daysBack, providers, isInOneCall }: PublicationContext,
  { codes, since, until, period = '5Y', isWhole, isFirst }: HistoryNeed,
  newest: MarketHistory,
  today: Day,
): Plan[] {
  const last = newest.dates.at(-1) ?? today
  const firstKept = newest.dates[0] ?? today
  const back = daysBack - DAYS_BACK.daily
  const wantedEnd = until === undefined ? last : addDays(until, isFirst ? back : 0)
  const end = wantedEnd < last ? wantedEnd : last
  // Filled points need the days before a period.
  const wanted = addDays(since ?? addDays(periodStart(last, period), -DAYS_BACK.daily), -back)
  const start = wanted < firstDay ? firstDay : wanted
  // All days are in memory, or the last one.
  const isInMemory = start >= firstKept || (isWhole && !isFirst && end >= firstKept)
  if (isInMemory || start > end) return []
  const before = addDays(firstKept, -1)
  if (isInOneCall) return [archivePlan(firstDay, before, end)]
  const [provider] = providers
  if (!provider?.fetchSeries)
    return windowsOf(start, end < before ? end : before, provider?.maxDays)
  if (isWhole) {
    const days = daysFrom(start, end).filter(calendar.isPublished)
    const ordered = isFirst ? days : days.toReversed()
    return ordered.slice(0, MAX_TABLES).map((day) => {
      return { id: `day-${day}`, kind: 'table', start: day, end: day, needed: day }
    })
  }
  // The days of the base are those of any other currency.
  const [other = 'USD'] = newest.columns.has('USD') ? [] : newest.columns.keys()
  const series = codes.length > 0 ? codes : [other]
  return series.map((code) => ({
    id: code,
    kind: 'series',
    code,
    start: firstDay,
    end: END_OF_TIME,
    needed: end,
  }))
}

/** All days before the newest ones, up to the end of a year, so that the newest ones overlap it for long. */
function archivePlan(start: Day, before: Day, needed: Day): Plan {
  return { id: 'archive', kind: 'days', start, end: `${before.slice(0, 4)}-12-31`, needed }
}

/** Returns the pieces before and after one, as far as there are any before the newest days. */
function neighboursOf(
  { providers, since }: PublicationContext,
  { kind, id, start, end }: Plan,
  newest: MarketHistory,
): [before: Plan | undefined, after: Plan | undefined] {
  if (kind !== 'days' || id === 'archive') return [undefined, undefined]
  const [{ maxDays } = {}] = providers
  const windowAt = (day: Day): Plan | undefined => windowsOf(day, day, maxDays)[0]
  return [
    start > since ? windowAt(addDays(start, -1)) : undefined,
    end < (newest.dates[0] ?? '') ? windowAt(addDays(end, 1)) : undefined,
  ]
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
    plans.push({
      id: months === 12 ? window.start.slice(0, 4) : window.start,
      kind: 'days',
      ...window,
      needed: window.end,
    })
  return plans
}

interface Part {
  plan: Plan
  history: MarketHistory
}

interface Views {
  /** Returns the same object for the same pieces and need, so that responses stay cached. */
  view(
    need: HistoryNeed,
    parts: readonly Part[],
    newest: HistorySnapshot,
    isIncomplete: boolean,
  ): HistorySnapshot
}

interface View {
  parts: ReadonlyMap<string, MarketHistory>
  /** The days of all parts. */
  history: MarketHistory | undefined
  newest: HistorySnapshot
  joined: HistorySnapshot
  variants: Map<string, HistorySnapshot>
}

/** One join of pieces serves every need for them: its currencies are chosen later. */
function createViews(context: PublicationContext): Views {
  const views = new Map<string, View>()

  function viewOf(parts: readonly Part[], newest: HistorySnapshot): View {
    // All series are in one view, which grows.
    const isSeries = parts[0]?.plan.kind === 'series'
    const key = isSeries ? 'series' : parts.map(({ plan }) => plan.id).join()
    const known = views.get(key)
    const changed = parts.filter(({ plan, history }) => known?.parts.get(plan.id) !== history)
    if (known?.newest === newest && changed.length === 0) return known
    const all = new Map([
      ...(known?.parts ?? []),
      ...parts.map(({ plan, history }) => [plan.id, history] as const),
    ])
    const isOnlyMore = changed.every(({ plan }) => !known?.parts.has(plan.id))
    const before = known?.history && isOnlyMore ? [known.history] : []
    const added = before.length > 0 ? changed.map(({ history }) => history) : [...all.values()]
    const histories = [...before, ...added]
    const history = histories.length > 1 ? mergeHistories(histories) : histories[0]
    const joined = described(context, {
      ...newest,
      ...(history && { history: mergeHistories([history, newest.history]) }),
      start: parts.map(({ plan }) => plan.start).sort()[0] ?? newest.start,
    })
    const view = { parts: all, history, newest, joined, variants: new Map() }
    views.delete(key)
    views.set(key, view)
    for (const oldest of views.keys()) {
      if (views.size <= MAX_VIEWS) break
      views.delete(oldest)
    }
    return view
  }

  return {
    view({ codes, isWhole }, parts, newest, isIncomplete) {
      const needed = context.isDeclared && !isWhole && codes.length > 0 ? codes : undefined
      if (parts.length === 0 && !needed) return newest
      const { joined, variants } = viewOf(parts, newest)
      if (!needed && !isIncomplete) return joined
      const key = `${needed?.toSorted().join() ?? ''} ${isIncomplete}`
      const known = variants.get(key)
      if (known) return known
      if (variants.size >= MAX_VARIANTS) variants.clear()
      const history = withColumns(joined.history, needed)
      const variant = { ...joined, history, needed, isIncomplete }
      variants.set(key, variant)
      return variant
    },
  }
}

/** Adds an empty column for each code that has no rate in the days: it may have some on others. */
function withColumns(history: MarketHistory, codes: readonly string[] = []): MarketHistory {
  const missing = codes.filter((code) => !history.columns.has(code))
  if (missing.length === 0) return history
  const empty = missing.map((code) => [code, new Float64Array()] as const)
  return { ...history, columns: new Map([...history.columns, ...empty]) }
}
