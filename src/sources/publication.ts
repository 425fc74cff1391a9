import { sleep } from '../async.ts'
import type { Runtime } from '../async.ts'
import { DAYS_BACK, createCalendar, daysFrom } from '../rates/calendar.ts'
import type { Publication } from '../rates/calendar.ts'
import { addDays, newestPublishedDay } from '../rates/dates.ts'
import type { Calendar, Day } from '../rates/dates.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { RejectedError } from '../rates/validate.ts'
import type { HistoryProvider, ProviderContext } from '../upstream/provider.ts'
import { acceptDays, createChecks } from './history-source.ts'
import type { Checks, HistorySnapshot } from './history-source.ts'
import { createFailover } from './source.ts'
import type { Failover, References, SourcesOptions } from './source.ts'

/** Time between the starts of two calls, in ms. */
const CALL_GAP_MS = 200

/** Refreshes fetch these published days again, because banks correct mistakes. */
export const DAYS_REFETCHED = 7

const DEFAULT_LAG_MS = 86_400_000

export interface PublicationContext {
  options: SourcesOptions
  publication: Publication
  calendar: Calendar
  providers: readonly HistoryProvider[]
  failover: Failover<HistoryProvider>
  checks: Checks
  pace(provider: HistoryProvider, signal: AbortSignal): Promise<void>
}

/** Waits until the next call of a host may start; rejects with the reason of `signal` when it aborts. */
type Pace = (signal: AbortSignal) => Promise<void>

export type Paces = Map<string, Pace>

/** Publications of the same host share its pace. */
export function createPublicationContext(
  options: SourcesOptions,
  publication: Publication,
  references: References,
  paces: Paces,
): PublicationContext {
  const { runtime, historyProviders: providers } = options
  return {
    options,
    publication,
    calendar: createCalendar(publication),
    providers,
    failover: createFailover(options, 'history', providers),
    checks: createChecks(options, { dataSet: 'history' }, references),
    pace({ attribution }, signal) {
      const { host } = new URL(attribution.url)
      const pace = paces.get(host) ?? createPace(runtime, CALL_GAP_MS)
      paces.set(host, pace)
      return pace(signal)
    },
  }
}

export function described(
  { calendar, publication }: PublicationContext,
  snapshot: HistorySnapshot,
): HistorySnapshot {
  const { base, columns } = snapshot.history
  const codes = snapshot.codes ?? [base, ...columns.keys()].sort()
  const newest = snapshot.newest ?? snapshot.history.dates.at(-1)
  const { id, frequency } = publication
  return { ...snapshot, id, calendar, codes, newest, daysBack: DAYS_BACK[frequency] }
}

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

export interface ProviderCall {
  provider: HistoryProvider
  call: ProviderContext
}

export async function fetchRange(
  { options, pace }: PublicationContext,
  { provider, call }: ProviderCall,
  range: { start: Day; end: Day; code?: string },
): Promise<MarketHistory> {
  const { code, ...days } = range
  await pace(provider, call.signal)
  const published =
    code !== undefined && provider.fetchSeries
      ? await provider.fetchSeries({ code, ...days }, call)
      : await provider.fetchHistory(days, call)
  const history = await acceptDays({ options, provider, context: call }, 'history', published)
  const isIn = history.dates.every((date) => date >= days.start && date <= days.end)
  if (!isIn) throw new RejectedError(`days outside of ${days.start} to ${days.end}`)
  return history
}

function createPace(runtime: Runtime, gap: number): Pace {
  let last: Promise<unknown> = Promise.resolve()
  let startedAt = -Infinity
  return (signal) => {
    const waitAfter = async (before: Promise<unknown>): Promise<void> => {
      await before
      for (;;) {
        signal.throwIfAborted()
        const wait = startedAt + gap - runtime.monotonic()
        if (wait <= 0) break
        await sleep(runtime, wait, signal)
      }
      startedAt = runtime.monotonic()
    }
    const turn = waitAfter(last)
    last = turn.catch(() => undefined)
    return turn
  }
}
