import { createReadThrough } from '../cache/read-through.ts'
import type { ReadThrough } from '../cache/read-through.ts'
import type {
  Attribution,
  LatestProvider,
  LatestTable,
  ProviderContext,
} from '../providers/provider.ts'
import { acceptTable } from '../rates/accept.ts'
import type { RateTable } from '../rates/rate-table.ts'
import { RejectedError } from '../rates/rejected-error.ts'
import { requireObject } from '../rates/require-object.ts'
import { createRound } from './ask.ts'
import { isSameSource, requireAttribution, sourceHooks, storedIn } from './source-options.ts'
import type { SourcesOptions } from './source-options.ts'

/** The feed publishes once a day; an hour more is its grace. In ms. */
const LONGEST_LIFE = 25 * 3_600_000

/** A table of latest rates and who published it. */
export interface LatestSnapshot {
  table: RateTable
  attribution: Attribution
}

/** The newest table, fetched once per publication: every base is derived from it. */
export function createLatestSource(options: SourcesOptions): ReadThrough<LatestSnapshot> {
  const { latestProviders: providers, runtime, maxStale } = options
  const askInTurn = createRound(options, 'latest', providers)
  return createReadThrough<LatestSnapshot>({
    ...sourceHooks(options, 'latest'),
    maxStale: maxStale.latest,
    publishedAt: ({ table }) => table.updatedAt,
    lifetime: ({ value }) => ({
      nextUpdateAt: value.table.nextUpdateAt,
      longestLife: LONGEST_LIFE,
    }),
    judge({ table, attribution }, usable) {
      const provider = providers.find((each) => isSameSource(each.attribution, attribution))
      const judged = provider?.judge?.(toLatestTable(table), usable && toLatestTable(usable.table))
      return { attribution, table: judged ? acceptTable(judged, runtime.now()).data : table }
    },
    load: (signal, { held, usable }) =>
      askInTurn(signal, async (provider, context) => {
        const previous = usable && { previous: toLatestTable(usable.table) }
        const table = await fetchTable(options, provider, { ...context, ...previous })
        // An upstream behind a cache may answer with yesterday's publication.
        if (held && held.table.updatedAt > table.updatedAt) {
          throw new RejectedError('the publication is older than the one held')
        }
        return { table, attribution: provider.attribution }
      }),
    stored: storedIn(options, 'latest', {
      toData: ({ table, attribution }) => ({ attribution, table: toLatestTable(table) }),
      fromData(data) {
        const { attribution, table } = requireObject(data, 'the stored data are')
        return {
          attribution: requireAttribution(attribution, providers),
          table: acceptTable(table, runtime.now()).data,
        }
      },
    }),
  })
}

/** What the provider answers, checked; whatever is odd about it is told. */
async function fetchTable(
  { emit }: SourcesOptions,
  provider: LatestProvider,
  context: ProviderContext,
): Promise<RateTable> {
  const answer = await provider.fetchLatest(context)
  const { data: table, dropped } = acceptTable(answer, context.now())
  const about = { dataSet: 'latest', provider: provider.attribution.name } as const
  const heldBack = Object.keys(table.unconfirmed ?? {})
  if (dropped.length > 0) emit({ type: 'rates_dropped', ...about, dropped })
  if (heldBack.length > 0) emit({ type: 'rates_held_back', ...about, codes: heldBack })
  if (answer.endsAt) emit({ type: 'upstream_ending', ...about, endsAt: answer.endsAt })
  return table
}

function toLatestTable({ rates, ...table }: RateTable): LatestTable {
  return { ...table, rates: Object.fromEntries(rates) }
}
