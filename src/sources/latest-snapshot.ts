import type { CacheEntry } from '../cache/cache-entry.ts'
import type { Attribution } from '../providers/provider.ts'
import type { RateTable } from '../rates/rate-table.ts'

/** A table of latest rates and who published it. */
export interface LatestSnapshot {
  table: RateTable
  attribution: Attribution
  /** What another provider published before, for codes that this table lacks; `undefined` once that is too old. */
  fallback?: () => CacheEntry<LatestSnapshot> | undefined
}
