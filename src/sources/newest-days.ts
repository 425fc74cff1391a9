import { createReadThrough } from '../cache/read-through.ts'
import type { Lifetime, ReadThrough } from '../cache/read-through.ts'
import { daysFrom } from '../rates/calendar.ts'
import {
  DAY_MS,
  ECB_ID,
  addDays,
  newestPublishedDay,
  nextRefresh,
  subtractMonths,
  toDay,
  toInstant,
} from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { mergeHistories, newestDay } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { MIN_EQUAL_DAYS, countEqualDays } from '../rates/repeated-rates.ts'
import { RejectedError } from '../rates/validate.ts'
import type { HistoryProvider } from '../upstream/provider.ts'
import { snapshotFormat } from './history.ts'
import type { HistorySnapshot } from './history.ts'
import { continues, described, fetchRange, isGap } from './publication.ts'
import type { FetchedDays, ProviderCall, PublicationContext } from './publication.ts'
import { createFailover, isSameSource, sourceHooks, storedIn } from './source.ts'

/** The number of published days that every refresh fetches again, because relays and banks correct mistakes. */
const DAYS_REFETCHED = 7

/** The longest time without a request, in days; monthly and quarterly rates are corrected in between. */
const MAX_LIFETIME_DAYS = { daily: 7, weekly: 10, monthly: 7, quarterly: 7 }

/** Days of all currencies that are kept, where one call cannot return any range. */
const DAYS_KEPT = { daily: 62, weekly: 92, monthly: 186, quarterly: 400 }

/** The longest period, where one call returns it, and days before, so that its first day has rates. */
const MONTHS_KEPT = 60

/** More tables are not fetched one by one: those of the working days of two weeks. */
export const MAX_TABLES = 10

/** Tables with a doubtful rate that are fetched again, until as many in a row confirm it. */
const MAX_TABLES_AGAIN = 14

const CALL_TIMEOUT_MS = 10_000

/** Creates a function that emits events for days with equal rates. */
function createRepetitionReport({
  frequency,
  options: { emit },
}: PublicationContext): (history: MarketHistory, provider: HistoryProvider) => void {
  let equalDays = 0

  return (history, { attribution, sanityChecks }) => {
    const about = { dataSet: 'history', provider: attribution.name } as const
    const count = sanityChecks && frequency === 'daily' ? countEqualDays(history) : 0
    if (count >= MIN_EQUAL_DAYS && equalDays < MIN_EQUAL_DAYS) {
      emit({ type: 'rates_repeated', ...about, day: history.dates.at(-1) ?? '', count })
    }
    equalDays = count
  }
}

function createNewestCheck(context: PublicationContext) {
  const { runtime } = context.options
  const newestAt = (history: MarketHistory, instant: number): Day | undefined =>
    newestDay(history, lastDay(context, instant))

  function assertCurrent(history: MarketHistory, last?: MarketHistory): void {
    const today = lastDay(context, runtime.now())
    const newest = newestDay(history, today)
    if (newest === undefined) throw new RejectedError(`no day up to ${today}`)
    const cached = (last && newestDay(last, today)) ?? ''
    if (cached <= newest) return
    throw new RejectedError(`newest day ${newest} is older than the cached ${cached}`)
  }

  return { newestAt, assertCurrent }
}

/** Loads the newest days of all currencies: at first those that are kept, or as many as one call returns, then the last ones. */
export function createNewestDays(context: PublicationContext): ReadThrough<HistorySnapshot> {
  const { options, id, providers, checks } = context
  const { maxStale, runtime } = options
  const failover = createFailover(options, 'history', providers, {
    timeout: CALL_TIMEOUT_MS,
    isRoot: true,
  })
  const format = snapshotFormat(options, providers)
  const reportRepetition = createRepetitionReport(context)

  const { newestAt, assertCurrent } = createNewestCheck(context)

  return createReadThrough<HistorySnapshot>({
    ...sourceHooks(options, 'history'),
    maxStale: maxStale.history,
    publishedAt: ({ history }) => toInstant(newestAt(history, runtime.now()) ?? ''),
    lifetime: ({ value: { history }, loadedAt }) =>
      lifetimeOf(context, history, { newest: newestAt(history, loadedAt), loadedAt }),
    async validateStored(snapshot, { current }) {
      const provider = providerOf(providers, snapshot)
      const checked = provider ? await checks.ofWhole(provider, snapshot.history) : snapshot
      if (!provider?.sanityChecks && snapshot.history.dates.length > 0) {
        return described(context, snapshot)
      }
      assertCurrent(checked.history, current?.history)
      return described(context, { ...snapshot, ...checked })
    },
    load: (signal, { last, current }) =>
      failover({ signal, isAwaited: !current }, async (provider, call) => {
        const snapshot = await updateNewest(context, { provider, call }, current)
        assertCurrent(snapshot.history, last?.history)
        reportRepetition(snapshot.history, provider)
        return snapshot
      }),
    stored: storedIn(
      options,
      'history',
      {
        ...format,
        async fromJson(json) {
          const snapshot = await format.fromJson(json)
          assertCurrent(snapshot.history)
          return snapshot
        },
      },
      id === ECB_ID ? 'history' : `history:${id}`,
    ),
  })
}

export function providerOf(
  providers: readonly HistoryProvider[],
  { attribution }: HistorySnapshot,
): HistoryProvider | undefined {
  return providers.find((each) => isSameSource(each.attribution, attribution))
}

function lifetimeOf(
  { id, calendar, frequency, lag }: PublicationContext,
  { dates }: MarketHistory,
  { newest, loadedAt }: { newest: Day | undefined; loadedAt: number },
): Lifetime {
  let day = addDays(dates.at(-1) ?? '', 1)
  while (!calendar.isPublished(day)) day = addDays(day, 1)
  const due = calendar.publishedAt(day)
  return {
    nextUpdateAt: nextRefresh(newest ?? '', loadedAt, calendar),
    maxLifetime: MAX_LIFETIME_DAYS[frequency] * DAY_MS,
    updatedAt: newest === undefined ? undefined : calendar.publishedAt(newest),
    next: { due, lateAt: due + lag, about: { publication: id, day } },
  }
}

/** Rates of tomorrow may be published today. */
function lastDay({ calendar }: PublicationContext, instant: number): Day {
  const today = toDay(instant)
  const due = newestPublishedDay(instant, calendar)
  return due > today ? due : today
}

/** First day that is kept. */
function firstKept({ isInOneCall, frequency, daysBack }: PublicationContext, today: Day): Day {
  if (!isInOneCall) return addDays(today, -DAYS_KEPT[frequency])
  return addDays(subtractMonths(today, MONTHS_KEPT), -daysBack)
}

async function updateNewest(
  context: PublicationContext,
  providerCall: ProviderCall,
  known: HistorySnapshot | undefined,
): Promise<HistorySnapshot> {
  const { checks, calendar } = context
  const { provider, call } = providerCall
  const { attribution } = provider
  const end = lastDay(context, call.now())
  const start = firstKept(context, toDay(call.now()))
  // Where one call returns all days, those of another provider are not mixed with them.
  const isWhole = known && isSameSource(known.attribution, attribution) && known.start <= start
  const current = isWhole || !context.isInOneCall ? known : undefined
  const fetchDays = provider.maxDays === 1 ? fetchTables : fetchNewestRange
  const fetched = await fetchDays(context, { ...providerCall, current }, end)
  const { history: added, servedBy, since } = fetched
  if (added.dates.length === 0 && current) return current
  const about = { attribution, servedBy, start }
  const previous = current?.history
  if (!previous || isGap(calendar, previous.dates.at(-1), since)) {
    const checked = await checks.ofWhole(provider, added, { signal: call.signal })
    return described(context, { ...checked, ...about, start: since < start ? since : start })
  }
  if (!continues(previous, added)) return updateNewest(context, providerCall, undefined)
  const days = { previous, added, start }
  const { isSame, ...checked } = await checks.ofUpdate(provider, days, call.signal)
  // The same object keeps responses cached that were derived from it.
  if (isSame && checked.doubtfulSince === current.doubtfulSince) return current
  return described(context, { ...checked, ...about })
}

interface NewestUpdate extends ProviderCall {
  current: HistorySnapshot | undefined
}

interface FetchedSince extends FetchedDays {
  since: Day
}

async function fetchNewestRange(
  context: PublicationContext,
  { current, ...providerCall }: NewestUpdate,
  end: Day,
): Promise<FetchedSince> {
  const { daysBack, isInOneCall } = context
  const { maxDays = Infinity } = providerCall.provider
  const first = isInOneCall
    ? firstKept(context, toDay(providerCall.call.now()))
    : addDays(end, 1 - Math.min(maxDays, daysBack * 2))
  const again = (current && firstToFetchAgain(current, end)) ?? first
  const since = again > first ? again : first
  // The clock may have been set back.
  const start = since < end ? since : end
  const fetched = await fetchRange(context, providerCall, { start, end })
  // A source that has ended has earlier days, and one that is late with the month those of the month before; corrections
  // have not all currencies.
  const earliest = isInOneCall ? context.since : addDays(end, -daysBack * 2)
  const isFound = fetched.history.dates.some(context.calendar.isPublished)
  if (current || isFound || earliest >= start) return { since: start, ...fetched }
  const all = { start: earliest, end }
  return { since: earliest, ...(await fetchRange(context, providerCall, all)) }
}

function firstToFetchAgain({ history, doubtfulSince }: HistorySnapshot, end: Day): Day | undefined {
  const published = history.dates.filter((date) => date <= end)
  const first = published.at(-DAYS_REFETCHED) ?? published[0]
  return first && doubtfulSince && doubtfulSince < first ? doubtfulSince : first
}

/**
 * Fetches the tables of the days that are missing, or only the newest one, without any in memory or with many missing. With
 * new days also those of the last days without rates, because banks are late, and doubtful ones.
 */
async function fetchTables(
  context: PublicationContext,
  { current, ...providerCall }: NewestUpdate,
  end: Day,
): Promise<FetchedSince> {
  const { isPublished } = context.calendar
  const due = newestPublishedDay(providerCall.call.now(), context.calendar)
  const dates: readonly Day[] = current?.history.dates ?? []
  const last = dates.at(-1)
  const missing = last === undefined ? [] : daysFrom(addDays(last, 1), due).filter(isPublished)
  const isFew = last !== undefined && missing.length <= MAX_TABLES
  const newestFirst = daysFrom(addDays(due, -context.daysBack), due)
    .filter(isPublished)
    .toReversed()
  const doubtful = dates
    .filter((day) => day >= (current?.doubtfulSince ?? due))
    .slice(-MAX_TABLES_AGAIN)
  const again = daysFrom((current && firstToFetchAgain(current, end)) ?? due, last ?? '').filter(
    (day) => doubtful.includes(day) || (isPublished(day) && !dates.includes(day)),
  )
  const wanted = missing.length > 0 ? [...missing, ...again] : []
  const requested: Day[] = []
  const tables: FetchedDays[] = []
  for (const day of isFew ? wanted : newestFirst.slice(0, MAX_TABLES)) {
    const table = await fetchRange(context, providerCall, { start: day, end: day })
    requested.push(day)
    tables.push(table)
    if (!isFew && table.history.dates.length > 0) break
  }
  return {
    since: requested.sort()[0] ?? due,
    history: mergeHistories(tables.map(({ history }) => history)),
    servedBy: tables.at(-1)?.servedBy,
  }
}
