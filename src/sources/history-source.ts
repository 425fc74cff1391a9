import { createReadThrough } from '../cache/read-through.ts'
import type { ReadThrough } from '../cache/read-through.ts'
import type {
  Attribution,
  HistoryDays,
  HistoryProvider,
  ProviderContext,
} from '../providers/provider.ts'
import { acceptHistory } from '../rates/accept.ts'
import type { Accepted } from '../rates/accept.ts'
import { addDays, isDay, subtractMonths, toDay } from '../rates/day.ts'
import type { Day } from '../rates/day.ts'
import { marketDays, mergeHistory, newestDay } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { requireObject } from '../rates/require-object.ts'
import { newestPublishedDay, nextPublication } from '../rates/target-calendar.ts'
import { askInTurn } from './ask.ts'
import { isSameSource, requireAttribution, storedIn } from './source-options.ts'
import type { SourcesOptions } from './source-options.ts'

/** The longest period, and enough days before it that its window is whole when nothing was published for a while. */
const MONTHS_KEPT = 60
const DAYS_KEPT_BEFORE = 14

/** The European Central Bank stays closed for five days at the longest, over Easter. In ms. */
const LONGEST_LIFE = 7 * 86_400_000

/** The reference rates of the last five years and who published them. */
export interface HistorySnapshot {
  history: MarketHistory
  attribution: Attribution
  /** The first day that the provider was asked for. */
  start: Day
}

/** The reference rates of the whole market: five years are downloaded once, then only the days that are missing. */
export function createHistorySource(options: SourcesOptions): ReadThrough<HistorySnapshot> {
  const { historyProviders: providers, runtime, maxStale, waitUntil } = options
  return createReadThrough<HistorySnapshot>({
    runtime,
    waitUntil,
    maxStale: maxStale.history,
    lifetime: ({ value, loadedAt }) => ({
      nextUpdateAt: nextUpdate(value.history, loadedAt),
      longestLife: LONGEST_LIFE,
    }),
    load: (signal, held) =>
      askInTurn(options, {
        dataSet: 'history',
        providers,
        signal,
        ask: (provider, context) => update(provider, context, held),
      }),
    stored: storedIn(options, 'rates:v1:history', {
      toData: ({ history, ...snapshot }) => ({ ...snapshot, ...toHistoryDays(history) }),
      fromData(data) {
        const { start, attribution, ...days } = requireObject(data, 'the stored data are')
        const history = acceptHistory(days, runtime.now()).data
        requireDay(history, runtime.now())
        if (typeof start !== 'string' || !isDay(start)) throw new Error('start is not a day')
        return { attribution: requireAttribution(attribution, providers), start, history }
      },
    }),
  })
}

/** Asks for the days that `held` lacks; for all of them where it is another provider's or begins too late. */
async function update(
  provider: HistoryProvider,
  context: ProviderContext,
  held: HistorySnapshot | undefined,
): Promise<Accepted<HistorySnapshot>> {
  const today = toDay(context.now())
  const start = addDays(subtractMonths(today, MONTHS_KEPT), -DAYS_KEPT_BEFORE)
  const isKnown =
    held && isSameSource(held.attribution, provider.attribution) && held.start <= start
  const known = isKnown ? held.history : undefined
  const newest = known && newestDay(known, today)
  const missing = newest === undefined ? start : addDays(newest, 1)
  const range = { start: missing < today ? missing : today, end: today }
  const answer = await provider.fetchHistory(range, context)
  const { data: added, dropped } = acceptHistory(answer, context.now())
  if (known && added.base !== known.base) return update(provider, context, undefined)
  const history = known ? mergeHistory(known, added, start) : added
  requireDay(history, context.now())
  return { data: { history, attribution: provider.attribution, start }, dropped }
}

/** At once, where a publication that was due at `loadedAt` had not arrived; else when the next one is due. */
function nextUpdate(history: MarketHistory, loadedAt: number): number {
  const newest = newestDay(history, toDay(loadedAt)) ?? ''
  return newest < newestPublishedDay(loadedAt) ? loadedAt : nextPublication(loadedAt)
}

function requireDay(history: MarketHistory, now: number): void {
  if (newestDay(history, toDay(now)) === undefined) throw new Error('there is no day up to today')
}

function toHistoryDays(history: MarketHistory): HistoryDays {
  const days = marketDays(history).map(({ date, rates }) => ({
    date,
    rates: Object.fromEntries(rates),
  }))
  return { base: history.base, days }
}
