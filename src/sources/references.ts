import { addDays, toDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { marketDays, rowsOf } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import type { RateTable, ReferenceTable } from '../rates/rate-table.ts'
import type { Attribution } from '../upstream/provider.ts'
import { tablesOf } from './latest-source.ts'
import { isSameSource } from './source.ts'
import type { LatestSnapshot, References, SourcesOptions } from './source.ts'

/** Older rates are not compared. At Easter, none are published for five days. */
const MAX_AGE_DAYS = 10

interface Days {
  history: MarketHistory
  attribution: Attribution
}

/** The data in memory that may be served. */
interface InMemory {
  latest(): LatestSnapshot | undefined
  /** Returns the newest days of each publication. */
  histories(): readonly (Days | undefined)[]
}

/**
 * Returns a function that returns the rates of the last ten days of all sources but one. Only rates that were published and
 * passed sanity checks count.
 */
export function createReferences(
  { latestProviders, historyProviders, runtime }: SourcesOptions,
  { latest, histories }: InMemory,
): References {
  const checked = [
    ...latestProviders.filter(({ validateStored }) => validateStored),
    ...historyProviders.filter(({ sanityChecks }) => sanityChecks),
  ].map(({ attribution }) => attribution)

  return (own) => {
    const since = firstComparedDay(runtime.now())
    const isOther = ({ attribution }: Pick<Days, 'attribution'>): boolean =>
      !isSameSource(attribution, own) && checked.some((each) => isSameSource(each, attribution))
    const days = histories().filter((each) => each !== undefined)
    return [
      ...tablesOf(latest())
        .filter(isOther)
        .map(({ table }) => recentTable(table, since)),
      ...days.filter(isOther).map(({ history }) => newestRates(history, since)),
    ].filter(({ rates }) => rates.size > 0)
  }
}

/** Returns the first day whose rates are compared with those of other sources. */
export function firstComparedDay(now: number): Day {
  return addDays(toDay(now), -MAX_AGE_DAYS)
}

function recentTable(table: RateTable, since: Day): ReferenceTable {
  const { base, updatedAt, older, derived, unconfirmed } = table
  const isRecent = ([code]: [string, number]): boolean =>
    toDay(older?.[code]?.updatedAt ?? updatedAt) >= since && !derived?.[code]
  return { base, unconfirmed, rates: new Map([...table.rates].filter(isRecent)) }
}

/** Returns the newest rate of each currency: the newest day lacks those that are quarantined. */
function newestRates(history: MarketHistory, since: Day): ReferenceTable {
  const { base, priced, derived } = history
  const [first] = rowsOf(history, since, since)
  const quotes = marketDays(history, first).flatMap(({ rates }) => [...rates])
  const published = quotes.filter(([code]) => !derived?.[code])
  return {
    base,
    rates: new Map(published.map(([code, quote]) => [code, priced?.has(code) ? 1 / quote : quote])),
  }
}
