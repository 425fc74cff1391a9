import type { CacheEntry } from '../cache/cache-entry.ts'
import type { Attribution } from '../providers/provider.ts'
import type { RateTable } from '../rates/rate-table.ts'

/** A table of latest rates and its source. */
export interface LatestSnapshot {
  table: RateTable
  attribution: Attribution
  /** Returns an earlier table of another provider, for codes that `table` lacks; `undefined` once that is too old. */
  fallback?: () => CacheEntry<LatestSnapshot> | undefined
}
