import { createReadThrough } from '../cache/read-through.ts'
import type { ReadThrough } from '../cache/read-through.ts'
import type { LatestProvider, LatestTable } from '../providers/provider.ts'
import { acceptTable } from '../rates/accept.ts'
import type { AcceptedTable } from '../rates/accept.ts'
import type { RateTable } from '../rates/rate-table.ts'
import { RejectedError } from '../rates/rejected-error.ts'
import { requireObject } from '../rates/require-object.ts'
import { createRound } from './ask.ts'
import type { LatestSnapshot } from './latest-snapshot.ts'
import { reasonOf } from './reason.ts'
import { withReserve } from './reserve.ts'
import type { LatestReading } from './reserve.ts'
import { isSameSource, requireAttribution, sourceHooks } from './source-options.ts'
import type { SourcesOptions } from './source-options.ts'

export type { LatestSnapshot }

/** The feed publishes once a day; an hour more is its grace. In ms. */
const LONGEST_LIFE = 25 * 3_600_000

/** The newest table, fetched once per publication: every base is derived from it. */
export function createLatestSource(options: SourcesOptions): ReadThrough<LatestSnapshot> {
  const { latestProviders: providers, runtime, maxStale, emit } = options
  const askInTurn = createRound(options, 'latest', providers)

  /** The table of an answer, checked; whatever is odd about it is told, but for corrections: those from a store are old. */
  function accept(provider: LatestProvider, answer: LatestTable): AcceptedTable {
    const accepted = acceptTable(answer, runtime.now())
    const { data: table, dropped } = accepted
    const about = { dataSet: 'latest', provider: provider.attribution.name } as const
    const codes = Object.keys(table.unconfirmed ?? {})
    if (dropped.length > 0) emit({ type: 'rates_dropped', ...about, dropped })
    if (codes.length > 0) emit({ type: 'rates_held_back', ...about, codes })
    const { endsAt, check } = answer
    if (Number.isFinite(endsAt)) emit({ type: 'upstream_ending', ...about, endsAt: Number(endsAt) })
    if (check && 'error' in check) {
      emit({ type: 'check_failed', ...about, ...check, reason: reasonOf(check.error) })
    } else if (check && check.deviations.length > 0) {
      emit({ type: 'rates_deviating', ...about, ...check })
    }
    return accepted
  }

  const reading: LatestReading = {
    ...sourceHooks(options, 'latest'),
    maxStale: maxStale.latest,
    publishedAt: ({ table }) => table.updatedAt,
    lifetime: ({ value }) => ({
      nextUpdateAt: value.table.nextUpdateAt,
      longestLife: LONGEST_LIFE,
    }),
    judge(snapshot, usable) {
      const { attribution, table } = snapshot
      const provider = providers.find((each) => isSameSource(each.attribution, attribution))
      if (!provider?.judge) return snapshot
      const judged = provider.judge(toLatestTable(table), previousOf(provider, usable))
      const { updatedAt, nextUpdateAt } = table
      return { attribution, table: accept(provider, { ...judged, updatedAt, nextUpdateAt }).data }
    },
    load: (signal, { held, usable }) =>
      askInTurn({ signal, isAwaited: !usable }, async (provider, context) => {
        const previous = previousOf(provider, usable)
        const answer = await provider.fetchLatest({ ...context, ...(previous && { previous }) })
        // Nothing is told of an answer that nobody takes any more.
        context.signal.throwIfAborted()
        const { data: table, corrections } = accept(provider, answer)
        const { attribution } = provider
        // An upstream behind a cache may answer with yesterday's publication.
        if (held && held.table.updatedAt > table.updatedAt) {
          throw new RejectedError('the publication is older than the one held')
        }
        // A publication that is late is fetched again and again, and told once.
        const isHeld =
          held?.table.updatedAt === table.updatedAt && isSameSource(held.attribution, attribution)
        if (corrections.length > 0 && !isHeld) {
          emit({
            type: 'rates_corrected',
            dataSet: 'latest',
            provider: attribution.name,
            corrections,
          })
        }
        return { table, attribution }
      }),
    form: {
      toData: ({ table, attribution }) => ({ attribution, table: toLatestTable(table) }),
      fromData(data) {
        const { attribution, table } = requireObject(data, 'the stored data are')
        return {
          attribution: requireAttribution(attribution, providers),
          table: acceptTable(table, runtime.now()).data,
        }
      },
    },
  }
  return createReadThrough(withReserve(options, reading))
}

/** What `provider` published before, to compare with: another one's table may have other codes. */
function previousOf(
  { attribution }: LatestProvider,
  usable: LatestSnapshot | undefined,
): LatestTable | undefined {
  const own = [usable, usable?.reserve?.()?.value].find(
    (each) => each && isSameSource(each.attribution, attribution),
  )
  return own && toLatestTable(own.table)
}

function toLatestTable({ rates, ...table }: RateTable): LatestTable {
  return { ...table, rates: Object.fromEntries(rates) }
}
