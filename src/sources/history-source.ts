import { createReadThrough } from '../cache/read-through.ts'
import type { ReadThrough } from '../cache/read-through.ts'
import type { Attribution, HistoryProvider, ProviderContext } from '../providers/provider.ts'
import { validateHistoryInSlices } from '../rates/validate.ts'
import { addDays, isDay, subtractMonths, toDay, toInstant } from '../rates/day.ts'
import type { Day } from '../rates/day.ts'
import { checkHistory } from '../rates/history-checks.ts'
import type { CheckedHistory, HistoryToCheck } from '../rates/history-checks.ts'
import { parseLongJson } from '../rates/long-json.ts'
import type { LongJson } from '../rates/long-json.ts'
import { findRevisions, marketDays, mergeHistory, newestDay } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { MAX_AGREEING_MOVE, moveBetween } from '../rates/plausibility.ts'
import { RejectedError } from '../rates/rejected-error.ts'
import { requireObject } from '../rates/require-object.ts'
import { runInSlices } from '../rates/slices.ts'
import type { Slices } from '../rates/slices.ts'
import { FIRST_REFERENCE_DAY, nextRefresh } from '../rates/target-calendar.ts'
import { createFailover } from './failover.ts'
import type { LatestSnapshot } from './latest-snapshot.ts'
import { isSameSource, requireAttribution, sourceHooks, storedIn } from './source-options.ts'
import type { SourcesOptions } from './source-options.ts'

/** The longest period, and enough days before it that its window is whole when nothing was published for a while. */
const MONTHS_KEPT = 60
const DAYS_KEPT_BEFORE = 14

/** The European Central Bank stays closed for five days at the longest, over Easter. In ms. */
const MAX_LIFETIME_MS = 7 * 86_400_000

/** How many of the newest published days every refresh fetches again: relays make mistakes, and banks correct theirs. */
const DAYS_REFETCHED = 7

/** Latest rates confirm reference rates of the same day, or of the days before it, this many over Easter. */
const MAX_DAYS_NEWER = 5

/** Reference rates and who published them. */
export interface HistorySnapshot {
  history: MarketHistory
  attribution: Attribution
  /** The first day that the provider was asked for. */
  start: Day
  /** The first doubtful day of a whole download or of a store: the next refresh fetches all from there on. */
  doubtfulSince?: Day
}

/** How far back reference rates are held. */
export interface HistoryScope {
  dataSet: 'history' | 'archive'
  /** The first day of what is downloaded on the day `today`. */
  startOn(today: Day): Day
}

/** What every period needs. */
export const LAST_FIVE_YEARS: HistoryScope = {
  dataSet: 'history',
  startOn: (today) => addDays(subtractMonths(today, MONTHS_KEPT), -DAYS_KEPT_BEFORE),
}

/** Every day that there are reference rates of. */
export const ALL_DAYS: HistoryScope = { dataSet: 'archive', startOn: () => FIRST_REFERENCE_DAY }

/**
 * The reference rates of the whole market: downloaded once as far back as `reach` says, then the newest days again and those
 * that are missing. Days of a provider with `sanityChecks` are compared with each other, and with `latest` rates in hand.
 */
export function createHistorySource(
  options: SourcesOptions,
  scope: HistoryScope,
  latest: () => LatestSnapshot | undefined,
): ReadThrough<HistorySnapshot> {
  const { historyProviders: providers, runtime, maxStale } = options
  const { dataSet } = scope
  const failover = createFailover(options, dataSet, providers)
  const checks = createChecks(options, scope, latest)
  const inSlices = <Result>(work: Slices<Result>): Promise<Result> =>
    runInSlices(work, runtime.yieldToEventLoop)

  return createReadThrough<HistorySnapshot>({
    ...sourceHooks(options, dataSet),
    maxStale: maxStale.history,
    publishedAt: ({ history }) => toInstant(newestDay(history, toDay(runtime.now())) ?? ''),
    lifetime: ({ value, loadedAt }) => ({
      nextUpdateAt: nextRefresh(newestDay(value.history, toDay(loadedAt)) ?? '', loadedAt),
      maxLifetime: MAX_LIFETIME_MS,
    }),
    async validateStored(snapshot, { current }) {
      const { history, ...about } = snapshot
      const provider = providers.find((each) => isSameSource(each.attribution, about.attribution))
      if (!provider?.sanityChecks) return snapshot
      const checked = await checks.ofWhole(provider, history)
      requireDay(checked.history, runtime.now(), current?.history)
      return { ...about, ...checked }
    },
    load: (signal, { last, current }) =>
      failover({ signal, isAwaited: !current }, async (provider, context) => {
        const snapshot = await update({ options, reach: scope, checks, provider, context }, current)
        requireDay(snapshot.history, context.now(), last?.history)
        return snapshot
      }),
    stored: storedIn(options, dataSet, {
      toJson: (snapshot) => inSlices(snapshotJson(snapshot)),
      async fromJson(json) {
        const stored = await inSlices(parseLongJson(json, SNAPSHOT))
        const { start, attribution, ...days } = requireObject(stored, 'the stored data are')
        if (typeof start !== 'string' || !isDay(start))
          throw new RejectedError('start is not a day')
        const { data: history } = await inSlices(validateHistoryInSlices(days, runtime.now()))
        requireDay(history, runtime.now())
        return { attribution: requireAttribution(attribution, providers), start, history }
      },
    }),
  })
}

/** A question to a provider. */
interface UpdateContext {
  options: SourcesOptions
  reach: HistoryScope
  checks: Checks
  provider: HistoryProvider
  context: ProviderContext
}

/** Fetches the newest days of `held` again and all after them, or all days where it is another provider's or begins too late. */
async function update(
  updateContext: UpdateContext,
  last: HistorySnapshot | undefined,
): Promise<HistorySnapshot> {
  const { options, reach: scope, checks, provider, context } = updateContext
  const { attribution } = provider
  const today = toDay(context.now())
  const start = scope.startOn(today)
  const isKnown = last && isSameSource(last.attribution, attribution) && last.start <= start
  if (!isKnown) {
    const added = await fetchDays(updateContext, { start, end: today })
    return { attribution, start, ...(await checks.ofWhole(provider, added, context.signal)) }
  }
  const since = firstDayToFetch(last, today) ?? start
  const added = await fetchDays(updateContext, { start: since, end: today })
  if (added.base !== last.history.base) return update(updateContext, undefined)
  const merged = mergeHistory(last.history, added, start)
  const days = { merged, added, previous: last.history }
  const history = await checks.ofUpdate(provider, days, context.signal)
  const { revised, isSame } = findRevisions(last.history, history, added.dates[0] ?? today)
  const about = { dataSet: scope.dataSet, provider: attribution.name }
  if (revised.length > 0) options.emit({ type: 'rates_revised', ...about, revised })
  // What was made of the same rates may be used on.
  return isSame && !last.doubtfulSince ? last : { history, attribution, start }
}

/** The first day that a refresh fetches; `undefined` where all are missing. */
function firstDayToFetch({ history, doubtfulSince }: HistorySnapshot, today: Day): Day | undefined {
  const published = history.dates.filter((date) => date <= today)
  const again = published.at(-DAYS_REFETCHED) ?? published[0]
  return again && doubtfulSince && doubtfulSince < again ? doubtfulSince : again
}

/** The sanity checks of one data set, where its provider has them. What they find is an event. */
interface Checks {
  /** Checks all that a provider or a store has. */
  ofWhole(
    provider: HistoryProvider,
    history: MarketHistory,
    signal?: AbortSignal,
  ): Promise<Pick<HistorySnapshot, 'history' | 'doubtfulSince'>>
  /** Checks days on top of those that are held. */
  ofUpdate(
    provider: HistoryProvider,
    days: HistoryToCheck,
    signal: AbortSignal,
  ): Promise<MarketHistory>
}

function createChecks(
  { emit, runtime }: SourcesOptions,
  { dataSet }: HistoryScope,
  latest: () => LatestSnapshot | undefined,
): Checks {
  let reported: readonly string[] = []

  async function check(
    { attribution }: HistoryProvider,
    days: HistoryToCheck,
    signal?: AbortSignal,
  ): Promise<CheckedHistory> {
    const isAgreed = agreesWith(latest(), attribution, days.added.base)
    const work = checkHistory({ ...days, isAgreed })
    const checked = await runInSlices(work, runtime.yieldToEventLoop, signal)
    const about = { dataSet, provider: attribution.name }
    // The same days are asked for again and again.
    const codes = checked.quarantined.filter((each) => !reported.includes(each))
    reported = checked.quarantined
    if (codes.length > 0) emit({ type: 'rates_quarantined', ...about, codes })
    if (checked.lost.length > 0) emit({ type: 'rates_lost', ...about, codes: checked.lost })
    return checked
  }

  return {
    async ofWhole(provider, history, signal) {
      if (!provider.sanityChecks) return { history }
      const days = { merged: history, added: history, previous: undefined }
      const checked = await check(provider, days, signal)
      const [doubtfulSince] = checked.quarantined.map((each) => each.slice(0, 10)).sort()
      return { history: checked.history, ...(doubtfulSince && { doubtfulSince }) }
    },
    ofUpdate: async (provider, days, signal) =>
      provider.sanityChecks ? (await check(provider, days, signal)).history : days.merged,
  }
}

/** Whether `latest` rates of the same days, from another source than `attribution`, are about the same. */
function agreesWith(
  latest: LatestSnapshot | undefined,
  attribution: Attribution,
  base: string,
): NonNullable<HistoryToCheck['isAgreed']> {
  if (!latest || isSameSource(latest.attribution, attribution)) return () => false
  const { table } = latest
  const day = toDay(table.updatedAt)
  // What either source alone would hold back, both together confirm.
  const quotesOf = (code: string): number[] =>
    [table.rates.get(code), table.unconfirmed?.[code]].filter((rate) => rate !== undefined)
  return (date, code, rate) =>
    date <= day &&
    day <= addDays(date, MAX_DAYS_NEWER) &&
    quotesOf(code).some((quote) =>
      quotesOf(base).some((baseQuote) => moveBetween(rate, quote / baseQuote) <= MAX_AGREEING_MOVE),
    )
}

/** What the provider answers, checked; an event names what was left out of it. */
async function fetchDays(
  { options, reach: scope, provider, context }: UpdateContext,
  range: { start: Day; end: Day },
): Promise<MarketHistory> {
  const answer = await provider.fetchHistory(range, context)
  // An answer that came too late is not used, and causes no events.
  context.signal.throwIfAborted()
  const checks = validateHistoryInSlices(answer, context.now())
  const { data, dropped } = await runInSlices(
    checks,
    options.runtime.yieldToEventLoop,
    context.signal,
  )
  const about = { dataSet: scope.dataSet, provider: provider.attribution.name }
  if (dropped.length > 0) options.emit({ type: 'rates_dropped', ...about, dropped })
  return data
}

/** Requires a day up to today, and none older than the newest one of `held`. */
function requireDay(history: MarketHistory, now: number, last?: MarketHistory): void {
  const newest = newestDay(history, toDay(now))
  if (newest === undefined) throw new RejectedError('there is no day up to today')
  if (last && (newestDay(last, toDay(now)) ?? '') > newest) {
    throw new RejectedError('the newest day is older than the one held')
  }
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
function* snapshotJson({ history, attribution, start }: HistorySnapshot): Slices<string> {
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
  const head = JSON.stringify({ attribution, start, base: history.base })
  return `${head.slice(0, -1)},"days":[${parts.join()}]}`
}
