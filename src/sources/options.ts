import type { WaitUntil } from '../async.ts'
import type { CacheEntry } from '../cache/entry.ts'
import type { ReadThroughOptions } from '../cache/read-through.ts'
import { createStoredValue } from '../cache/store.ts'
import type { GuardedStore, StoredValue, StoredValueOptions } from '../cache/store.ts'
import { reasonOf } from '../events.ts'
import type { DataSet, Emit } from '../events.ts'
import type { RateTable } from '../rates/rate-table.ts'
import { RejectedError, requireObject } from '../rates/validate.ts'
import type { Runtime } from '../runtime.ts'
import type { Attribution, HistoryProvider, LatestProvider } from '../upstream/provider.ts'

/** Options of the sources, with every default filled in. */
export interface SourcesOptions {
  /** In order of preference; empty where latest rates are turned off. */
  latestProviders: readonly LatestProvider[]
  /** In order of preference; empty where reference rates are turned off. */
  historyProviders: readonly HistoryProvider[]
  fetch: typeof fetch
  store: GuardedStore | undefined
  /** How long overdue data may be served, in ms. */
  maxStale: { latest: number; history: number }
  waitUntil: WaitUntil | undefined
  runtime: Runtime
  emit: Emit
}

/** Returns the options that all read-throughs share. */
export function sourceHooks(
  { runtime, waitUntil, emit }: SourcesOptions,
  dataSet: DataSet,
): Pick<
  ReadThroughOptions<unknown>,
  'runtime' | 'waitUntil' | 'onRestored' | 'onScheduled' | 'onStale'
> {
  return {
    runtime,
    waitUntil,
    onRestored: (loadedAt) => emit({ type: 'rates_restored', dataSet, loadedAt }),
    onScheduled: (at) => emit({ type: 'refresh_scheduled', dataSet, at }),
    onStale: (overdue) => emit({ type: 'stale_served', dataSet, overdue }),
  }
}

/** Returns the stored value of a data set, or `undefined` without a store. */
export function storedIn<Value>(
  { store, runtime, emit }: SourcesOptions,
  dataSet: DataSet,
  format: Pick<StoredValueOptions<Value>, 'toJson' | 'fromJson'>,
): StoredValue<Value> | undefined {
  if (!store) return undefined
  const onRejected = (error: unknown): void => {
    const reason = reasonOf(error)
    emit({ type: 'rates_rejected', dataSet, origin: 'store', reason, error })
  }
  return createStoredValue({ store, key: `rates:v1:${dataSet}`, runtime, onRejected, ...format })
}

/** Returns whether both name the same source. */
export function isSameSource(one: Attribution, other: Attribution): boolean {
  return one.name === other.name && one.url === other.url
}

/**
 * Returns the attribution of the provider that `stored` names.
 *
 * @throws {RejectedError} where no provider has it: this handler would not have fetched the data
 */
export function requireAttribution(
  stored: unknown,
  providers: readonly { attribution: Attribution }[],
): Attribution {
  const { name, url } = requireObject(stored, 'the stored attribution is')
  const named = { name: String(name), url: String(url) }
  const provider = providers.find(({ attribution }) => isSameSource(attribution, named))
  if (!provider) throw new RejectedError('the source is not one of the configured providers')
  return provider.attribution
}

/** A table of latest rates and its source. */
export interface LatestSnapshot {
  table: RateTable
  attribution: Attribution
  /** Returns an earlier table of another provider, for codes that `table` lacks; `undefined` once that is too old. */
  fallback?: () => CacheEntry<LatestSnapshot> | undefined
}
