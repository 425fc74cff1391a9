import type { WaitUntil } from '../cache/run-in-background.ts'
import type { GuardedStore } from '../cache/guarded-store.ts'
import type { ReadThroughOptions } from '../cache/read-through.ts'
import { createStoredValue } from '../cache/stored-value.ts'
import type { StoredValue, StoredValueOptions } from '../cache/stored-value.ts'
import type { DataSet, Emit } from '../events.ts'
import type { Attribution, HistoryProvider, LatestProvider } from '../providers/provider.ts'
import { RejectedError } from '../rates/rejected-error.ts'
import { requireObject } from '../rates/require-object.ts'
import type { Runtime } from '../runtime.ts'
import { reasonOf } from './reason.ts'

/** What the sources are made from; every default is already in place. */
export interface SourcesOptions {
  /** Asked in this order, one after or beside the other; the first good answer counts. */
  latestProviders: readonly LatestProvider[]
  /** Asked in this order, one after or beside the other; the first good answer counts. */
  historyProviders: readonly HistoryProvider[]
  fetch: typeof fetch
  store: GuardedStore | undefined
  /** How far past its due time data may still be answered with, in ms. */
  maxStale: { latest: number; history: number }
  waitUntil: WaitUntil | undefined
  runtime: Runtime
  emit: Emit
}

/** What every read-through is given alike. */
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

/** The place of a data set in the store, or `undefined` where there is no store. */
export function storedIn<Value>(
  { store, runtime, emit }: SourcesOptions,
  dataSet: DataSet,
  form: Pick<StoredValueOptions<Value>, 'toJson' | 'fromJson'>,
): StoredValue<Value> | undefined {
  if (!store) return undefined
  const onRejected = (error: unknown): void => {
    const reason = reasonOf(error)
    emit({ type: 'rates_rejected', dataSet, origin: 'store', reason, error })
  }
  return createStoredValue({ store, key: `rates:v1:${dataSet}`, runtime, onRejected, ...form })
}

/** Whether both name the same source. */
export function isSameSource(one: Attribution, other: Attribution): boolean {
  return one.name === other.name && one.url === other.url
}

/**
 * The attribution among those of `providers` that `stored` names.
 *
 * @throws {RejectedError} where it is none of them: the data are not what this handler would have fetched
 */
export function requireAttribution(
  stored: unknown,
  providers: readonly { attribution: Attribution }[],
): Attribution {
  const { name, url } = requireObject(stored, 'the stored attribution is')
  const named = { name: String(name), url: String(url) }
  const provider = providers.find(({ attribution }) => isSameSource(attribution, named))
  if (!provider) throw new RejectedError('they come from none of the configured providers')
  return provider.attribution
}
