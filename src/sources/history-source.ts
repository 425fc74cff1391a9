import { parseLongJson, runInSlices } from '../async.ts'
import type { LongJson, Slices } from '../async.ts'
import { createReadThrough } from '../cache/read-through.ts'
import type {
  CacheResult,
  ReadThrough,
  ReadThroughState,
  RequestOptions,
} from '../cache/read-through.ts'
import { invalidParameter } from '../errors.ts'
import {
  FIRST_REFERENCE_DAY,
  addDays,
  isDay,
  nextRefresh,
  subtractMonths,
  toDay,
  toInstant,
} from '../rates/dates.ts'
import type { Calendar, Day, Period } from '../rates/dates.ts'
import { checkHistory } from '../rates/history-checks.ts'
import type { CheckedHistory, HistoryToCheck } from '../rates/history-checks.ts'
import { findRevisions, marketDays, mergeHistory, newestDay } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { moveFromOthers } from '../rates/rate-table.ts'
import { RejectedError, requireObject, validateHistoryInSlices } from '../rates/validate.ts'
import type { Attribution, HistoryProvider, ProviderContext } from '../upstream/provider.ts'
import {
  createFailover,
  firstComparedDay,
  isSameSource,
  requireAttribution,
  sourceHooks,
  storedIn,
} from './source.ts'
import type { References, SourcesOptions } from './source.ts'

/** The longest period, and days before it, so that its first day has a rate even when nothing was published for a while. */
const MONTHS_KEPT = 60
const DAYS_KEPT_BEFORE = 14

/** A week, in ms: the European Central Bank is closed for at most five days, at Easter. */
const MAX_LIFETIME_MS = 7 * 86_400_000

/** The number of published days that every refresh fetches again, because relays and banks correct mistakes. */
const DAYS_REFETCHED = 7

export interface HistorySnapshot {
  history: MarketHistory
  attribution: Attribution
  start: Day
  /** The last requested day, if that is not the newest. */
  end?: Day | undefined
  /** The first doubtful day of a full download or a stored value; the next refresh fetches all days from there. */
  doubtfulSince?: Day
  /** All codes of the publication, where `history` has only some. */
  codes?: readonly string[] | undefined
  /** Id of the publication, if not that of the European Central Bank. */
  id?: string | undefined
  /** When the rates are published, if not by the European Central Bank. */
  calendar?: Calendar | undefined
  /** Whether a requested code is unknown: then the days are not the requested ones, and serve only the error. */
  isUnknown?: boolean | undefined
  /** Newest day of the publication, where `history` may end earlier. */
  newest?: Day | undefined
  /** How many days before a day its rates may have been published (default 14). */
  daysBack?: number | undefined
}

export interface HistoryNeed {
  /** First day (default that of `period`). */
  since?: Day | undefined
  /** The requested days, where `since` and `until` include those of other requests. */
  requested?: Pick<HistoryNeed, 'since' | 'until'> | undefined
  /** Length up to the newest day (default five years). */
  period?: Period | undefined
  /** Last day (default the newest). */
  until?: Day | undefined
  /** Codes in either case. */
  codes: readonly string[]
  /** Whether all other currencies with rates on one day of the range are needed, too (default false). */
  isWhole?: boolean | undefined
  /** Whether the first day of the range with rates is needed, not the last (default false). */
  isFirst?: boolean | undefined
  /** Id of the only publication to ask, or the part of several before a hyphen (default all, in order). */
  source?: string | undefined
}

/** @internal A result that is in memory, or a promise of one. */
export type ResultOrPromise<Value> = CacheResult<Value> | Promise<CacheResult<Value>>

export interface DefaultHistory {
  get(need: HistoryNeed, request?: RequestOptions): ResultOrPromise<HistorySnapshot>
  state(): ReadThroughState<HistorySnapshot>
  refresh(): Promise<void>
  close(): void
}

/** @throws {RatesError} `invalid_parameter` if there is none */
export function membersOf<Member extends { id: string }>(
  members: readonly Member[],
  source: string | undefined,
): readonly Member[] {
  if (source === undefined) return members
  const named = members.filter(({ id }) => id === source || id.startsWith(`${source}-`))
  if (named.length > 0) return named
  throw invalidParameter('source', `must be one of ${members.map(({ id }) => id).join(', ')}`)
}

/** The days that quote a currency; null while unknown. */
export interface Span {
  from: Day | null
  to: Day | null
}

export interface PublicationState {
  newest: ReadThroughState<HistorySnapshot>
  /** Whether due rates are missing for longer than the `lag` of the publication. */
  isLate: boolean
  /** Returns the days that quote each currency ever quoted, as far as they are known. */
  spans(): ReadonlyMap<string, Span>
}

export interface Histories extends Omit<DefaultHistory, 'get' | 'state'> {
  /**
   * Returns the result of `use`, called with the reference rates of the first publication that has what `need` names. Where
   * the rates are unavailable, or `use` throws `no_data` or `unsupported_currency`, the next publication follows.
   *
   * @throws {RatesError} `invalid_parameter` for an unknown source
   */
  use<Result>(
    need: HistoryNeed,
    request: RequestOptions | undefined,
    use: (found: CacheResult<HistorySnapshot>) => Result | Promise<Result>,
  ): Result | Promise<Result>
  state(): ReadThroughState<HistorySnapshot> | undefined
  /** Returns the state of each, where a provider declares its publication; `load` first loads their newest days. */
  publications?: () => readonly PublicationState[]
  load?(request?: RequestOptions): Promise<void>
}

export interface HistoryScope {
  dataSet: 'history' | 'archive'
  startOn(today: Day): Day
}

export const LAST_FIVE_YEARS: HistoryScope = {
  dataSet: 'history',
  startOn: (today) => addDays(subtractMonths(today, MONTHS_KEPT), -DAYS_KEPT_BEFORE),
}

export const ALL_DAYS: HistoryScope = { dataSet: 'archive', startOn: () => FIRST_REFERENCE_DAY }

/** One full download from the first day of `scope`, then only the newest and the missing days. */
export function createHistorySource(
  options: SourcesOptions,
  scope: HistoryScope,
  references: References,
): ReadThrough<HistorySnapshot> {
  const { historyProviders: providers, runtime, maxStale } = options
  const { dataSet } = scope
  const failover = createFailover(options, dataSet, providers)
  const checks = createChecks(options, scope, references)
  const format = snapshotFormat(options, providers)

  return createReadThrough<HistorySnapshot>({
    ...sourceHooks(options, dataSet),
    maxStale: maxStale.history,
    publishedAt: ({ history }) => toInstant(newestDay(history, toDay(runtime.now())) ?? ''),
    lifetime: ({ value, loadedAt }) => ({
      nextUpdateAt: nextRefresh(newestDay(value.history, toDay(loadedAt)) ?? '', loadedAt),
      maxLifetime: MAX_LIFETIME_MS,
    }),
    async validateStored(snapshot, { current }) {
      const { history, ...about } = snapshot
      const provider = providers.find((each) => isSameSource(each.attribution, about.attribution))
      if (!provider?.sanityChecks) return snapshot
      const checked = await checks.ofWhole(provider, history)
      assertCurrent(checked.history, runtime.now(), current?.history)
      return { ...about, ...checked }
    },
    load: (signal, { last, current }) =>
      failover({ signal, isAwaited: !current }, async (provider, context) => {
        const snapshot = await update({ options, scope, checks, provider, context }, current)
        assertCurrent(snapshot.history, context.now(), last?.history)
        return snapshot
      }),
    stored: storedIn(options, dataSet, {
      ...format,
      async fromJson(json) {
        const snapshot = await format.fromJson(json)
        assertCurrent(snapshot.history, runtime.now())
        return snapshot
      },
    }),
  })
}

export function snapshotFormat(
  { runtime }: SourcesOptions,
  providers: readonly HistoryProvider[],
): {
  toJson(snapshot: HistorySnapshot): Promise<string>
  fromJson(json: string): Promise<HistorySnapshot>
} {
  const inSlices = <Result>(work: Slices<Result>): Promise<Result> =>
    runInSlices(work, runtime.yieldToEventLoop)
  return {
    toJson: (snapshot) => inSlices(snapshotJson(snapshot)),
    async fromJson(json) {
      const stored = await inSlices(parseLongJson(json, SNAPSHOT))
      const { start, end, attribution, ...days } = requireObject(stored, 'the stored data are')
      const { data: history } = await inSlices(validateHistoryInSlices(days, runtime.now()))
      return {
        attribution: requireAttribution(attribution, providers),
        start: requireDay('start', start),
        ...(end !== undefined && { end: requireDay('end', end) }),
        history,
      }
    },
  }
}

function requireDay(name: string, value: unknown): Day {
  if (typeof value === 'string' && isDay(value)) return value
  throw new RejectedError(`${name} must be a date, YYYY-MM-DD`)
}

interface UpdateContext {
  options: SourcesOptions
  scope: HistoryScope
  checks: Checks
  provider: HistoryProvider
  context: ProviderContext
}

/** Fetches from the newest days of `last` on; all days where `last` has another source or starts too late. */
async function update(
  updateContext: UpdateContext,
  last: HistorySnapshot | undefined,
): Promise<HistorySnapshot> {
  const { options, scope, checks, provider, context } = updateContext
  const { attribution } = provider
  const today = toDay(context.now())
  const start = scope.startOn(today)
  const isKnown = last && isSameSource(last.attribution, attribution) && last.start <= start
  if (!isKnown) {
    const added = await fetchDays(updateContext, { start, end: today })
    return { attribution, start, ...(await checks.ofWhole(provider, added, context.signal)) }
  }
  const since = firstDayToFetch(last, today) ?? start
  const added = await fetchDays(updateContext, { start: since, end: today })
  if (added.base !== last.history.base) return update(updateContext, undefined)
  const merged = mergeHistory(last.history, added, start)
  const days = { merged, added, previous: last.history }
  const history = await checks.ofUpdate(provider, days, context.signal)
  const { revised, isSame } = findRevisions(last.history, history, added.dates[0] ?? today)
  const about = { dataSet: scope.dataSet, provider: attribution.name }
  if (revised.length > 0) options.emit({ type: 'rates_revised', ...about, revised })
  // The same object keeps responses cached that were derived from it.
  return isSame && !last.doubtfulSince ? last : { history, attribution, start }
}

function firstDayToFetch({ history, doubtfulSince }: HistorySnapshot, today: Day): Day | undefined {
  const published = history.dates.filter((date) => date <= today)
  const first = published.at(-DAYS_REFETCHED) ?? published[0]
  return first && doubtfulSince && doubtfulSince < first ? doubtfulSince : first
}

/** The sanity checks of a full download or a stored value, and of new days against cached ones. Do nothing for providers without `sanityChecks`. */
export interface Checks {
  ofWhole(
    provider: HistoryProvider,
    history: MarketHistory,
    signal?: AbortSignal,
  ): Promise<Pick<HistorySnapshot, 'history' | 'doubtfulSince'>>
  ofUpdate(
    provider: HistoryProvider,
    days: HistoryToCheck,
    signal: AbortSignal,
  ): Promise<MarketHistory>
}

export function createChecks(
  { emit, runtime }: SourcesOptions,
  { dataSet }: Pick<HistoryScope, 'dataSet'>,
  references: References,
): Checks {
  let reported: readonly string[] = []

  async function check(
    { attribution }: HistoryProvider,
    days: HistoryToCheck,
    signal?: AbortSignal,
  ): Promise<CheckedHistory> {
    const others = references(attribution)
    const since = firstComparedDay(runtime.now())
    const { base, derived } = days.added
    const work = checkHistory({
      ...days,
      moveFromOthers: (date, code, rate) =>
        date < since || derived?.[code] ? NaN : moveFromOthers(others, { base, code, rate }),
    })
    const checked = await runInSlices(work, runtime.yieldToEventLoop, signal)
    const about = { dataSet, provider: attribution.name }
    // Refreshes fetch the same days repeatedly; each problem is reported once.
    const codes = checked.quarantined.filter((each) => !reported.includes(each))
    reported = checked.quarantined
    if (codes.length > 0) emit({ type: 'rates_quarantined', ...about, codes })
    if (checked.lost.length > 0) emit({ type: 'rates_lost', ...about, codes: checked.lost })
    return checked
  }

  return {
    async ofWhole(provider, history, signal) {
      if (!provider.sanityChecks) return { history }
      const days = { merged: history, added: history, previous: undefined }
      const checked = await check(provider, days, signal)
      const [doubtfulSince] = checked.quarantined.map((each) => each.slice(0, 10)).sort()
      return { history: checked.history, ...(doubtfulSince && { doubtfulSince }) }
    },
    ofUpdate: async (provider, days, signal) =>
      provider.sanityChecks ? (await check(provider, days, signal)).history : days.merged,
  }
}

async function fetchDays(
  { options, scope, provider, context }: UpdateContext,
  range: { start: Day; end: Day },
): Promise<MarketHistory> {
  const published = await provider.fetchHistory(range, context)
  return acceptDays({ options, provider, context }, scope.dataSet, published)
}

export async function acceptDays(
  { options, provider, context }: Pick<UpdateContext, 'options' | 'provider' | 'context'>,
  dataSet: HistoryScope['dataSet'],
  published: unknown,
): Promise<MarketHistory> {
  // A response that arrives too late is discarded, and emits no events.
  context.signal.throwIfAborted()
  const checks = validateHistoryInSlices(published, context.now())
  const { data, dropped } = await runInSlices(
    checks,
    options.runtime.yieldToEventLoop,
    context.signal,
  )
  const about = { dataSet, provider: provider.attribution.name }
  if (dropped.length > 0) options.emit({ type: 'rates_dropped', ...about, dropped })
  return data
}

function assertCurrent(history: MarketHistory, now: number, last?: MarketHistory): void {
  const newest = newestDay(history, toDay(now))
  if (newest === undefined) throw new RejectedError(`no day up to ${toDay(now)}`)
  const cached = (last && newestDay(last, toDay(now))) ?? ''
  if (cached > newest) {
    throw new RejectedError(`newest day ${newest} is older than the cached ${cached}`)
  }
}

/** The stored form of a snapshot: `{"attribution":{…},"start":"1999-01-04","base":"EUR","days":[…]}`. */
const SNAPSHOT: LongJson = {
  opening: '"days":[',
  closing: ']}',
  itemsOf: (data) => Object(data).days,
  withItems: (data, parts) => ({ ...Object(data), days: parts.flat() }),
}

/** Five years of days are serialized at once; more in slices of this size, a few ms each. */
const DAYS_AT_ONCE = 2_000
const DAYS_PER_SLICE = 500

function* snapshotJson({ history, attribution, start, end }: HistorySnapshot): Slices<string> {
  const { length } = history.dates
  const isLong = length > DAYS_AT_ONCE
  const perSlice = isLong ? DAYS_PER_SLICE : DAYS_AT_ONCE
  const parts: string[] = []
  for (let first = 0; first < length; first += perSlice) {
    if (isLong) yield
    const days = marketDays(history, first, first + perSlice)
    const plain = days.map(({ date, rates }) => {
      const tableNumber = history.tableNumbers?.get(date)
      const quotes = quotesOf(rates, history.priced)
      return tableNumber === undefined ? { date, ...quotes } : { date, tableNumber, ...quotes }
    })
    parts.push(JSON.stringify(plain).slice(1, -1))
  }
  const { base, derived } = history
  const head = JSON.stringify({ attribution, start, end, base, derived })
  return `${head.slice(0, -1)},"days":[${parts.join()}]}`
}

function quotesOf(
  rates: ReadonlyMap<string, number>,
  priced: ReadonlySet<string> | undefined,
): { rates: Record<string, number>; prices?: Record<string, number> } {
  if (!priced) return { rates: Object.fromEntries(rates) }
  const [direct, prices] = [true, false].map((isDirect) =>
    Object.fromEntries([...rates].filter(([code]) => priced.has(code) !== isDirect)),
  )
  return { rates: direct ?? {}, prices: prices ?? {} }
}
