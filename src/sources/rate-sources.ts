import { loadOnce, runInBackground } from '../async.ts'
import { timeLeft } from '../cache/read-through.ts'
import type {
  CacheResult,
  ReadThrough,
  ReadThroughState,
  RequestOptions,
} from '../cache/read-through.ts'
import type { Attempt } from '../cache/refresh.ts'
import { guardStore } from '../cache/store.ts'
import type { CacheStore, OnStoreFailure } from '../cache/store.ts'
import { RatesError } from '../errors.ts'
import { dropExpired } from '../rates/rate-table.ts'
import type { HistoryProvider } from '../upstream/provider.ts'
import type { Histories, Range } from './histories.ts'
import type {
  HistoryNeed,
  HistoryRequest,
  HistorySnapshot,
  PublicationState,
  ResultOrPromise,
} from './history.ts'
import { createLatestSource } from './latest-source.ts'
import { createReferences } from './references.ts'
import { inTime, unavailable } from './source.ts'
import type { LatestSnapshot, References, SourcesOptions } from './source.ts'

export type { Attempt, CacheResult, HistoryNeed, HistoryRequest, PublicationState, RequestOptions }

/** `latest` and `history` reject with `provider_unavailable`, or `not_found` where the data set is turned off. */
export interface RateSources {
  readonly historyProviders: readonly HistoryProvider[]
  /** Whether a provider declares its publication: then responses name the publications. */
  readonly isAnyDeclared: boolean
  /** Its fallback where only that has all of `codes` (either case), which is called only where there is a fallback. */
  latest(request?: RequestOptions, codes?: () => readonly string[]): ResultOrPromise<LatestSnapshot>
  history: Histories['use']
  /**
   * @throws {RatesError} `not_found` where the data set is turned off; as `Histories.ranges` does
   */
  ranges(source: string | undefined): Promise<readonly Range[]>
  /** Settles like `work`, but rejects with `provider_unavailable` after 5 s. */
  inTime<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result>
  /** Loads the newest days of all publications. Never rejects. */
  loadPublications(): Promise<void>
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
  /** In order of preference. */
  publications: readonly PublicationState[]
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
    histories: () => histories.publications().map(({ newest }) => newest.value),
    refreshLatest: async () => hasLatest && latest.refresh(),
    refreshHistories: async (except) => hasHistory && histories.refresh(except),
  })
  const latest: ReadThrough<LatestSnapshot> = createLatestSource(options, references)
  const histories = createLazyHistories(options, references)
  const choose = createTableChooser(options)
  const hasLatest = options.latestProviders.length > 0
  const hasHistory = options.historyProviders.length > 0

  async function refresh(): Promise<void> {
    await Promise.all([hasLatest && latest.refresh(), hasHistory && histories.refresh()])
  }

  return {
    historyProviders: options.historyProviders,
    isAnyDeclared: options.historyProviders.some(({ publication }) => publication),
    latest(request, codes) {
      if (!hasLatest) throw turnedOff('latest rates')
      const result = latest.current() ?? loadLatest(latest, request)
      return result instanceof Promise
        ? result.then((result) => choose(result, codes))
        : choose(result, codes)
    },
    history: histories.use,
    ranges: histories.ranges,
    inTime: (work, signal) => inTime(runtime, work, signal),
    loadPublications: histories.load,
    state() {
      const publications = histories.publications()
      const history = hasHistory ? (publications[0]?.newest ?? histories.whileLoading()) : null
      return { latest: hasLatest ? latest.state() : null, history, publications }
    },
    refresh,
    refreshInBackground: () => runInBackground(refresh(), options.waitUntil),
    close() {
      latest.close()
      histories.close()
    },
  }
}

/** Loads the code of reference rates when they are first needed: many apps need none. */
function createLazyHistories(options: SourcesOptions, references: References) {
  const { runtime } = options
  let loaded: Histories | undefined
  let attempt: Attempt | undefined
  let isClosed = false

  const load = loadOnce(async () => {
    attempt = { at: runtime.now(), outcome: 'running' }
    const { createHistories } = await import('./histories.ts')
    loaded = createHistories(options, references)
    if (isClosed) loaded.close()
    return loaded
  })

  function requireProviders(): void {
    if (options.historyProviders.length === 0) throw turnedOff('reference rates')
  }

  const histories: Omit<Histories, 'ranges'> & Pick<RateSources, 'ranges'> = {
    use(need, request, use) {
      requireProviders()
      if (loaded) return loaded.use(need, request, use)
      if (!request?.defer) return load().then((histories) => histories.use(need, request, use))
      request.defer.start('', load)
      throw unavailable(undefined)
    },
    async ranges(source) {
      requireProviders()
      return (await load()).ranges(source)
    },
    publications: () => loaded?.publications() ?? [],
    load: async () => (await load()).load(),
    refresh: async (except) => (await load()).refresh(except),
    close() {
      isClosed = true
      loaded?.close()
    },
  }
  return {
    ...histories,
    whileLoading: (): ReadThroughState<HistorySnapshot> => {
      const empty = { value: undefined, stale: false, isLate: false }
      return { ...empty, lastAttempt: attempt, nextAttemptAt: runtime.now() }
    },
  }
}

/** @throws {RatesError} `provider_unavailable` */
async function loadLatest(
  latest: ReadThrough<LatestSnapshot>,
  request: RequestOptions | undefined,
): Promise<CacheResult<LatestSnapshot>> {
  try {
    return await latest.get(request)
  } catch (error) {
    throw unavailable(error)
  }
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
  return { value: fallback.value, hit: true, ttl: Math.floor(timeLeft(fallback) / 1_000) }
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
