import { UnavailableError } from '../cache/single-flight.ts'
import type { Attempt } from '../cache/single-flight.ts'
import { runInBackground } from '../cache/run-in-background.ts'
import { guardStore } from '../cache/guarded-store.ts'
import type {
  ReadThrough,
  ReadThroughState,
  CacheResult,
  RequestOptions,
} from '../cache/read-through.ts'
import type { CacheStore } from '../cache/store.ts'
import { MAX_RETRY_AFTER_SECONDS, RatesError, providerUnavailable } from '../errors.ts'
import { addDays, toDay } from '../rates/day.ts'
import type { Day } from '../rates/day.ts'
import { newestDay, ratesOf } from '../rates/market-history.ts'
import { ALL_DAYS, LAST_FIVE_YEARS, createHistorySource } from './history-source.ts'
import type { HistorySnapshot } from './history-source.ts'
import { createExpiry, createLatestSource } from './latest-source.ts'
import type { LatestSnapshot, Reference } from './latest-source.ts'
import { chooseTable } from './fallback-table.ts'
import { isSameSource } from './source-options.ts'
import type { SourcesOptions } from './source-options.ts'

export type { Attempt, CacheResult, RequestOptions }

/** Reference rates of an earlier day are not compared with latest rates: over Easter none are published for five. */
const MAX_REFERENCE_AGE_DAYS = 10

/** Bounds of `Retry-After`, in seconds. */
const MIN_RETRY_AFTER_SECONDS = 1

/** A reading, at once where it is there already. */
type ResultOrPromise<Value> = CacheResult<Value> | Promise<CacheResult<Value>>

/**
 * What an endpoint may ask for. Both questions reject with a `RatesError`: `provider_unavailable`, or `not_found` where the data
 * set is turned off.
 */
export interface RateSources {
  /**
   * The newest table of latest rates: of those in hand that one which has all the `codes`, in either case, where one has. The
   * others are read only where there is more than one.
   */
  latest(request?: RequestOptions, codes?: () => readonly string[]): ResultOrPromise<LatestSnapshot>
  /** Reference rates that reach back to the day `since`, where there are so early ones; by default five years. */
  history(request?: RequestOptions, since?: Day): ResultOrPromise<HistorySnapshot>
  /** How both stand. */
  state(): SourcesState
  /** Refreshes whatever is due now. Never rejects. */
  refresh(): Promise<void>
  /** The same, behind an answer. */
  refreshInBackground(): void
  /** Ends every load under way; none is started any more. */
  close(): void
}

/** The state of both data sets, read without any request; null for one that is turned off. */
export interface SourcesState {
  latest: ReadThroughState<LatestSnapshot> | null
  history: ReadThroughState<HistorySnapshot> | null
}

/** The sources over the providers and the store of `options`. */
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

  /** The table to answer with, `found` or its reserve, without rates that are too old. */
  function choose(
    found: CacheResult<LatestSnapshot>,
    codes: (() => readonly string[]) | undefined,
  ): CacheResult<LatestSnapshot> {
    const value = withoutExpired(found.value)
    const newest = value === found.value ? found : { ...found, value }
    if (!codes || !value.fallback) return newest
    const chosen = chooseTable(newest, codes())
    const isOverdue = chosen !== newest && chosen.ttl < 0
    if (isOverdue) emit({ type: 'stale_served', dataSet: 'latest', overdue: -chosen.ttl * 1_000 })
    return chosen
  }

  /** Without what nobody has asked for. */
  async function refresh(): Promise<void> {
    await Promise.all([
      hasLatest && latest.refresh(),
      hasHistory && history.refresh(),
      hasHistory && archive.state().value && archive.refresh(),
    ])
  }

  /** The smaller one that surely has `since`. */
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

/** The reference rates in hand, as long as they are recent and those of a real market. */
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
  const pause = error instanceof UnavailableError ? Math.ceil(error.retryInMs / 1_000) : 0
  throw providerUnavailable(
    Math.min(Math.max(pause, MIN_RETRY_AFTER_SECONDS), MAX_RETRY_AFTER_SECONDS),
    error,
  )
}
