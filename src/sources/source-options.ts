import { createStoredValue } from '../cache/stored-value.ts'
import type { StoredValue } from '../cache/stored-value.ts'
import type { CacheStore } from '../cache/store.ts'
import type { Emit } from '../events.ts'
import type { Attribution, HistoryProvider, LatestProvider } from '../providers/provider.ts'
import { requireObject } from '../rates/require-object.ts'
import type { Runtime } from '../runtime.ts'

/** What the sources are made from; every default is already in place. */
export interface SourcesOptions {
  /** Asked in this order; the first good answer counts. */
  latestProviders: readonly LatestProvider[]
  /** Asked in this order; the first good answer counts. */
  historyProviders: readonly HistoryProvider[]
  fetch: typeof fetch
  store: CacheStore | undefined
  /** How far past its due time data may still be answered with, in ms. */
  maxStale: { latest: number; history: number }
  waitUntil: ((work: Promise<unknown>) => void) | undefined
  runtime: Runtime
  emit: Emit
}

/** The place of one data set in the store, or `undefined` where there is no store. */
export function storedIn<Value>(
  { store, runtime, emit }: SourcesOptions,
  key: string,
  form: { toData(value: Value): unknown; fromData(data: unknown): Value },
): StoredValue<Value> | undefined {
  if (!store) return undefined
  const onFailure = (operation: 'get' | 'set', error: unknown): void =>
    emit({ type: 'store_failed', operation, key, error })
  return createStoredValue({ store, key, runtime, onFailure, ...form })
}

/** Whether both name the same source. */
export function isSameSource(one: Attribution, other: Attribution): boolean {
  return one.name === other.name && one.url === other.url
}

/**
 * The attribution among those of `providers` that `stored` names.
 *
 * @throws {Error} where it is none of them: the data are not what this handler would have fetched
 */
export function requireAttribution(
  stored: unknown,
  providers: readonly { attribution: Attribution }[],
): Attribution {
  const { name, url } = requireObject(stored, 'the stored attribution is')
  const named = { name: String(name), url: String(url) }
  const provider = providers.find(({ attribution }) => isSameSource(attribution, named))
  if (!provider) throw new Error('the stored data come from none of the configured providers')
  return provider.attribution
}
