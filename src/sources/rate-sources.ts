import { runInBackground } from '../async.ts'
import type {
  CacheResult,
  ReadThrough,
  ReadThroughState,
  RequestOptions,
} from '../cache/read-through.ts'
import { UnavailableError } from '../cache/refresh.ts'
import type { Attempt } from '../cache/refresh.ts'
import { guardStore } from '../cache/store.ts'
import type { CacheStore } from '../cache/store.ts'
import { MAX_RETRY_AFTER_SECONDS, RatesError, providerUnavailable } from '../errors.ts'
import { addDays, toDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { newestDay, ratesOf } from '../rates/market-history.ts'
import { ALL_DAYS, LAST_FIVE_YEARS, createHistorySource } from './history-source.ts'
import type { HistorySnapshot } from './history-source.ts'
import { chooseTable, createExpiry, createLatestSource } from './latest-source.ts'
import type { LatestSnapshot, Reference } from './latest-source.ts'
import { isSameSource } from './source.ts'
import type { SourcesOptions } from './source.ts'

export type { Attempt, CacheResult, RequestOptions }

/** Older reference rates are not compared with latest rates. At Easter, none are published for five days. */
const MAX_REFERENCE_AGE_DAYS = 10

const MIN_RETRY_AFTER_SECONDS = 1

type ResultOrPromise<Value> = CacheResult<Value> | Promise<CacheResult<Value>>

/**
 * The data of all endpoints. `latest` and `history` reject with a `RatesError`: `provider_unavailable`, or `not_found` where
 * the data set is turned off.
 */
export interface RateSources {
  /**
   * Returns the newest table of latest rates, or its fallback where only that has all of `codes` (in either case). `codes`
   * is called only where there is a fallback.
   */
  latest(request?: RequestOptions, codes?: () => readonly string[]): ResultOrPromise<LatestSnapshot>
  /** Returns reference rates back to the day `since`, as far as they exist (default five years). */
  history(request?: RequestOptions, since?: Day): ResultOrPromise<HistorySnapshot>
  state(): SourcesState
  /** Refreshes all data that are due. Never rejects. */
  refresh(): Promise<void>
  /** Refreshes all data that are due, after the response. */
  refreshInBackground(): void
  /** Aborts the loads in progress and starts no others. */
  close(): void
}

/** The state of both data sets, available without a request; null for one that is turned off. */
export interface SourcesState {
  latest: ReadThroughState<LatestSnapshot> | null
  history: ReadThroughState<HistorySnapshot> | null
}

/** Creates the sources over the providers and the store of the options. */
export function createSources({
  store,
  ...given
}: Omit<SourcesOptions, 'store'> & { store: CacheStore | undefined }): RateSources {
  const { runtime, emit } = given
  const guardedStore =
    store &&
    guardStore(store, runtime, (operation, key, error) =>
      emit({ type: 'store_failed', operation, key, error }),
    )
  const options: SourcesOptions = { ...given, store: guardedStore }
  const history = createHistorySource(options, LAST_FIVE_YEARS, () => latest.state().value)
  const archive = createHistorySource(options, ALL_DAYS, () => latest.state().value)
  const latest: ReadThrough<LatestSnapshot> = createLatestSource(options, () =>
    newestReferenceRates(options, history, runtime.now()),
  )
  const withoutExpired = createExpiry(options)
  const hasLatest = options.latestProviders.length > 0
  const hasHistory = options.historyProviders.length > 0

  function choose(
    result: CacheResult<LatestSnapshot>,
    codes: (() => readonly string[]) | undefined,
  ): CacheResult<LatestSnapshot> {
    const value = withoutExpired(result.value)
    const newest = value === result.value ? result : { ...result, value }
    if (!codes || !value.fallback) return newest
    const chosen = chooseTable(newest, codes())
    const isOverdue = chosen !== newest && chosen.ttl < 0
    if (isOverdue) emit({ type: 'stale_served', dataSet: 'latest', overdue: -chosen.ttl * 1_000 })
    return chosen
  }

  async function refresh(): Promise<void> {
    await Promise.all([
      hasLatest && latest.refresh(),
      hasHistory && history.refresh(),
      // The archive only where a request has needed it.
      hasHistory && archive.state().value && archive.refresh(),
    ])
  }

  function sourceSince(since: Day | undefined): ReadThrough<HistorySnapshot> {
    const isRecent = since === undefined || since >= LAST_FIVE_YEARS.startOn(toDay(runtime.now()))
    return isRecent ? history : archive
  }

  return {
    latest(request, codes) {
      if (!hasLatest) throw turnedOff('latest rates')
      const result = read(latest, request)
      return result instanceof Promise
        ? result.then((result) => choose(result, codes))
        : choose(result, codes)
    },
    history(request, since) {
      if (!hasHistory) throw turnedOff('reference rates')
      return read(sourceSince(since), request)
    },
    state: () => ({
      latest: hasLatest ? latest.state() : null,
      history: hasHistory ? history.state() : null,
    }),
    refresh,
    refreshInBackground: () => runInBackground(refresh(), options.waitUntil),
    close() {
      latest.close()
      history.close()
      archive.close()
    },
  }
}

/** Returns the newest cached reference rates, if they are recent and passed sanity checks. */
function newestReferenceRates(
  { historyProviders }: SourcesOptions,
  source: ReadThrough<HistorySnapshot>,
  now: number,
): readonly Reference[] {
  const { value } = source.state()
  const today = toDay(now)
  const day = value && newestDay(value.history, today)
  if (!value || day === undefined || day < addDays(today, -MAX_REFERENCE_AGE_DAYS)) return []
  const { attribution } = value
  const provider = historyProviders.find((each) => isSameSource(each.attribution, attribution))
  if (!provider?.sanityChecks) return []
  const { base } = value.history
  return [{ attribution, base, rates: ratesOf(value.history, day) }]
}

function read<Value>(
  source: ReadThrough<Value>,
  request: RequestOptions | undefined,
): ResultOrPromise<Value> {
  try {
    const result = source.get(request)
    return result instanceof Promise ? result.catch(unavailable) : result
  } catch (error) {
    return unavailable(error)
  }
}

function turnedOff(data: string): RatesError {
  return new RatesError('not_found', 'Not found', { hint: `this service has no ${data}` })
}

function unavailable(error: unknown): never {
  const seconds = error instanceof UnavailableError ? Math.ceil(error.retryInMs / 1_000) : 0
  throw providerUnavailable(
    Math.min(Math.max(seconds, MIN_RETRY_AFTER_SECONDS), MAX_RETRY_AFTER_SECONDS),
    error,
  )
}
