import { freshFor, hold, isUsable } from '../cache/freshness.ts'
import type { Held } from '../cache/freshness.ts'
import type { ReadThroughOptions, Reading } from '../cache/read-through.ts'
import type { Known } from '../cache/shelf.ts'
import type { LatestSnapshot } from './latest-snapshot.ts'
import { isSameSource, storedIn } from './source-options.ts'
import type { SourcesOptions } from './source-options.ts'

/** How latest rates are read through; `form` is that of one table in a store. */
export interface LatestReading extends Omit<
  ReadThroughOptions<LatestSnapshot>,
  'stored' | 'judge'
> {
  /** As that of a read-through, at once. */
  judge?(value: LatestSnapshot, known: Known<LatestSnapshot>): LatestSnapshot
  form: {
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
export function withReserve(
  options: SourcesOptions,
  { form, ...reading }: LatestReading,
): ReadThroughOptions<LatestSnapshot> {
  const { runtime, maxStale, lifetime, load, judge = (value) => value } = reading

  /** `snapshot` with that one of `tables` which has most of the codes that it lacks, if any has one. */
  function keepBeside(
    { table, attribution }: LatestSnapshot,
    tables: readonly (Held<LatestSnapshot> | undefined)[],
  ): LatestSnapshot {
    const lost = ({ value }: Held<LatestSnapshot>): number =>
      isSameSource(value.attribution, attribution) ? 0 : countBeside(value, table.rates)
    const [kept] = tables
      .filter((each) => each !== undefined)
      .filter((each) => lost(each) > 0)
      .sort((one, other) => lost(other) - lost(one))
    if (!kept) return { table, attribution }
    return { table, attribution, reserve: () => (isUsable(kept, maxStale) ? kept : undefined) }
  }

  return {
    ...reading,
    async load(signal, known) {
      return keepBeside(await load(signal, known), tablesOf(known.current))
    },
    judge(snapshot, known) {
      const stored = snapshot.reserve?.()
      const trusted = stored && orNothing(() => ({ ...stored, value: judge(stored.value, known) }))
      return keepBeside(judge(snapshot, known), [...tablesOf(known.current), trusted])
    },
    stored: storedIn(options, 'latest', {
      toJson(snapshot) {
        const kept = snapshot.reserve?.()
        const reserve = kept && { ...form.toData(kept.value), loadedAt: kept.loadedAt }
        return JSON.stringify({ ...form.toData(snapshot), reserve })
      },
      fromJson(json) {
        const data: unknown = JSON.parse(json)
        const snapshot = form.fromData(data)
        const { reserve } = Object(data)
        if (!reserve) return snapshot
        const loadedAt = Math.min(Number(reserve.loadedAt), runtime.now())
        const value = orNothing(() => form.fromData(reserve))
        const kept = value && hold({ value, loadedAt }, lifetime({ value, loadedAt }), runtime)
        return { ...snapshot, reserve: () => kept }
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
function tablesOf(current: Held<LatestSnapshot> | undefined): (Held<LatestSnapshot> | undefined)[] {
  if (!current) return []
  const { table, attribution, reserve } = current.value
  return [{ ...current, value: { table, attribution } }, reserve?.()]
}

/** How many codes `value` has beside those of `rates`. */
function countBeside({ table }: LatestSnapshot, rates: ReadonlyMap<string, number>): number {
  return [...table.rates.keys()].filter((code) => !rates.has(code)).length
}

/**
 * The reading of the newest table that has all of `codes`, in either case: `newest`, unless its reserve has what that lacks
 * and all else that it has.
 */
export function readingWith(
  newest: Reading<LatestSnapshot>,
  codes: readonly string[],
): Reading<LatestSnapshot> {
  const kept = newest.value.reserve?.()
  if (!kept) return newest
  const { rates } = newest.value.table
  const asked = codes.map((code) => code.toUpperCase())
  const has = (code: string): boolean => kept.value.table.rates.has(code)
  const isLost = (code: string): boolean => !rates.has(code) && has(code)
  if (!asked.some(isLost) || asked.some((code) => rates.has(code) && !has(code))) return newest
  return { value: kept.value, hit: true, ttl: Math.floor(freshFor(kept) / 1_000) }
}
