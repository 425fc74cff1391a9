import { createReadThrough } from '../cache/read-through.ts'
import type { ReadThrough } from '../cache/read-through.ts'
import { DAYS_BACK, daysFrom } from '../rates/calendar.ts'
import {
  DAY_MS,
  addDays,
  newestPublishedDay,
  nextRefresh,
  toDay,
  toInstant,
} from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { findRevisions, mergeHistory, ratesOf, turnedCodes } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { RejectedError } from '../rates/validate.ts'
import { snapshotFormat } from './history-source.ts'
import type { HistorySnapshot } from './history-source.ts'
import { DAYS_REFETCHED, described, fetchRange, isGap, lateDay } from './publication.ts'
import type { ProviderCall, PublicationContext } from './publication.ts'
import { sourceHooks, storedIn } from './source.ts'

/** The longest time without a request, in days; quarterly rates are amended in between. */
const MAX_LIFETIME_DAYS = { daily: 7, weekly: 10, monthly: 40, quarterly: 7 }

/** Days of all currencies that are kept. */
const DAYS_KEPT = { daily: 62, weekly: 92, monthly: 186, quarterly: 400 }

/** More tables are not fetched one by one: those of the working days of two weeks. */
export const MAX_TABLES = 10

export function createNewestDays(context: PublicationContext): ReadThrough<HistorySnapshot> {
  const { options, publication, calendar, providers, failover, checks } = context
  const { maxStale, emit } = options
  let reportedLate = ''

  function reportLate(history: MarketHistory, provider: string): void {
    const day = lateDay(context)
    if ((history.dates.at(-1) ?? '') >= day || reportedLate === day) return
    reportedLate = day
    emit({ type: 'rates_late', dataSet: 'history', provider, publication: publication.id, day })
  }

  return createReadThrough<HistorySnapshot>({
    ...sourceHooks(options, 'history'),
    maxStale: maxStale.history,
    publishedAt: ({ history }) => toInstant(history.dates.at(-1) ?? ''),
    lifetime: ({ value, loadedAt }) => ({
      nextUpdateAt: nextRefresh(value.history.dates.at(-1) ?? '', loadedAt, calendar),
      maxLifetime: MAX_LIFETIME_DAYS[publication.frequency] * DAY_MS,
    }),
    async validateStored(snapshot) {
      const provider = providers.find(({ attribution }) => attribution === snapshot.attribution)
      if (snapshot.history.dates.length === 0) throw new RejectedError('no day is stored')
      if (!provider) return described(context, snapshot)
      const { history } = await checks.ofWhole(provider, snapshot.history)
      return described(context, { ...snapshot, history })
    },
    load: (signal, { current }) =>
      failover({ signal, isAwaited: !current }, async (provider, call) => {
        const snapshot = await updateNewest(context, { provider, call, current })
        reportLate(snapshot.history, provider.attribution.name)
        return snapshot
      }),
    stored: storedIn(
      options,
      'history',
      snapshotFormat(options, providers),
      `history:${publication.id}`,
    ),
  })
}

interface NewestUpdate extends ProviderCall {
  current: HistorySnapshot | undefined
}

interface FetchedDays {
  since: Day
  days: MarketHistory | undefined
}

async function updateNewest(
  context: PublicationContext,
  update: NewestUpdate,
): Promise<HistorySnapshot> {
  const { checks, calendar, publication } = context
  const { provider, call, current } = update
  const { attribution, maxDays } = provider
  const due = newestPublishedDay(call.now(), calendar)
  const fetchDays = maxDays === 1 ? fetchTables : fetchNewestRange
  const { days: added, since } = await fetchDays(context, update, due)
  if (!added || added.dates.length === 0) {
    if (current) return current
    throw new RejectedError(`no day up to ${due}`)
  }
  const start = addDays(toDay(call.now()), -DAYS_KEPT[publication.frequency])
  const previous = current?.history
  if (!previous || !continues(previous, added) || isGap(calendar, previous.dates.at(-1), since)) {
    const checked = await checks.ofWhole(provider, added, call.signal)
    if (checked.history.dates.length === 0) throw new RejectedError(`no plausible day up to ${due}`)
    return described(context, { ...checked, attribution, start })
  }
  const merged = mergeHistory(previous, added, start)
  const history = await checks.ofUpdate(provider, { merged, added, previous }, call.signal)
  const { revised, isSame } = findRevisions(previous, history, added.dates[0] ?? due)
  const about = { dataSet: 'history', provider: attribution.name } as const
  if (revised.length > 0) context.options.emit({ type: 'rates_revised', ...about, revised })
  const doubtfulSince = firstDoubtful(added, history)
  // The same object keeps responses cached that were derived from it.
  if (isSame && doubtfulSince === current.doubtfulSince) return current
  const doubtful = doubtfulSince === undefined ? {} : { doubtfulSince }
  return described(context, { history, attribution, start, ...doubtful })
}

function firstDoubtful(added: MarketHistory, accepted: MarketHistory): Day | undefined {
  return added.dates.find((date, row) => {
    const rates = ratesOf(accepted, date)
    return [...added.columns].some(
      ([code, column]) => !Number.isNaN(column[row] ?? NaN) && !rates.has(code),
    )
  })
}

export function continues(previous: MarketHistory, added: MarketHistory): boolean {
  return previous.base === added.base && turnedCodes(previous, added).length === 0
}

async function fetchNewestRange(
  context: PublicationContext,
  { current, ...providerCall }: NewestUpdate,
  due: Day,
): Promise<FetchedDays> {
  const today = toDay(providerCall.call.now())
  const end = due > today ? due : today
  const { maxDays = Infinity } = providerCall.provider
  const first = addDays(end, 1 - Math.min(maxDays, DAYS_BACK[context.publication.frequency] * 2))
  const again = firstToFetchAgain(current) ?? first
  const since = again > first ? again : first
  // The clock may have been set back.
  const start = since < end ? since : end
  return { since: start, days: await fetchRange(context, providerCall, { start, end }) }
}

function firstToFetchAgain(current: HistorySnapshot | undefined): Day | undefined {
  if (!current) return undefined
  const { history, doubtfulSince } = current
  const first = history.dates.at(-DAYS_REFETCHED) ?? history.dates[0]
  return first && doubtfulSince && doubtfulSince < first ? doubtfulSince : first
}

/**
 * Fetches the tables of the days that are missing, or only the newest one, without any in memory or with many missing. With
 * new days also those of the last days without rates, because banks are late, and doubtful ones.
 */
async function fetchTables(
  context: PublicationContext,
  { current, ...providerCall }: NewestUpdate,
  due: Day,
): Promise<FetchedDays> {
  const { isPublished } = context.calendar
  const dates: readonly Day[] = current?.history.dates ?? []
  const last = dates.at(-1)
  const missing = last === undefined ? [] : daysFrom(addDays(last, 1), due).filter(isPublished)
  const isFew = last !== undefined && missing.length <= MAX_TABLES
  const back = DAYS_BACK[context.publication.frequency]
  const newestFirst = daysFrom(addDays(due, -back), due).filter(isPublished).toReversed()
  const again = daysFrom(firstToFetchAgain(current) ?? due, last ?? '').filter(
    (day) => day === current?.doubtfulSince || (isPublished(day) && !dates.includes(day)),
  )
  const wanted = missing.length > 0 ? [...missing, ...again] : []
  const requested: Day[] = []
  let days: MarketHistory | undefined
  for (const day of isFew ? wanted : newestFirst.slice(0, MAX_TABLES)) {
    const table = await fetchRange(context, providerCall, { start: day, end: day })
    requested.push(day)
    days = days ? mergeHistory(days, table, '') : table
    if (!isFew && table.dates.length > 0) break
  }
  return { since: requested.sort()[0] ?? due, days }
}
