import { createEntry, isServable, timeToRefresh } from '../cache/entry.ts'
import type { CacheEntry, CacheState } from '../cache/entry.ts'
import type { CacheResult, ReadThroughOptions } from '../cache/read-through.ts'
import { isSameSource, storedIn } from './options.ts'
import type { LatestSnapshot, SourcesOptions } from './options.ts'

/** Options of the read-through of latest rates; `format` is the stored form of one table. */
export interface LatestReadThroughOptions extends Omit<
  ReadThroughOptions<LatestSnapshot>,
  'stored' | 'validateStored'
> {
  /** Like `validateStored` of a read-through, but synchronous. */
  validateStored?(value: LatestSnapshot, state: CacheState<LatestSnapshot>): LatestSnapshot
  format: {
    toData(snapshot: LatestSnapshot): object
    /** Validates plain data; throws where they are invalid. */
    fromData(data: unknown): LatestSnapshot
  }
}

/**
 * Adds a fallback table: when a table is replaced by one of another provider that lacks some of its codes, the replaced
 * table is kept in memory and in the store, as long as it may be served.
 */
export function withFallbackTable(
  options: SourcesOptions,
  { format, ...readThrough }: LatestReadThroughOptions,
): ReadThroughOptions<LatestSnapshot> {
  const { runtime, maxStale, lifetime, load, validateStored = (value) => value } = readThrough

  // Of several tables, the fallback is the one with most of the codes that the snapshot lacks.
  function addFallback(
    { table, attribution }: LatestSnapshot,
    tables: readonly (CacheEntry<LatestSnapshot> | undefined)[],
  ): LatestSnapshot {
    const missing = ({ value }: CacheEntry<LatestSnapshot>): number =>
      isSameSource(value.attribution, attribution) ? 0 : countMissing(value, table.rates)
    const [fallback] = tables
      .filter((each) => each !== undefined)
      .filter((each) => missing(each) > 0)
      .sort((one, other) => missing(other) - missing(one))
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
      return addFallback(await load(signal, state), entriesOf(state.entry))
    },
    validateStored(snapshot, state) {
      const stored = snapshot.fallback?.()
      const trusted =
        stored && orUndefined(() => ({ ...stored, value: validateStored(stored.value, state) }))
      return addFallback(validateStored(snapshot, state), [...entriesOf(state.entry), trusted])
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
        const value = orUndefined(() => format.fromData(reserve))
        const fallback =
          value && createEntry({ value, loadedAt }, lifetime({ value, loadedAt }), runtime)
        return { ...snapshot, fallback: () => fallback }
      },
    }),
  }
}

/** Returns undefined where `open` throws: an invalid stored fallback table does not invalidate the main one. */
function orUndefined<Value>(open: () => Value): Value | undefined {
  try {
    return open()
  } catch {
    return undefined
  }
}

function entriesOf(
  current: CacheEntry<LatestSnapshot> | undefined,
): (CacheEntry<LatestSnapshot> | undefined)[] {
  if (!current) return []
  const { table, attribution, fallback } = current.value
  return [{ ...current, value: { table, attribution } }, fallback?.()]
}

function countMissing({ table }: LatestSnapshot, rates: ReadonlyMap<string, number>): number {
  return [...table.rates.keys()].filter((code) => !rates.has(code)).length
}

/**
 * Returns the table to serve for `codes`, which may be in either case: `newest`, or its fallback where that has a code that
 * `newest` lacks and also all the others.
 */
export function chooseTable(
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
