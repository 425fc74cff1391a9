import { createReadThrough } from '../cache/read-through.ts'
import type { ReadThrough } from '../cache/read-through.ts'
import type { Attribution, HistoryProvider, ProviderContext } from '../providers/provider.ts'
import { acceptHistoryInSlices } from '../rates/accept.ts'
import { addDays, isDay, subtractMonths, toDay, toInstant } from '../rates/day.ts'
import type { Day } from '../rates/day.ts'
import { findJumps } from '../rates/jumps.ts'
import { parseLongJson } from '../rates/long-json.ts'
import type { LongJson } from '../rates/long-json.ts'
import { marketDays, mergeHistory, newestDay } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { RejectedError } from '../rates/rejected-error.ts'
import { requireObject } from '../rates/require-object.ts'
import { runInSlices } from '../rates/slices.ts'
import type { Slices } from '../rates/slices.ts'
import { FIRST_REFERENCE_DAY, nextLook } from '../rates/target-calendar.ts'
import { createRound } from './ask.ts'
import { isSameSource, requireAttribution, sourceHooks, storedIn } from './source-options.ts'
import type { SourcesOptions } from './source-options.ts'

/** The longest period, and enough days before it that its window is whole when nothing was published for a while. */
const MONTHS_KEPT = 60
const DAYS_KEPT_BEFORE = 14

/** The European Central Bank stays closed for five days at the longest, over Easter. In ms. */
const LONGEST_LIFE = 7 * 86_400_000

/** Reference rates and who published them. */
export interface HistorySnapshot {
  history: MarketHistory
  attribution: Attribution
  /** The first day that the provider was asked for. */
  start: Day
}

/** How far back reference rates are held. */
export interface Reach {
  dataSet: 'history' | 'archive'
  /** The first day of what is downloaded on the day `today`. */
  startOn(today: Day): Day
}

/** What every period needs. */
export const LAST_FIVE_YEARS: Reach = {
  dataSet: 'history',
  startOn: (today) => addDays(subtractMonths(today, MONTHS_KEPT), -DAYS_KEPT_BEFORE),
}

/** Every day that there are reference rates of. */
export const ALL_DAYS: Reach = { dataSet: 'archive', startOn: () => FIRST_REFERENCE_DAY }

/** The reference rates of the whole market: downloaded once as far back as `reach` says, then only the days that are missing. */
export function createHistorySource(
  options: SourcesOptions,
  reach: Reach,
): ReadThrough<HistorySnapshot> {
  const { historyProviders: providers, runtime, maxStale } = options
  const { dataSet } = reach
  const askInTurn = createRound(options, dataSet, providers)

  function newest(history: MarketHistory): Day | undefined {
    return newestDay(history, toDay(runtime.now()))
  }

  return createReadThrough<HistorySnapshot>({
    ...sourceHooks(options, dataSet),
    maxStale: maxStale.history,
    publishedAt: ({ history }) => toInstant(newest(history) ?? ''),
    lifetime: ({ value, loadedAt }) => ({
      nextUpdateAt: nextLook(newestDay(value.history, toDay(loadedAt)) ?? '', loadedAt),
      longestLife: LONGEST_LIFE,
    }),
    load: (signal, { held, usable }) =>
      askInTurn({ signal, isAwaited: !usable }, async (provider, context) => {
        const snapshot = await update({ options, reach, provider, context }, usable)
        const { history } = snapshot
        requireDay(history, context.now())
        if (held && (newest(held.history) ?? '') > (newest(history) ?? '')) {
          throw new RejectedError('the newest day is older than the one held')
        }
        return snapshot
      }),
    stored: storedIn(options, dataSet, {
      toJson: (snapshot) => runInSlices(snapshotJson(snapshot), runtime.yieldToEventLoop),
      async fromJson(json) {
        const data = await runInSlices(parseLongJson(json, SNAPSHOT), runtime.yieldToEventLoop)
        const { start, attribution, ...days } = requireObject(data, 'the stored data are')
        const accepted = acceptHistoryInSlices(days, runtime.now())
        const { data: history } = await runInSlices(accepted, runtime.yieldToEventLoop)
        requireDay(history, runtime.now())
        if (typeof start !== 'string' || !isDay(start))
          throw new RejectedError('start is not a day')
        return { attribution: requireAttribution(attribution, providers), start, history }
      },
    }),
  })
}

/** A question to a provider. */
interface Update {
  options: SourcesOptions
  reach: Reach
  provider: HistoryProvider
  context: ProviderContext
}

/** Asks for the days that `held` lacks; for all of them where it is another provider's or begins too late. */
async function update(asking: Update, held: HistorySnapshot | undefined): Promise<HistorySnapshot> {
  const { options, reach, provider, context } = asking
  const today = toDay(context.now())
  const start = reach.startOn(today)
  const isKnown =
    held && isSameSource(held.attribution, provider.attribution) && held.start <= start
  const known = isKnown ? held.history : undefined
  const newest = known && newestDay(known, today)
  const missing = newest === undefined ? start : addDays(newest, 1)
  const range = { start: missing < today ? missing : today, end: today }
  const added = await fetchDays(asking, range)
  if (known && added.base !== known.base) return update(asking, undefined)
  const history = known ? mergeHistory(known, added, start) : added
  const jumps = findJumps(history, range.start)
  const about = { dataSet: reach.dataSet, provider: provider.attribution.name }
  if (jumps.length > 0) options.emit({ type: 'rates_jumped', ...about, jumps })
  return { history, attribution: provider.attribution, start }
}

/** What the provider answers, checked; whatever was left out of it is told. */
async function fetchDays(
  { options, reach, provider, context }: Update,
  range: { start: Day; end: Day },
): Promise<MarketHistory> {
  const answer = await provider.fetchHistory(range, context)
  // Nothing is told of an answer that nobody takes any more.
  context.signal.throwIfAborted()
  const checks = acceptHistoryInSlices(answer, context.now())
  const { data, dropped } = await runInSlices(
    checks,
    options.runtime.yieldToEventLoop,
    context.signal,
  )
  const about = { dataSet: reach.dataSet, provider: provider.attribution.name }
  if (dropped.length > 0) options.emit({ type: 'rates_dropped', ...about, dropped })
  return data
}

function requireDay(history: MarketHistory, now: number): void {
  if (newestDay(history, toDay(now)) === undefined)
    throw new RejectedError('there is no day up to today')
}

/** How snapshots are stored: `{"attribution":{…},"start":"1999-01-04","base":"EUR","days":[…]}`. */
const SNAPSHOT: LongJson = {
  opening: '"days":[',
  closing: ']}',
  itemsOf: (data) => Object(data).days,
  withItems: (data, parts) => ({ ...Object(data), days: parts.flat() }),
}

/** Five years of days are written at once; of more, this many before each pause, in a few ms. */
const DAYS_AT_ONCE = 2_000
const DAYS_PER_SLICE = 500

/** `snapshot` as JSON. */
function* snapshotJson({ history, ...about }: HistorySnapshot): Slices<string> {
  const { length } = history.dates
  const isLong = length > DAYS_AT_ONCE
  const perSlice = isLong ? DAYS_PER_SLICE : DAYS_AT_ONCE
  const parts: string[] = []
  for (let first = 0; first < length; first += perSlice) {
    if (isLong) yield
    const days = marketDays(history, first, first + perSlice)
    const plain = days.map(({ date, rates }) => ({ date, rates: Object.fromEntries(rates) }))
    parts.push(JSON.stringify(plain).slice(1, -1))
  }
  const head = JSON.stringify({ ...about, base: history.base })
  return `${head.slice(0, -1)},"days":[${parts.join()}]}`
}
