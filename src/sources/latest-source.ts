import { createReadThrough } from '../cache/read-through.ts'
import type { ReadThrough } from '../cache/read-through.ts'
import type {
  Attribution,
  LatestProvider,
  LatestTable,
  ReferenceTable,
} from '../providers/provider.ts'
import { validateTable } from '../rates/validate.ts'
import type { ValidatedTable } from '../rates/validate.ts'
import { dropExpired } from '../rates/carry-forward.ts'
import type { RateTable } from '../rates/rate-table.ts'
import { RejectedError } from '../rates/rejected-error.ts'
import { requireObject } from '../rates/require-object.ts'
import { createFailover } from './failover.ts'
import type { LatestSnapshot } from './latest-snapshot.ts'
import { reasonOf } from './reason.ts'
import { withFallbackTable } from './fallback-table.ts'
import type { LatestReadThroughOptions } from './fallback-table.ts'
import { isSameSource, requireAttribution, sourceHooks } from './source-options.ts'
import type { SourcesOptions } from './source-options.ts'

export type { LatestSnapshot }

/** The feed publishes once a day; an hour more is its grace. In ms. */
const MAX_LIFETIME_MS = 25 * 3_600_000

/**
 * The newest table, fetched once per publication: every base is derived from it. `referenceRates` are those of other data
 * in hand, by who published them.
 */
export function createLatestSource(
  options: SourcesOptions,
  referenceRates: () => readonly Reference[] = () => [],
): ReadThrough<LatestSnapshot> {
  const { latestProviders: providers, runtime, maxStale, emit } = options
  const failover = createFailover(options, 'latest', providers)

  function hasSanityChecks(attribution: Attribution): boolean {
    return !!providerOf(attribution)?.validateStored
  }

  function providerOf(attribution: Attribution): LatestProvider | undefined {
    return providers.find((each) => isSameSource(each.attribution, attribution))
  }

  /** What `provider` compares its table with, beside that of its own. */
  function referencesFor(provider: LatestProvider, current: LatestSnapshot | undefined) {
    const tables = tablesOf(current).filter(({ attribution }) => hasSanityChecks(attribution))
    const inHand = tables.map(({ attribution, table }): Reference => ({ attribution, ...table }))
    return [...inHand, ...referenceRates()].filter(
      ({ attribution }) => !isSameSource(attribution, provider.attribution),
    )
  }

  /** The table of an answer, checked, completed with what is in hand; an event says what is odd about it. */
  function validate(
    provider: LatestProvider,
    answer: LatestTable,
    { last, current }: CachedTables,
  ): ValidatedTable {
    const validated = validateTable(answer, runtime.now(), {
      previous: ownTable(provider, current),
      seenCodes: seenCodes(last),
      maxStale: maxStale.latest,
    })
    const { data: table, dropped, lost } = validated
    const about = { dataSet: 'latest', provider: provider.attribution.name } as const
    const codes = Object.keys(table.unconfirmed ?? {})
    if (dropped.length > 0) emit({ type: 'rates_dropped', ...about, dropped })
    if (lost.length > 0) emit({ type: 'rates_lost', ...about, codes: lost })
    if (codes.length > 0) emit({ type: 'rates_quarantined', ...about, codes })
    const { endsAt, check } = answer
    if (Number.isFinite(endsAt)) emit({ type: 'upstream_ending', ...about, endsAt: Number(endsAt) })
    if (check && 'error' in check) {
      emit({ type: 'check_failed', ...about, ...check, reason: reasonOf(check.error) })
    } else if (check && check.deviations.length > 0) {
      emit({ type: 'rates_deviating', ...about, ...check })
    }
    return validated
  }

  const readThrough: LatestReadThroughOptions = {
    ...sourceHooks(options, 'latest'),
    maxStale: maxStale.latest,
    publishedAt: ({ table }) => table.publishedAt,
    lifetime: ({ value }) => ({
      nextUpdateAt: value.table.nextUpdateAt,
      maxLifetime: MAX_LIFETIME_MS,
    }),
    validateStored({ attribution, table }, { last, current }) {
      const provider = providerOf(attribution)
      if (!provider) return { attribution, table }
      const stored = toLatestTable(table)
      const checked = provider.validateStored
        ? provider.validateStored(
            stored,
            previousOf(provider, current),
            referencesFor(provider, current),
          )
        : stored
      const { updatedAt, nextUpdateAt, publishedAt } = table
      const answer = { ...checked, updatedAt, nextUpdateAt, publishedAt }
      return { attribution, table: validate(provider, answer, { last, current }).data }
    },
    load: (signal, { last, current }) =>
      failover({ signal, isAwaited: !current }, async (provider, context) => {
        const previous = previousOf(provider, current)
        const references = referencesFor(provider, current)
        const compared = { ...context, ...(previous && { previous }), references }
        const answer = await provider.fetchLatest(compared)
        // An answer that came too late is not used, and causes no events.
        context.signal.throwIfAborted()
        const { data: table, corrections } = validate(provider, answer, { last, current })
        const { attribution } = provider
        // An upstream behind a cache may answer with yesterday's publication.
        if (last && last.table.publishedAt > table.publishedAt) {
          throw new RejectedError('the publication is older than the one held')
        }
        // A publication that is late is fetched again and again, and told once.
        const isKnown =
          last?.table.updatedAt === table.updatedAt && isSameSource(last.attribution, attribution)
        if (corrections.length > 0 && !isKnown) {
          emit({
            type: 'rates_corrected',
            dataSet: 'latest',
            provider: attribution.name,
            corrections,
          })
        }
        return { table, attribution }
      }),
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

/** What is in memory when a table arrives. */
interface CachedTables {
  /** However old it is. */
  last: LatestSnapshot | undefined
  /** As long as it may be served. */
  current: LatestSnapshot | undefined
}

/** Rates of other data, and who published them. */
export interface Reference extends ReferenceTable {
  attribution: Attribution
}

/** What `provider` published before, to compare with: another one's table may have other codes. */
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

/** A snapshot and its reserve. */
function tablesOf(snapshot: LatestSnapshot | undefined): LatestSnapshot[] {
  return [snapshot, snapshot?.fallback?.()?.value].filter((each) => each !== undefined)
}

/** Every code of which there was a rate in `held`, or that lacked one already. */
function seenCodes(last: LatestSnapshot | undefined): string[] {
  return tablesOf(last).flatMap(({ table }) => [
    ...table.rates.keys(),
    ...(table.unavailable ?? []),
  ])
}

function toLatestTable({ rates, ...table }: RateTable): LatestTable {
  return { ...table, rates: Object.fromEntries(rates) }
}

/**
 * Takes the rates of earlier publications out of a snapshot once they are too old to be served. Returns the same snapshot
 * for as long as nothing changes.
 */
export function createExpiry({
  runtime,
  maxStale,
}: Pick<SourcesOptions, 'runtime' | 'maxStale'>): (snapshot: LatestSnapshot) => LatestSnapshot {
  let last: { from: LatestSnapshot; made: LatestSnapshot; until: number } | undefined
  return (snapshot) => {
    if (!snapshot.table.older) return snapshot
    const now = runtime.now()
    if (last?.from !== snapshot || last.until < now) {
      const table = dropExpired(snapshot.table, now, maxStale.latest)
      const updates = Object.values(table.older ?? {}).map(({ nextUpdateAt }) => nextUpdateAt)
      const made = table === snapshot.table ? snapshot : { ...snapshot, table }
      last = { from: snapshot, made, until: Math.min(...updates) + maxStale.latest }
    }
    return last.made
  }
}
