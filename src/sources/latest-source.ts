import { createEntry, createReadThrough, isServable } from '../cache/read-through.ts'
import type { ReadThrough, ReadThroughOptions } from '../cache/read-through.ts'
import type { CacheEntry } from '../cache/refresh.ts'
import type { Emit } from '../events.ts'
import { DAY_MS, toDay } from '../rates/dates.ts'
import type { RateTable } from '../rates/rate-table.ts'
import { MIN_EQUAL_DAYS, createEqualDayCounter } from '../rates/repeated-rates.ts'
import { RejectedError, requireObject, validateTable } from '../rates/validate.ts'
import type { ValidatedTable } from '../rates/validate.ts'
import type { LatestProvider, LatestTable, ProviderContext } from '../upstream/provider.ts'
import { createComparison } from './references.ts'
import {
  createFailover,
  isSameSource,
  requireAttribution,
  sourceHooks,
  storedIn,
  tablesOf,
} from './source.ts'
import type { LatestSnapshot, References, SourcesOptions } from './source.ts'

export type { LatestSnapshot }

/** Feeds publish once a day; an hour more allows for delays. In ms. */
const MAX_LIFETIME_MS = 25 * 3_600_000

const CALL_TIMEOUT_MS = 5_000

/** One table, fetched once per publication; other bases are derived from it. */
export function createLatestSource(
  options: SourcesOptions,
  references: References,
): ReadThrough<LatestSnapshot> {
  const { latestProviders: providers, runtime, maxStale } = options
  const failover = createFailover(options, 'latest', providers, {
    timeout: CALL_TIMEOUT_MS,
    isRoot: true,
  })
  const tables = createTableChecks(options, references)
  const readThrough: LatestReadThroughOptions = {
    ...sourceHooks(options, 'latest'),
    maxStale: maxStale.latest,
    publishedAt: ({ table }) => table.publishedAt,
    lifetime({ value: { table } }) {
      const { updatedAt, nextUpdateAt } = table
      // An announced time before the publication says nothing.
      const announced = nextUpdateAt > updatedAt ? nextUpdateAt : updatedAt + DAY_MS
      const { lateAt = announced + DAY_MS } = table
      const next = { due: Math.min(announced, lateAt - DAY_MS), lateAt }
      return { nextUpdateAt, maxLifetime: MAX_LIFETIME_MS, updatedAt, next }
    },
    validateStored: tables.validateStored,
    load: (signal, state) =>
      failover({ signal, isAwaited: !state.current }, (provider, context) =>
        tables.fetch(provider, context, state),
      ),
    format: {
      toData: ({ table, attribution }) => ({ attribution, table: toLatestTable(table) }),
      fromData(data) {
        const { attribution, table } = requireObject(data, 'the stored data are')
        return {
          attribution: requireAttribution(attribution, providers),
          table: validateTable(table, runtime.now()).data,
        }
      },
    },
  }
  return createReadThrough(withFallbackTable(options, readThrough))
}

function createTableChecks(options: SourcesOptions, references: References) {
  const { latestProviders: providers, emit, runtime } = options
  const counters = new Map(providers.map((provider) => [provider, createEqualDayCounter()]))
  const fetchCompared = createComparison(runtime, references)

  function validate(
    provider: LatestProvider,
    published: LatestTable,
    { last, current }: CachedTables,
  ): ValidatedTable {
    const validated = validateTable(published, runtime.now(), {
      previous: ownTable(provider, current),
      seenCodes: seenCodes(last),
      maxStale: options.maxStale.latest,
      isChecked: provider.validateStored !== undefined,
    })
    const equalDays = counters.get(provider)?.(validated.data)
    emitFindings(emit, provider, published, { ...validated, equalDays })
    return validated
  }

  return {
    async fetch(
      provider: LatestProvider,
      context: ProviderContext,
      state: CachedTables,
    ): Promise<LatestSnapshot> {
      const previous = previousOf(provider, state.current)
      const published = await fetchCompared(provider, context, previous)
      // A response that arrives too late is discarded, and emits no events.
      context.signal.throwIfAborted()
      const validated = validate(provider, published, state)
      const snapshot = { table: validated.data, attribution: provider.attribution }
      assertNotOlder(snapshot, state.last)
      emitCorrections(emit, snapshot, validated, state.last)
      return snapshot
    },
    async validateStored({ attribution, table }: LatestSnapshot, state: CachedTables) {
      const provider = providers.find((each) => isSameSource(each.attribution, attribution))
      if (!provider) return { attribution, table }
      const stored = toLatestTable(table)
      const previous = previousOf(provider, state.current)
      const others = references.current(attribution)
      const checked = (await provider.validateStored?.(stored, previous, others)) ?? stored
      const { updatedAt, nextUpdateAt, publishedAt } = table
      const published = { ...checked, updatedAt, nextUpdateAt, publishedAt }
      return { attribution, table: validate(provider, published, state).data }
    },
  }
}

function emitFindings(
  emit: Emit,
  { attribution }: LatestProvider,
  { endsAt }: LatestTable,
  { data, dropped, lost, equalDays: count }: ValidatedTable & { equalDays: number | undefined },
): void {
  const about = { dataSet: 'latest', provider: attribution.name } as const
  const codes = Object.keys(data.unconfirmed ?? {})
  if (dropped.length > 0) emit({ type: 'rates_dropped', ...about, dropped })
  if (lost.length > 0) emit({ type: 'rates_lost', ...about, codes: lost })
  if (codes.length > 0) emit({ type: 'rates_quarantined', ...about, codes })
  const day = toDay(data.updatedAt)
  if (count === MIN_EQUAL_DAYS) emit({ type: 'rates_repeated', ...about, day, count })
  if (Number.isFinite(endsAt)) emit({ type: 'upstream_ending', ...about, endsAt: Number(endsAt) })
}

/** An upstream behind a cache may return yesterday's publication. */
function assertNotOlder({ table }: LatestSnapshot, last: LatestSnapshot | undefined): void {
  if (!last || last.table.publishedAt <= table.publishedAt) return
  throw new RejectedError(`publication of ${toDay(table.publishedAt)} is older than the cached one`)
}

/** While an update is late the same publication is fetched repeatedly, but reported once. */
function emitCorrections(
  emit: Emit,
  { table, attribution }: LatestSnapshot,
  { corrections }: ValidatedTable,
  last: LatestSnapshot | undefined,
): void {
  const isKnown =
    last?.table.updatedAt === table.updatedAt && isSameSource(last.attribution, attribution)
  if (corrections.length === 0 || isKnown) return
  const { name: provider } = attribution
  emit({ type: 'rates_deviating', dataSet: 'latest', provider, corrections })
}

/** The snapshots in memory: `last` of any age, `current` while it may be served. */
interface CachedTables {
  last: LatestSnapshot | undefined
  current: LatestSnapshot | undefined
}

/** Returns the cached table of this provider: one of another provider may have other codes. */
function ownTable(
  { attribution }: LatestProvider,
  current: LatestSnapshot | undefined,
): RateTable | undefined {
  return tablesOf(current).find((each) => isSameSource(each.attribution, attribution))?.table
}

function previousOf(
  provider: LatestProvider,
  current: LatestSnapshot | undefined,
): LatestTable | undefined {
  const own = ownTable(provider, current)
  return own && toLatestTable(own)
}

function seenCodes(last: LatestSnapshot | undefined): string[] {
  return tablesOf(last).flatMap(({ table }) => [
    ...table.rates.keys(),
    ...(table.unavailable ?? []),
  ])
}

function toLatestTable({ rates, prices, ...table }: RateTable): LatestTable {
  const published = prices && { prices: Object.fromEntries(prices) }
  return { ...table, ...published, rates: Object.fromEntries(rates) }
}

interface LatestReadThroughOptions extends Omit<ReadThroughOptions<LatestSnapshot>, 'stored'> {
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
function withFallbackTable(
  options: SourcesOptions,
  { format, ...readThrough }: LatestReadThroughOptions,
): ReadThroughOptions<LatestSnapshot> {
  const { runtime, maxStale, lifetime, load, validateStored = (value) => value } = readThrough

  return {
    ...readThrough,
    async load(signal, state) {
      return addFallback(await load(signal, state), entriesOf(state.entry), maxStale)
    },
    async validateStored(snapshot, state) {
      const stored = snapshot.fallback?.()
      const trusted = await orUndefined(
        async () => stored && { ...stored, value: await validateStored(stored.value, state) },
      )
      const entries = [...entriesOf(state.entry), trusted]
      return addFallback(await validateStored(snapshot, state), entries, maxStale)
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
      async fromJson(json) {
        const data: unknown = JSON.parse(json)
        const snapshot = format.fromData(data)
        const { reserve } = Object(data)
        if (!reserve) return snapshot
        const loadedAt = Math.min(Number(reserve.loadedAt), runtime.now())
        const value = await orUndefined(() => format.fromData(reserve))
        const fallback =
          value && createEntry({ value, loadedAt }, lifetime({ value, loadedAt }), runtime)
        return { ...snapshot, fallback: () => fallback }
      },
    }),
  }
}

/** Of several tables, the fallback is the one with most of the codes that the snapshot lacks. */
function addFallback(
  { table, attribution }: LatestSnapshot,
  tables: readonly (CacheEntry<LatestSnapshot> | undefined)[],
  maxStale: number,
): LatestSnapshot {
  const missing = ({ value }: CacheEntry<LatestSnapshot>): number =>
    isSameSource(value.attribution, attribution) ? 0 : countMissing(value, table.rates)
  const [fallback] = tables
    .filter((each) => each !== undefined)
    .filter((each) => missing(each) > 0)
    .sort((one, other) => missing(other) - missing(one))
  if (!fallback) return { table, attribution }
  const servable = (): CacheEntry<LatestSnapshot> | undefined =>
    isServable(fallback, maxStale) ? fallback : undefined
  return { table, attribution, fallback: servable }
}

/** Returns undefined where `open` throws: an invalid stored fallback table does not invalidate the main one. */
async function orUndefined<Value>(open: () => Value): Promise<Awaited<Value> | undefined> {
  try {
    return await open()
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
