import { createReadThrough, startDeadline } from '../cache/read-through.ts'
import type { CacheResult, ReadThrough, RequestOptions } from '../cache/read-through.ts'
import { createCalendar, daysFrom } from '../rates/calendar.ts'
import { findWithdrawal } from '../rates/currency-code.ts'
import {
  addDays,
  dayNumber,
  newestPublishedDay,
  nextRefresh,
  toDay,
  toInstant,
} from '../rates/dates.ts'
import type { Calendar, Day } from '../rates/dates.ts'
import { commonDays, mergeHistory, spansOf, turnedCodes } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { RejectedError } from '../rates/validate.ts'
import type { HistoryProvider, ProviderContext, Publication } from '../upstream/provider.ts'
import { createPiece, createQueue } from './history-pieces.ts'
import type { Piece, Queue } from './history-pieces.ts'
import { LAST_FIVE_YEARS, acceptDays, createChecks, snapshotFormat } from './history-source.ts'
import type {
  Checks,
  DefaultHistory,
  HistoryNeed,
  HistorySnapshot,
  PublicationState,
  Span,
} from './history-source.ts'
import { createFailover, sourceHooks, storedIn, throwUnavailable } from './source.ts'
import type { Failover, LatestSnapshot, SourcesOptions } from './source.ts'

/** The reference rates of one publication, loaded in pieces as they are needed. */
export interface PublicationSource extends DefaultHistory {
  spans: PublicationState['spans']
  /** Returns whether rates that were due `lag` ms ago are missing. */
  isLate(): boolean
}

/** Time between the starts of two calls, in ms. */
const CALL_GAP_MS = 200

const WEEK_MS = 7 * 86_400_000

/** How many days before a day its rates may have been published. */
const DAYS_BACK = { daily: 14, weekly: 28, monthly: 62, quarterly: 186 }

/** Newest days of all currencies that are kept. */
const NEWEST_DAYS = { daily: 62, weekly: 92, monthly: 186, quarterly: 400 }

/** Refreshes fetch these published days again, because banks correct mistakes. */
const DAYS_REFETCHED = 7

/** More missing tables are not fetched one by one. */
const MAX_TABLES = 7

const DEFAULT_LAG_MS = 86_400_000

/** Assembled histories that are kept. */
const MAX_ASSEMBLED = 32

/** Tables of single days that are kept. */
const MAX_DAY_TABLES = 64

interface Context {
  options: SourcesOptions
  publication: Publication
  calendar: Calendar
  providers: readonly HistoryProvider[]
  failover: Failover<HistoryProvider>
  checks: Checks
  inQueue: Queue
}

/** Creates the source of a publication; `options.historyProviders` are its providers, in order of preference. */
export function createPublicationSource(
  options: SourcesOptions,
  publication: Publication,
  latest: () => LatestSnapshot | undefined,
): PublicationSource {
  const { runtime, waitUntil, historyProviders: providers } = options
  const context: Context = {
    options,
    publication,
    calendar: createCalendar(publication),
    providers,
    failover: createFailover(options, 'history', providers),
    checks: createChecks(options, { dataSet: 'history' }, latest),
    inQueue: createQueue(runtime, CALL_GAP_MS),
  }
  const newest = createNewestDays(context)
  const pieces = createPieces(context)
  const assemble = createAssembler(context)

  async function collect(
    need: HistoryNeed,
    request: RequestOptions | undefined,
  ): Promise<CacheResult<HistorySnapshot>> {
    const found = await newest.get(request)
    const { base, columns } = found.value.history
    const codes = [...new Set(need.codes.map((code) => code.toUpperCase()))]
    const isKnown = (code: string): boolean =>
      code === base || columns.has(code) || findWithdrawal(code) !== undefined
    if (codes.length === 0 || !codes.every(isKnown)) return found
    const others = codes.filter((code) => code !== base)
    const { parts, hasWaited } = await pieces.load({ ...need, codes: others }, found.value)
    const value = assemble(need.isWhole ? undefined : others, parts, found.value)
    return { ...found, value, hit: found.hit && !hasWaited }
  }

  return {
    /** Resolves to the newest days of all currencies where `need` has no codes, or unknown ones. */
    async get(need, request) {
      const waitFor = startDeadline(runtime, request, waitUntil)
      let result: CacheResult<HistorySnapshot> | undefined
      const collecting = collect(need, request).then((collected) => {
        result = collected
      })
      await waitFor(collecting).catch(throwUnavailable)
      return result ?? throwUnavailable(undefined)
    },
    state: newest.state,
    refresh: newest.refresh,
    spans() {
      const { value } = newest.state()
      if (!value) return new Map()
      const spans = new Map<string, Span>()
      for (const [code, { to }] of spansOf(value.history)) spans.set(code, { from: null, to })
      spans.set(value.history.base, { from: publication.since, to: value.newest ?? null })
      for (const [code, span] of pieces.spans()) {
        spans.set(code, { from: span.from, to: spans.get(code)?.to ?? span.to })
      }
      return spans
    },
    isLate() {
      const { lag = DEFAULT_LAG_MS } = publication
      const due = newestPublishedDay(runtime.now() - lag, context.calendar)
      const last = newest.state().value?.history.dates.at(-1)
      return last !== undefined && last < due
    },
    close() {
      newest.close()
      pieces.close()
    },
  }
}

/** Creates the read-through of the newest days of all currencies: one call when they are due. */
function createNewestDays(context: Context): ReadThrough<HistorySnapshot> {
  const { options, publication, calendar, providers, failover, checks } = context
  const { runtime, maxStale, emit } = options
  let reportedLate = ''

  function reportLate(history: MarketHistory, provider: string): void {
    const { lag = DEFAULT_LAG_MS, id } = publication
    const due = newestPublishedDay(runtime.now() - lag, calendar)
    if ((history.dates.at(-1) ?? '') >= due || reportedLate === due) return
    reportedLate = due
    emit({ type: 'rates_late', dataSet: 'history', provider, publication: id, day: due })
  }

  return createReadThrough<HistorySnapshot>({
    ...sourceHooks(options, 'history'),
    maxStale: maxStale.history,
    publishedAt: ({ history }) => toInstant(history.dates.at(-1) ?? ''),
    lifetime: ({ value, loadedAt }) => ({
      nextUpdateAt: nextRefresh(value.history.dates.at(-1) ?? '', loadedAt, calendar),
      maxLifetime: WEEK_MS,
    }),
    async validateStored(snapshot) {
      const provider = providers.find(({ attribution }) => attribution === snapshot.attribution)
      if (snapshot.history.dates.length === 0) throw new RejectedError('no day is stored')
      if (!provider) return described(context, snapshot)
      const { history } = await checks.ofWhole(provider, snapshot.history)
      return described(context, { ...snapshot, history })
    },
    load: (signal, { current }) =>
      failover({ signal, isAwaited: !current }, async (provider, call) => {
        const snapshot = await updateNewest(context, { provider, call, current })
        reportLate(snapshot.history, provider.attribution.name)
        return snapshot
      }),
    stored: storedIn(
      options,
      'history',
      snapshotFormat(options, providers),
      `history:${publication.id}`,
    ),
  })
}

/** Adds what the operations read. */
function described({ calendar, publication }: Context, snapshot: HistorySnapshot): HistorySnapshot {
  const { base, columns } = snapshot.history
  const codes = snapshot.codes ?? [base, ...columns.keys()].sort()
  const newest = snapshot.newest ?? snapshot.history.dates.at(-1)
  return { ...snapshot, calendar, codes, newest, daysBack: DAYS_BACK[publication.frequency] }
}

interface NewestUpdate {
  provider: HistoryProvider
  call: ProviderContext
  current: HistorySnapshot | undefined
}

async function updateNewest(context: Context, update: NewestUpdate): Promise<HistorySnapshot> {
  const { checks, calendar, publication } = context
  const { provider, call, current } = update
  const now = call.now()
  const due = newestPublishedDay(now, calendar)
  const previous = current?.history
  const added =
    provider.maxDays === 1
      ? await fetchTables(context, update, due)
      : await fetchNewestRange(context, update, due)
  const last = previous?.dates.at(-1)
  if (added.dates.length === 0) {
    if (current) return current
    throw new RejectedError(`no day up to ${due}`)
  }
  const start = addDays(toDay(now), -NEWEST_DAYS[publication.frequency])
  const isSame =
    previous && previous.base === added.base && turnedCodes(previous, added).length === 0
  if (!isSame || (last !== undefined && isGap(calendar, last, added.dates[0] ?? ''))) {
    const { history } = await checks.ofWhole(provider, added, call.signal)
    return described(context, { history, attribution: provider.attribution, start })
  }
  const merged = mergeHistory(previous, added, start)
  const history = await checks.ofUpdate(provider, { merged, added, previous }, call.signal)
  return described(context, { history, attribution: provider.attribution, start })
}

/** Returns whether rates were published between the days `last` and `next`. */
function isGap(calendar: Calendar, last: Day, next: Day): boolean {
  return daysFrom(addDays(last, 1), addDays(next, -1)).some(calendar.isPublished)
}

async function fetchNewestRange(
  context: Context,
  { provider, call, current }: NewestUpdate,
  due: Day,
): Promise<MarketHistory> {
  const { maxDays = Infinity } = provider
  const today = toDay(call.now())
  const end = due > today ? due : today
  const span = Math.min(maxDays, DAYS_BACK[context.publication.frequency] * 2)
  const known = current?.history.dates ?? []
  const since = known.at(-DAYS_REFETCHED) ?? known[0]
  const first = addDays(end, 1 - span)
  return fetchRange(
    context,
    { provider, call },
    { start: since && since > first ? since : first, end },
  )
}

/** Fetches the tables of the days that are missing, or, without any in memory, the newest one. */
async function fetchTables(
  context: Context,
  { provider, call, current }: NewestUpdate,
  due: Day,
): Promise<MarketHistory> {
  const { calendar } = context
  const last = current?.history.dates.at(-1)
  const missing =
    last === undefined ? [] : daysFrom(addDays(last, 1), due).filter(calendar.isPublished)
  const isFew = last !== undefined && missing.length <= MAX_TABLES
  let added: MarketHistory | undefined
  const days = isFew
    ? missing
    : daysFrom(addDays(due, -DAYS_BACK.daily), due).filter(calendar.isPublished).toReversed()
  for (const day of days.slice(0, MAX_TABLES)) {
    const table = await fetchRange(context, { provider, call }, { start: day, end: day })
    added = added ? mergeHistory(added, table, '') : table
    if (!isFew && table.dates.length > 0) break
  }
  return added ?? { base: current?.history.base ?? '', dates: [], columns: new Map() }
}

interface ProviderCall {
  provider: HistoryProvider
  call: ProviderContext
}

/** Fetches days of all currencies, or of one, when the queue permits. */
async function fetchRange(
  { options, inQueue }: Context,
  { provider, call }: ProviderCall,
  range: { start: Day; end: Day; code?: string },
): Promise<MarketHistory> {
  const { code, ...days } = range
  const published = await inQueue(
    async () =>
      code !== undefined && provider.fetchSeries
        ? provider.fetchSeries({ code, ...days }, call)
        : provider.fetchHistory(days, call),
    call.signal,
  )
  const history = await acceptDays({ options, provider, context: call }, 'history', published)
  const isIn = history.dates.every((date) => date >= days.start && date <= days.end)
  if (!isIn) throw new RejectedError(`days outside of ${days.start} to ${days.end}`)
  return history
}

/** A piece that a request needs. */
interface Plan {
  /** Identifies the piece: a code, or the first day of a window. */
  id: string
  code?: string
  start: Day
  end: Day
}

/** The pieces of a publication. */
interface Pieces {
  load(
    need: HistoryNeed,
    newest: HistorySnapshot,
  ): Promise<{ parts: HistorySnapshot[]; hasWaited: boolean }>
  /** Returns the days of the currencies whose whole series are loaded. */
  spans(): ReadonlyMap<string, Span>
  close(): void
}

function createPieces(context: Context): Pieces {
  const { options, publication, calendar, providers, checks } = context
  const pieces = new Map<string, Piece>()
  const today = (): Day => toDay(options.runtime.now())

  function pieceOf(plan: Plan): Piece {
    const known = pieces.get(plan.id)
    if (known) return known
    const tables = [...pieces.keys()].filter((id) => id.startsWith('day-'))
    if (tables.length >= MAX_DAY_TABLES) pieces.delete(tables[0] ?? '')
    const key = `history:${publication.id}:${plan.id}`
    const piece = createPiece({
      options,
      providers,
      checks,
      key,
      fetchDays: (since, current, signal) =>
        fetchPiece(context, { ...plan, start: since }, { current, signal }),
    })
    pieces.set(plan.id, piece)
    return piece
  }

  async function loadPlan(
    plan: Plan,
    newest: HistorySnapshot,
  ): Promise<[HistorySnapshot, boolean]> {
    const piece = pieceOf(plan)
    const first = newest.history.dates[0] ?? ''
    // Days between the piece and the newest ones must not be missing.
    const isEnough = (value: HistorySnapshot): boolean =>
      value.start <= plan.start &&
      ((value.end ?? '') >= plan.end || !isGap(calendar, value.end ?? '', first))
    const before = piece.value()
    if (before && isEnough(before)) return [before, false]
    await piece.load(plan.start, isEnough)
    const value = piece.value()
    if (!value) throw new Error(`${plan.id} is not loaded`)
    return [value, true]
  }

  return {
    async load(need, newest) {
      const parts: HistorySnapshot[] = []
      let hasWaited = false
      for (const plan of plansFor(context, need, { newest, today: today() })) {
        const [part, isNew] = await loadPlan(plan, newest)
        parts.push(part)
        hasWaited ||= isNew
        if (need.isWhole && plan.id.startsWith('day-') && part.history.dates.length > 0) break
      }
      return { parts, hasWaited }
    },
    spans() {
      const whole = [...pieces.values()].flatMap((piece) => piece.value() ?? [])
      const firstDays = whole.filter(({ start }) => start <= publication.since)
      return new Map(firstDays.flatMap(({ history }) => [...spansOf(history)]))
    },
    close() {
      for (const piece of pieces.values()) piece.close()
    },
  }
}

/** Returns the pieces that `need` needs, in the order in which to load them. */
function plansFor(
  { publication, calendar, providers }: Context,
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
    const from = start >= recent ? recent : publication.since
    return codes.map((code) => ({
      id: code,
      code,
      start: from < publication.since ? publication.since : from,
      end,
    }))
  }
  const days = daysFrom(start, end).filter(calendar.isPublished)
  const ordered = isFirst ? days : days.toReversed()
  return ordered.slice(0, MAX_TABLES).map((day) => ({ id: `day-${day}`, start: day, end: day }))
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

/** Fetches a piece, or the days before and after those in memory. */
function fetchPiece(
  context: Context,
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
      const isSame =
        history && history.base === added.base && turnedCodes(history, added).length === 0
      history = history && isSame ? mergeHistory(history, added, '') : added
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

type Assemble = (
  codes: readonly string[] | undefined,
  parts: readonly HistorySnapshot[],
  newest: HistorySnapshot,
) => HistorySnapshot

/** Creates a function that joins pieces; it returns the same object for the same pieces, so that responses stay cached. */
function createAssembler(context: Context): Assemble {
  const kept = new Map<string, { inputs: HistorySnapshot[]; output: HistorySnapshot }>()
  return (codes, parts, newest) => {
    const inputs = [...parts, newest]
    const key = `${codes?.toSorted().join() ?? 'all'} ${parts.map(({ start }) => start).join()}`
    const last = kept.get(key)
    kept.delete(key)
    const isSame =
      last?.inputs.length === inputs.length && inputs.every((each, at) => each === last.inputs[at])
    const output = isSame ? last.output : join(context, codes, inputs)
    kept.set(key, { inputs, output })
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_ASSEMBLED) break
      kept.delete(oldest)
    }
    return output
  }
}

function join(
  context: Context,
  codes: readonly string[] | undefined,
  inputs: readonly HistorySnapshot[],
): HistorySnapshot {
  const newest = inputs.at(-1)
  if (!newest) throw new Error('nothing to join')
  const histories = inputs
    .map(({ history }) => history)
    .filter((history) => turnedCodes(newest.history, history).length === 0)
  const history = codes
    ? commonDays(histories, codes)
    : histories.reduce((before, after) => mergeHistory(before, after, ''))
  const start = inputs.map((each) => each.start).sort()[0] ?? newest.start
  return described(context, { ...newest, history, start })
}
