import { createReadThrough } from '../cache/read-through.ts'
import type { ReadThrough } from '../cache/read-through.ts'
import type { Attribution, LatestTable } from '../providers/provider.ts'
import { acceptTable } from '../rates/accept.ts'
import type { RateTable } from '../rates/rate-table.ts'
import { requireObject } from '../rates/require-object.ts'
import { askInTurn } from './ask.ts'
import { requireAttribution, storedIn } from './source-options.ts'
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
  const { latestProviders: providers, runtime, maxStale, waitUntil } = options
  return createReadThrough<LatestSnapshot>({
    runtime,
    waitUntil,
    maxStale: maxStale.latest,
    lifetime: ({ value }) => ({
      nextUpdateAt: value.table.nextUpdateAt,
      longestLife: LONGEST_LIFE,
    }),
    load: (signal, held) =>
      askInTurn(options, {
        dataSet: 'latest',
        providers,
        signal,
        async ask(provider, context) {
          const previous = held && { previous: toLatestTable(held.table) }
          const answer = await provider.fetchLatest({ ...context, ...previous })
          const { data: table, dropped } = acceptTable(answer, runtime.now())
          // An upstream behind a cache may answer with yesterday's publication.
          if (held && held.table.updatedAt > table.updatedAt) {
            throw new Error('the publication is older than the one held')
          }
          return { data: { table, attribution: provider.attribution }, dropped }
        },
      }),
    stored: storedIn(options, 'rates:v1:latest', {
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

function toLatestTable({ rates, ...table }: RateTable): LatestTable {
  return { ...table, rates: Object.fromEntries(rates) }
}
