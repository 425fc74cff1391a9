import { sleep } from '../async.ts'
import type { Runtime } from '../async.ts'
import { createCalendar, daysFrom } from '../rates/calendar.ts'
import { addDays, newestPublishedDay } from '../rates/dates.ts'
import type { Calendar, Day } from '../rates/dates.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { RejectedError } from '../rates/validate.ts'
import type { HistoryProvider, ProviderContext, Publication } from '../upstream/provider.ts'
import { acceptDays, createChecks } from './history-source.ts'
import type { Checks, HistorySnapshot } from './history-source.ts'
import { createFailover } from './source.ts'
import type { Failover, LatestSnapshot, SourcesOptions } from './source.ts'

/** Time between the starts of two calls, in ms. */
const CALL_GAP_MS = 200

/** How many days before a day its rates may have been published. */
export const DAYS_BACK = { daily: 14, weekly: 28, monthly: 62, quarterly: 186 }

/** Refreshes fetch these published days again, because banks correct mistakes. */
export const DAYS_REFETCHED = 7

const DEFAULT_LAG_MS = 86_400_000

/** A publication, its providers, and what all calls of them share. */
export interface PublicationContext {
  options: SourcesOptions
  publication: Publication
  calendar: Calendar
  providers: readonly HistoryProvider[]
  failover: Failover<HistoryProvider>
  checks: Checks
  inQueue: Queue
}

/** Creates the context of a publication; `options.historyProviders` are its providers, in order of preference. */
export function createPublicationContext(
  options: SourcesOptions,
  publication: Publication,
  latest: () => LatestSnapshot | undefined,
): PublicationContext {
  const { runtime, historyProviders: providers } = options
  return {
    options,
    publication,
    calendar: createCalendar(publication),
    providers,
    failover: createFailover(options, 'history', providers),
    checks: createChecks(options, { dataSet: 'history' }, latest),
    inQueue: createQueue(runtime, CALL_GAP_MS),
  }
}

/** Adds what the operations read. */
export function described(
  { calendar, publication }: PublicationContext,
  snapshot: HistorySnapshot,
): HistorySnapshot {
  const { base, columns } = snapshot.history
  const codes = snapshot.codes ?? [base, ...columns.keys()].sort()
  const newest = snapshot.newest ?? snapshot.history.dates.at(-1)
  return { ...snapshot, calendar, codes, newest, daysBack: DAYS_BACK[publication.frequency] }
}

/** Returns whether rates were published between the days `last` and `next`. */
export function isGap(calendar: Calendar, last: Day | undefined, next: Day): boolean {
  return (
    last === undefined || daysFrom(addDays(last, 1), addDays(next, -1)).some(calendar.isPublished)
  )
}

/** Returns the newest day whose rates are late if they are missing. */
export function lateDay({ options, publication, calendar }: PublicationContext): Day {
  const { lag = DEFAULT_LAG_MS } = publication
  return newestPublishedDay(options.runtime.now() - lag, calendar)
}

/** A provider, and the context of a call. */
export interface ProviderCall {
  provider: HistoryProvider
  call: ProviderContext
}

/** Fetches days of all currencies, or of one, when the queue permits. */
export async function fetchRange(
  { options, inQueue }: PublicationContext,
  { provider, call }: ProviderCall,
  range: { start: Day; end: Day; code?: string },
): Promise<MarketHistory> {
  const { code, ...days } = range
  const published = await inQueue(
    async () =>
      code !== undefined && provider.fetchSeries
        ? provider.fetchSeries({ code, ...days }, call)
        : provider.fetchHistory(days, call),
    call.signal,
  )
  const history = await acceptDays({ options, provider, context: call }, 'history', published)
  const isIn = history.dates.every((date) => date >= days.start && date <= days.end)
  if (!isIn) throw new RejectedError(`days outside of ${days.start} to ${days.end}`)
  return history
}

/** Runs work one after another. */
type Queue = <Result>(work: () => Promise<Result>, signal: AbortSignal) => Promise<Result>

/** Creates a queue that starts each work at least `gap` ms after the one before, and when that has ended. */
function createQueue(runtime: Runtime, gap: number): Queue {
  let last: Promise<unknown> = Promise.resolve()
  let startedAt = -Infinity
  return (work, signal) => {
    const run = last.then(async () => {
      const wait = startedAt + gap - runtime.monotonic()
      if (wait > 0) await sleep(runtime, wait, signal)
      signal.throwIfAborted()
      startedAt = runtime.monotonic()
      return work()
    })
    last = run.catch(() => undefined)
    return run
  }
}
