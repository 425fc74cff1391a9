import { withTimeout } from '../async.ts'
import type { Runtime } from '../async.ts'
import { toDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { marketDays, rowsOf } from '../rates/market-history.ts'
import type { RateTable, ReferenceTable } from '../rates/rate-table.ts'
import { validateTable } from '../rates/validate.ts'
import type {
  Attribution,
  LatestProvider,
  LatestTable,
  ProviderContext,
} from '../upstream/provider.ts'
import type { HistorySnapshot } from './history.ts'
import { callOnce, firstComparedDay, isSameSource, tablesOf } from './source.ts'
import type { LatestSnapshot, References, SourcesOptions } from './source.ts'

interface InMemory {
  latest(): LatestSnapshot | undefined
  histories(): readonly (HistorySnapshot | undefined)[]
  refreshLatest(): Promise<unknown>
  refreshHistories(except: string | undefined): Promise<unknown>
}

/** How long doubtful rates wait for another source, in ms. */
const LOAD_TIMEOUT_MS = 2_000

/** The last ten days of all sources but one; only published rates that passed sanity checks count. */
export function createReferences(options: SourcesOptions, inMemory: InMemory): References {
  const { latestProviders, historyProviders, runtime } = options
  const feeds = latestProviders.filter(({ validateStored }) => validateStored)
  const checked = [...feeds, ...historyProviders.filter(({ sanityChecks }) => sanityChecks)]
  /** Tables of feeds that are loaded only for comparison, by name. */
  const compared = new Map<string, LatestSnapshot>()

  async function loadNextFeed(own: Attribution): Promise<void> {
    for (const provider of feeds.filter((each) => !isSameSource(each.attribution, own))) {
      const { signal } = new AbortController()
      const about = {
        dataSet: 'latest',
        timeout: LOAD_TIMEOUT_MS,
        gone: undefined,
        signal,
      } as const
      const callProvider = async (_: unknown, context: ProviderContext): Promise<RateTable> =>
        validateTable(await provider.fetchLatest(context), runtime.now()).data
      try {
        const table = await callOnce(options, { ...about, provider, callProvider })
        compared.set(provider.attribution.name, { table, attribution: provider.attribution })
        return
      } catch {
        // Its event has the reason.
      }
    }
  }

  return {
    current(own) {
      const since = firstComparedDay(runtime.now())
      const isOther = ({ attribution }: Pick<LatestSnapshot, 'attribution'>): boolean =>
        !isSameSource(attribution, own) &&
        checked.some((each) => isSameSource(each.attribution, attribution))
      const newest = new Map<string, LatestSnapshot>()
      for (const each of [...compared.values(), ...tablesOf(inMemory.latest())]) {
        const { name } = each.attribution
        const { updatedAt = 0 } = newest.get(name)?.table ?? {}
        if (each.table.updatedAt >= updatedAt) newest.set(name, each)
      }
      const days = inMemory.histories().filter((each) => each !== undefined)
      return [
        ...[...newest.values()].filter(isOther).map(({ table }) => recentTable(table, since)),
        ...days.filter(isOther).map((each) => newestRates(each, since)),
      ].filter(({ rates }) => rates.size > 0)
    },
    async load(own, id) {
      const other = id === undefined ? loadNextFeed(own) : inMemory.refreshLatest()
      const all = Promise.allSettled([other, inMemory.refreshHistories(id)])
      await withTimeout(runtime, LOAD_TIMEOUT_MS, all).catch(() => undefined)
    },
  }
}

function recentTable(table: RateTable, since: Day): ReferenceTable {
  const { base, updatedAt, older, derived, unconfirmed } = table
  const isRecent = ([code]: [string, number]): boolean =>
    toDay(older?.[code]?.updatedAt ?? updatedAt) >= since && !derived?.[code]
  const quarantined = Object.entries(unconfirmed ?? {}).map(([code, { rate }]) => [code, rate])
  return {
    base,
    unconfirmed: Object.fromEntries(quarantined),
    rates: new Map([...table.rates].filter(isRecent)),
  }
}

/** Returns the newest rate of each currency: the newest day lacks those that are quarantined. */
function newestRates({ history, unconfirmed }: HistorySnapshot, since: Day): ReferenceTable {
  const { base, priced, derived } = history
  const [first] = rowsOf(history, since, since)
  const published = marketDays(history, first).flatMap(({ date, rates }) =>
    [...rates].filter(([code]) => !derived?.get(date)?.[code]),
  )
  return {
    base,
    unconfirmed,
    rates: new Map(published.map(([code, quote]) => [code, priced?.has(code) ? 1 / quote : quote])),
  }
}

/** A slower call leaves no time to wait for other sources, in ms. */
const MAX_CALL_MS = 2_500

/** Creates a function that fetches a table and, for doubtful rates, once per publication, checks it again with other sources. */
export function createComparison({ monotonic }: Runtime, references: References) {
  let comparedLast = ''

  async function compare(
    provider: LatestProvider,
    published: LatestTable,
    previous: LatestTable | undefined,
  ): Promise<LatestTable> {
    const { attribution } = provider
    const publication = `${attribution.name} ${published.updatedAt}`
    if (publication === comparedLast || !provider.validateStored) return published
    const { unconfirmed, ...table } = published
    if (!unconfirmed) {
      if (previous) return published
      const { hasUnusualRates } = await import('../rates/moves.ts')
      if (!hasUnusualRates(table, toDay(table.updatedAt))) return published
    }
    comparedLast = publication
    await references.load(attribution)
    const doubtful = Object.entries(unconfirmed ?? {}).map(([code, { rate }]) => [code, rate])
    const rates = { ...table.rates, ...Object.fromEntries(doubtful) }
    const others = references.current(attribution)
    try {
      return (await provider.validateStored({ ...table, rates }, previous, others)) ?? published
    } catch {
      // Sources that contradict the whole table may be wrong themselves; the doubtful rates stay quarantined.
      return published
    }
  }

  return async function fetchCompared(
    provider: LatestProvider,
    context: ProviderContext,
    previous: LatestTable | undefined,
  ): Promise<LatestTable> {
    const startedAt = monotonic()
    const published = await provider.fetchLatest({
      ...context,
      ...(previous && { previous }),
      references: references.current(provider.attribution),
    })
    const isSlow = monotonic() - startedAt > MAX_CALL_MS
    return isSlow ? published : compare(provider, published, previous)
  }
}
