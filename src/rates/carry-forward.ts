import { toDay } from './day.ts'
import type { CodedPublications, Publication, RateTable } from './rate-table.ts'
import { quotient } from './rounding.ts'
import { findSuccession } from './withdrawn.ts'

const MAX_UNAVAILABLE = 1_000

/** Current rates when a new table arrives. */
export interface PreviousRates {
  /** Previous table of the same provider, as long as it may be served. */
  previous: RateTable | undefined
  /** All other codes that were ever served or unavailable. */
  seenCodes: Iterable<string>
  /** How long overdue rates may still be served, in ms. */
  maxStale: number
  /** Current time, in ms since the Unix epoch. */
  now: number
}

/** A table completed with earlier rates, and the codes that its publication is the first to lack. */
export interface CompletedTable {
  table: RateTable
  lost: string[]
}

/**
 * Completes `table` with the rates of `previous` for codes that it lacks or has an older rate of, each with the times of its
 * publication. `unusable` codes were published without a usable rate. A code without a rate in either table becomes
 * unavailable. A withdrawn currency that is no longer published is removed.
 */
export function carryForward(
  table: RateTable,
  unusable: readonly string[],
  { previous, seenCodes, maxStale, now }: PreviousRates,
): CompletedTable {
  const rates = new Map(table.rates)
  const older = new Map(Object.entries(table.older ?? {}))
  const lost: string[] = []
  const day = toDay(table.publishedAt)
  const hasEnded = (code: string): boolean =>
    !unusable.includes(code) && findSuccession(code, day) !== undefined
  if (previous) {
    for (const [code, quoted] of previous.rates) {
      const rate = rebased(previous, quoted, table.base)
      if (rate === undefined || hasEnded(code)) continue
      const publication = publicationOf(previous, code)
      const isQuarantined = table.unconfirmed?.[code] !== undefined && rates.get(code) === rate
      // Another process may have missed or quarantined a rate that this one has.
      const isOutdated = (older.get(code)?.updatedAt ?? Infinity) < publication.updatedAt
      if (rates.has(code) && !isQuarantined && !isOutdated) continue
      if (!rates.has(code)) lost.push(code)
      rates.set(code, rate)
      if (publication.updatedAt < table.updatedAt) older.set(code, publication)
      else older.delete(code)
    }
  }
  const known = [...unusable, ...Object.keys(table.unconfirmed ?? {}), ...seenCodes]
  const unavailable = [...(table.unavailable ?? []), ...known].filter(
    (code) => !rates.has(code) && !hasEnded(code),
  )
  const carried = withOlder({ ...table, rates }, Object.fromEntries(older), unavailable)
  return { table: dropExpired(carried, now, maxStale), lost }
}

/** Removes rates of earlier publications that may no longer be served at `now` (ms since the Unix epoch). */
export function dropExpired(table: RateTable, now: number, maxStale: number): RateTable {
  const older = Object.entries(table.older ?? {})
  const expired = older.filter(([, { nextUpdateAt }]) => nextUpdateAt + maxStale < now)
  if (expired.length === 0) return table
  const codes = new Set(expired.map(([code]) => code))
  const left = older.filter(([code]) => !codes.has(code))
  const rates = new Map([...table.rates].filter(([code]) => !codes.has(code)))
  return withOlder({ ...table, rates }, Object.fromEntries(left), [
    ...codes,
    ...(table.unavailable ?? []),
  ])
}

/** Returns `table` with the `updatedAt` of the oldest of its rates of `codes`. */
export function oldestPublication(table: RateTable, codes: readonly string[]): RateTable {
  const { older } = table
  if (!older) return table
  const times = codes.map((code) => older[code]?.updatedAt ?? table.updatedAt)
  const updatedAt = Math.min(table.updatedAt, ...times)
  if (updatedAt === table.updatedAt) return table
  return { ...table, updatedAt, publishedAt: Math.min(updatedAt, table.publishedAt) }
}

function withOlder(
  { older: _older, unavailable: _unavailable, ...table }: RateTable,
  older: CodedPublications,
  unavailable: readonly string[],
): RateTable {
  return {
    ...table,
    ...(Object.keys(older).length > 0 && { older }),
    ...(unavailable.length > 0 && {
      unavailable: [...new Set(unavailable)].slice(0, MAX_UNAVAILABLE),
    }),
  }
}

/** A publication that was dated ahead counts from its acceptance. */
function publicationOf({ older, publishedAt, nextUpdateAt }: RateTable, code: string): Publication {
  return older?.[code] ?? { updatedAt: publishedAt, nextUpdateAt }
}

function rebased(table: RateTable, quoted: number, base: string): number | undefined {
  if (table.base === base) return quoted
  const baseRate = table.rates.get(base)
  return baseRate === undefined ? undefined : quotient(quoted, baseRate)
}
