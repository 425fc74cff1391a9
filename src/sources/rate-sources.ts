import { loadOnce, runInBackground } from '../async.ts'
import { timeToRefresh } from '../cache/read-through.ts'
import type {
  CacheResult,
  ReadThrough,
  ReadThroughState,
  RequestOptions,
} from '../cache/read-through.ts'
import { UnavailableError } from '../cache/refresh.ts'
import type { Attempt } from '../cache/refresh.ts'
import { guardStore } from '../cache/store.ts'
import type { CacheStore, OnStoreFailure } from '../cache/store.ts'
import { MAX_RETRY_AFTER_SECONDS, RatesError, providerUnavailable } from '../errors.ts'
import { ECB_ID, toDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { marketDays, rowsOf } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { dropExpired } from '../rates/rate-table.ts'
import type { RateTable, ReferenceTable } from '../rates/rate-table.ts'
import type { HistoryProvider } from '../upstream/provider.ts'
import { ALL_DAYS, LAST_FIVE_YEARS, createHistorySource, membersOf } from './history-source.ts'
import type {
  DefaultHistory,
  Histories,
  HistoryNeed,
  HistorySnapshot,
  PublicationState,
  ResultOrPromise,
} from './history-source.ts'
import { createLatestSource, tablesOf } from './latest-source.ts'
import { firstComparedDay, isSameSource } from './source.ts'
import type { LatestSnapshot, References, SourcesOptions } from './source.ts'

export type { Attempt, CacheResult, HistoryNeed, PublicationState, RequestOptions }

/** `latest` and `history` reject with `provider_unavailable`, or `not_found` where the data set is turned off. */
export interface RateSources {
  readonly historyProviders: readonly HistoryProvider[]
  /** Its fallback where only that has all of `codes` (either case), which is called only where there is a fallback. */
  latest(request?: RequestOptions, codes?: () => readonly string[]): ResultOrPromise<LatestSnapshot>
  history: Histories['use']
  /** Loads the newest days of all publications, where a provider declares its own. Never rejects. */
  loadPublications(request?: RequestOptions): Promise<void>
  state(): SourcesState
  /** Refreshes all data that are due. Never rejects. */
  refresh(): Promise<void>
  refreshInBackground(): void
  close(): void
}

/** The state of both data sets, available without a request; null for one that is turned off. */
export interface SourcesState {
  latest: ReadThroughState<LatestSnapshot> | null
  /** Of the first publication. */
  history: ReadThroughState<HistorySnapshot> | null
  /** In order of preference, where a provider declares its publication. */
  publications?: readonly PublicationState[]
}

export function createSources(
  given: Omit<SourcesOptions, 'store'> & { store: CacheStore | undefined },
): RateSources {
  const { runtime, emit } = given
  const onFailure: OnStoreFailure = (operation, key, error) =>
    emit({ type: 'store_failed', operation, key, error })
  const store = given.store && guardStore(given.store, runtime, onFailure)
  const options: SourcesOptions = { ...given, store }
  const references = createReferences(options, {
    latest: () => latest.state().value,
    histories: () =>
      histories.publications?.().map(({ newest }) => newest.value) ?? [histories.state()?.value],
  })
  const latest: ReadThrough<LatestSnapshot> = createLatestSource(options, references)
  const histories = createHistories(options, references)
  const choose = createTableChooser(options)
  const hasLatest = options.latestProviders.length > 0
  const hasHistory = options.historyProviders.length > 0

  async function refresh(): Promise<void> {
    await Promise.all([hasLatest && latest.refresh(), hasHistory && histories.refresh()])
  }

  return {
    historyProviders: options.historyProviders,
    latest(request, codes) {
      if (!hasLatest) throw turnedOff('latest rates')
      const result = readOrUnavailable(latest, request)
      return result instanceof Promise
        ? result.then((result) => choose(result, codes))
        : choose(result, codes)
    },
    history(need, request, use) {
      if (!hasHistory) throw turnedOff('reference rates')
      return histories.use(need, request, use)
    },
    loadPublications: async (request) => histories.load?.(request),
    state: () => ({
      latest: hasLatest ? latest.state() : null,
      history: hasHistory ? (histories.state() ?? NOT_LOADED) : null,
      ...(histories.publications && { publications: histories.publications() }),
    }),
    refresh,
    refreshInBackground: () => runInBackground(refresh(), options.waitUntil),
    close() {
      latest.close()
      histories.close()
    },
  }
}

const NOT_LOADED: ReadThroughState<HistorySnapshot> = {
  value: undefined,
  stale: false,
  lastAttempt: undefined,
  nextAttemptAt: 0,
}

function createHistories(options: SourcesOptions, references: References): Histories {
  const isDefault = options.historyProviders.every(({ publication }) => publication === undefined)
  const createDefault = (given: SourcesOptions): DefaultHistory =>
    createDefaultHistory(given, references)
  if (!isDefault) return createLazyHistories(options, references, createDefault)
  const history = createDefault(options)
  return {
    ...history,
    use(need, request, use) {
      membersOf([{ id: ECB_ID }], need.source)
      const found = history.get(need, request)
      return found instanceof Promise ? found.then(use) : use(found)
    },
  }
}

/** Creates the histories of five years and, once a request has needed it, since 1999. */
function createDefaultHistory(options: SourcesOptions, references: References): DefaultHistory {
  const { runtime } = options
  const history = createHistorySource(options, LAST_FIVE_YEARS, references)
  const archive = createHistorySource(options, ALL_DAYS, references)

  function sourceSince(since: Day | undefined): ReadThrough<HistorySnapshot> {
    const isRecent = since === undefined || since >= LAST_FIVE_YEARS.startOn(toDay(runtime.now()))
    return isRecent ? history : archive
  }

  return {
    get: ({ since }, request) => readOrUnavailable(sourceSince(since), request),
    state: history.state,
    async refresh() {
      await Promise.all([history.refresh(), archive.state().value && archive.refresh()])
    },
    close() {
      history.close()
      archive.close()
    },
  }
}

function createLazyHistories(
  options: SourcesOptions,
  references: References,
  createDefault: (given: SourcesOptions) => DefaultHistory,
): Histories {
  let loaded: Histories | undefined
  let isClosed = false

  const histories = loadOnce(async () => {
    const { joinPublications } = await import('./publications.ts')
    loaded = joinPublications(options, references, { createDefault, throwUnavailable })
    if (isClosed) loaded.close()
    return loaded
  })

  return {
    use: async (need, request, use) => (await histories()).use(need, request, use),
    state: () => loaded?.state(),
    publications: () => loaded?.publications?.() ?? [],
    load: async (request) => (await histories()).load?.(request),
    refresh: async () => (await histories()).refresh(),
    close() {
      isClosed = true
      loaded?.close()
    },
  }
}

interface InMemory {
  latest(): LatestSnapshot | undefined
  histories(): readonly (HistorySnapshot | undefined)[]
}

/** The last ten days of all sources but one; only published rates that passed sanity checks count. */
function createReferences(
  { latestProviders, historyProviders, runtime }: SourcesOptions,
  { latest, histories }: InMemory,
): References {
  const checked = [
    ...latestProviders.filter(({ validateStored }) => validateStored),
    ...historyProviders.filter(({ sanityChecks }) => sanityChecks),
  ].map(({ attribution }) => attribution)

  return (own) => {
    const since = firstComparedDay(runtime.now())
    const isOther = ({ attribution }: Pick<LatestSnapshot, 'attribution'>): boolean =>
      !isSameSource(attribution, own) && checked.some((each) => isSameSource(each, attribution))
    const days = histories().filter((each) => each !== undefined)
    return [
      ...tablesOf(latest())
        .filter(isOther)
        .map(({ table }) => recentTable(table, since)),
      ...days.filter(isOther).map(({ history }) => newestRates(history, since)),
    ].filter(({ rates }) => rates.size > 0)
  }
}

function recentTable(table: RateTable, since: Day): ReferenceTable {
  const { base, updatedAt, older, derived, unconfirmed } = table
  const isRecent = ([code]: [string, number]): boolean =>
    toDay(older?.[code]?.updatedAt ?? updatedAt) >= since && !derived?.[code]
  return { base, unconfirmed, rates: new Map([...table.rates].filter(isRecent)) }
}

/** Returns the newest rate of each currency: the newest day lacks those that are quarantined. */
function newestRates(history: MarketHistory, since: Day): ReferenceTable {
  const { base, priced, derived } = history
  const [first] = rowsOf(history, since, since)
  const quotes = marketDays(history, first).flatMap(({ rates }) => [...rates])
  const published = quotes.filter(([code]) => !derived?.[code])
  return {
    base,
    rates: new Map(published.map(([code, quote]) => [code, priced?.has(code) ? 1 / quote : quote])),
  }
}

const MIN_RETRY_AFTER_SECONDS = 1

/** @throws {RatesError} `provider_unavailable` */
function readOrUnavailable<Value>(
  source: ReadThrough<Value>,
  request: RequestOptions | undefined,
): ResultOrPromise<Value> {
  try {
    const result = source.get(request)
    return result instanceof Promise ? result.catch(throwUnavailable) : result
  } catch (error) {
    return throwUnavailable(error)
  }
}

/** @throws {RatesError} `provider_unavailable` */
function throwUnavailable(error: unknown): never {
  const seconds = error instanceof UnavailableError ? Math.ceil(error.retryInMs / 1_000) : 0
  throw providerUnavailable(
    Math.min(Math.max(seconds, MIN_RETRY_AFTER_SECONDS), MAX_RETRY_AFTER_SECONDS),
    error,
  )
}

function turnedOff(data: string): RatesError {
  return new RatesError('not_found', 'Not found', { hint: `this service has no ${data}` })
}

/** Without carried-forward rates that are too old; the fallback where only that has all of `codes`. */
function createTableChooser(
  options: SourcesOptions,
): (
  result: CacheResult<LatestSnapshot>,
  codes: (() => readonly string[]) | undefined,
) => CacheResult<LatestSnapshot> {
  const withoutExpired = createExpiry(options)
  return (result, codes) => {
    const value = withoutExpired(result.value)
    const newest = value === result.value ? result : { ...result, value }
    if (!codes || !value.fallback) return newest
    const chosen = chooseTable(newest, codes())
    if (chosen !== newest && chosen.ttl < 0) {
      const overdue = -chosen.ttl * 1_000
      options.emit({ type: 'stale_served', dataSet: 'latest', overdue })
    }
    return chosen
  }
}

function chooseTable(
  newest: CacheResult<LatestSnapshot>,
  codes: readonly string[],
): CacheResult<LatestSnapshot> {
  const fallback = newest.value.fallback?.()
  if (!fallback) return newest
  const { rates } = newest.value.table
  const requested = codes.map((code) => code.toUpperCase())
  const has = (code: string): boolean => fallback.value.table.rates.has(code)
  const isMissing = (code: string): boolean => !rates.has(code) && has(code)
  const isIncomplete = requested.some((code) => rates.has(code) && !has(code))
  if (!requested.some(isMissing) || isIncomplete) return newest
  return { value: fallback.value, hit: true, ttl: Math.floor(timeToRefresh(fallback) / 1_000) }
}

/** Returns the same object as long as nothing changes. */
function createExpiry({
  runtime,
  maxStale,
}: Pick<SourcesOptions, 'runtime' | 'maxStale'>): (snapshot: LatestSnapshot) => LatestSnapshot {
  let last: { input: LatestSnapshot; output: LatestSnapshot; until: number } | undefined
  return (snapshot) => {
    if (!snapshot.table.older) return snapshot
    const now = runtime.now()
    if (last?.input !== snapshot || last.until < now) {
      const table = dropExpired(snapshot.table, now, maxStale.latest)
      const updates = Object.values(table.older ?? {}).map(({ nextUpdateAt }) => nextUpdateAt)
      const output = table === snapshot.table ? snapshot : { ...snapshot, table }
      last = { input: snapshot, output, until: Math.min(...updates) + maxStale.latest }
    }
    return last.output
  }
}
