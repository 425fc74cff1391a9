import type { Duration, Instant } from '../async.ts'
import { ECB_CALENDAR, toDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { newestDay } from '../rates/market-history.ts'
import type { Attempt, RateSources, SourcesState } from '../sources/rate-sources.ts'
import type { Attribution } from '../upstream/provider.ts'
import { sourceOf, toSource } from './resolve-code.ts'

/** State of one data set. Timestamps are in ms since the Unix epoch. */
export interface DataSetStatus {
  /** Whether usable data is loaded. */
  ready: boolean
  /** Whether a refresh is overdue, or newer rates are late. */
  stale: boolean
  /** Source of the data; null without data. */
  source: Attribution | null
  /** Time since publication, in ms; null without data. */
  age: Duration | null
  /** Last refresh attempt; null before the first one. */
  lastAttempt: Attempt | null
  /** When the next refresh is due; it starts with the first request from then on. */
  nextAttemptAt: Instant
}

/** State of the service. Timestamps are in ms since the Unix epoch. */
export interface ServiceStatus {
  /** Whether every enabled data set is ready. */
  ready: boolean
  /** Latest rates; null if disabled. */
  latest:
    | ({
        /** When the rates were published; null without data. */
        updatedAt: Instant | null
      } & DataSetStatus)
    | null
  /** Reference rates; null if disabled. */
  history:
    | ({
        /** Newest published day, `YYYY-MM-DD`; null without data. */
        lastDay: Day | null
        /** Every source, in order of preference; absent unless a provider of history declares a publication. */
        sources?: HistorySourceStatus[] | undefined
      } & DataSetStatus)
    | null
}

/** State of one source of history. */
export interface HistorySourceStatus extends DataSetStatus {
  /** Newest published day, `YYYY-MM-DD`; null without data. */
  lastDay: Day | null
  /** Whether rates that the bank should have published are missing for longer than its lag. */
  late: boolean
}

/** Returns the status at `now` (ms since the Unix epoch), and starts every refresh that is due. */
export function serviceStatus(sources: RateSources, now: number): ServiceStatus {
  sources.refreshInBackground()
  return describeStatus(sources, now)
}

export function describeStatus(sources: RateSources, now: number): ServiceStatus {
  const { latest, history, publications } = sources.state()
  const updatedAt = latest?.value?.table.updatedAt ?? null
  return {
    ready: [latest, history].every((state) => state === null || state.value !== undefined),
    latest: latest && { updatedAt, ...dataSetStatus(latest, updatedAt, now) },
    history: history && {
      ...historyStatus(history, now),
      ...(sources.isAnyDeclared && {
        sources: publications.map(({ newest }) => {
          return { ...historyStatus(newest, now), late: newest.isLate }
        }),
      }),
    },
  }
}

function historyStatus(
  state: NonNullable<SourcesState['history']>,
  now: number,
): DataSetStatus & { lastDay: Day | null } {
  const { history, newest, calendar = ECB_CALENDAR } = state.value ?? {}
  const lastDay = newest ?? (history && newestDay(history, toDay(now))) ?? null
  const publishedAt = lastDay === null ? null : calendar.publishedAt(lastDay)
  return { lastDay, ...dataSetStatus(state, publishedAt, now) }
}

function dataSetStatus(
  { value, stale, lastAttempt, nextAttemptAt }: NonNullable<SourcesState['latest' | 'history']>,
  publishedAt: number | null,
  now: number,
): DataSetStatus {
  return {
    ready: value !== undefined,
    stale,
    source: value ? toSource(sourceOf(value)) : null,
    age: publishedAt === null ? null : Math.max(0, now - publishedAt),
    lastAttempt: lastAttempt ?? null,
    nextAttemptAt: Math.ceil(nextAttemptAt),
  }
}
