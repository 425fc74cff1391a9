import { timeToRefresh, createEntry, isServable } from '../cache/cache-entry.ts'
import type { CacheEntry } from '../cache/cache-entry.ts'
import type { ReadThroughOptions, CacheResult } from '../cache/read-through.ts'
import type { CacheState } from '../cache/value-cache.ts'
import type { LatestSnapshot } from './latest-snapshot.ts'
import { isSameSource, storedIn } from './source-options.ts'
import type { SourcesOptions } from './source-options.ts'

/** How latest rates are read through; `form` is that of one table in a store. */
export interface LatestReadThroughOptions extends Omit<
  ReadThroughOptions<LatestSnapshot>,
  'stored' | 'validateStored'
> {
  /** As that of a read-through, at once. */
  validateStored?(value: LatestSnapshot, state: CacheState<LatestSnapshot>): LatestSnapshot
  format: {
    /** The table as plain data for JSON. */
    toData(snapshot: LatestSnapshot): object
    /** The table again; throws where the data are not to be trusted. */
    fromData(data: unknown): LatestSnapshot
  }
}

/**
 * The same with a reserve: a table that gives way to another provider's without some of its codes is kept beside that, in
 * memory and in the store, for as long as it may be answered with.
 */
export function withFallbackTable(
  options: SourcesOptions,
  { format, ...readThrough }: LatestReadThroughOptions,
): ReadThroughOptions<LatestSnapshot> {
  const { runtime, maxStale, lifetime, load, validateStored = (value) => value } = readThrough

  /** `snapshot` with that one of `tables` which has most of the codes that it lacks, if any has one. */
  function addFallback(
    { table, attribution }: LatestSnapshot,
    tables: readonly (CacheEntry<LatestSnapshot> | undefined)[],
  ): LatestSnapshot {
    const lost = ({ value }: CacheEntry<LatestSnapshot>): number =>
      isSameSource(value.attribution, attribution) ? 0 : countMissing(value, table.rates)
    const [fallback] = tables
      .filter((each) => each !== undefined)
      .filter((each) => lost(each) > 0)
      .sort((one, other) => lost(other) - lost(one))
    if (!fallback) return { table, attribution }
    return {
      table,
      attribution,
      fallback: () => (isServable(fallback, maxStale) ? fallback : undefined),
    }
  }

  return {
    ...readThrough,
    async load(signal, state) {
      return addFallback(await load(signal, state), tablesOf(state.entry))
    },
    validateStored(snapshot, state) {
      const stored = snapshot.fallback?.()
      const trusted =
        stored && orNothing(() => ({ ...stored, value: validateStored(stored.value, state) }))
      return addFallback(validateStored(snapshot, state), [...tablesOf(state.entry), trusted])
    },
    stored: storedIn(options, 'latest', {
      toJson(snapshot) {
        const fallback = snapshot.fallback?.()
        const reserve = fallback && {
          ...format.toData(fallback.value),
          loadedAt: fallback.loadedAt,
        }
        return JSON.stringify({ ...format.toData(snapshot), reserve })
      },
      fromJson(json) {
        const data: unknown = JSON.parse(json)
        const snapshot = format.fromData(data)
        const { reserve } = Object(data)
        if (!reserve) return snapshot
        const loadedAt = Math.min(Number(reserve.loadedAt), runtime.now())
        const value = orNothing(() => format.fromData(reserve))
        const fallback =
          value && createEntry({ value, loadedAt }, lifetime({ value, loadedAt }), runtime)
        return { ...snapshot, fallback: () => fallback }
      },
    }),
  }
}

/** What a stored reserve comes to, unless it is not to be trusted: the table beside it is none the worse for that. */
function orNothing<Value>(open: () => Value): Value | undefined {
  try {
    return open()
  } catch {
    return undefined
  }
}

/** What is held, without its reserve, and that. */
function tablesOf(
  current: CacheEntry<LatestSnapshot> | undefined,
): (CacheEntry<LatestSnapshot> | undefined)[] {
  if (!current) return []
  const { table, attribution, fallback: reserve } = current.value
  return [{ ...current, value: { table, attribution } }, reserve?.()]
}

/** How many codes `value` has beside those of `rates`. */
function countMissing({ table }: LatestSnapshot, rates: ReadonlyMap<string, number>): number {
  return [...table.rates.keys()].filter((code) => !rates.has(code)).length
}

/**
 * The reading of the newest table that has all of `codes`, in either case: `newest`, unless its reserve has what that lacks
 * and all else that it has.
 */
export function chooseTable(
  newest: CacheResult<LatestSnapshot>,
  codes: readonly string[],
): CacheResult<LatestSnapshot> {
  const fallback = newest.value.fallback?.()
  if (!fallback) return newest
  const { rates } = newest.value.table
  const asked = codes.map((code) => code.toUpperCase())
  const has = (code: string): boolean => fallback.value.table.rates.has(code)
  const isLost = (code: string): boolean => !rates.has(code) && has(code)
  if (!asked.some(isLost) || asked.some((code) => rates.has(code) && !has(code))) return newest
  return { value: fallback.value, hit: true, ttl: Math.floor(timeToRefresh(fallback) / 1_000) }
}
