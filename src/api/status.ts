import { publicationInstant, toDay } from '../rates/dates.ts'
import { newestDay } from '../rates/market-history.ts'
import type { Attempt, RateSources, SourcesState } from '../sources/rate-sources.ts'
import type { Attribution } from '../upstream/provider.ts'
import { toSource } from './resolve-code.ts'

/** State of one data set. */
export interface DataSetStatus {
  /** Whether data is available. */
  ready: boolean
  /** Whether the refresh is overdue. */
  stale: boolean
  /** Source of the data; null without data. */
  source: Attribution | null
  /** Time since publication, in ms; null without data. */
  age: number | null
  /** Last refresh attempt; null before the first one. */
  lastAttempt: Attempt | null
  /** Earliest time of the next refresh, which the next request starts; ms since the Unix epoch. */
  nextAttemptAt: number
}

/** State of the service. */
export interface ServiceStatus {
  /** Whether every enabled data set is ready. */
  ready: boolean
  /** Latest rates; null if disabled. `updatedAt` is the publication time, ms since the Unix epoch. */
  latest: (DataSetStatus & { updatedAt: number | null }) | null
  /** Reference rates; null if disabled. `lastDay` is the newest published day, `YYYY-MM-DD`. */
  history: (DataSetStatus & { lastDay: string | null }) | null
}

/** Returns the status at `now` (ms since the Unix epoch), and starts every refresh that is due. */
export function serviceStatus(sources: RateSources, now: number): ServiceStatus {
  sources.refreshInBackground()
  const { latest, history } = sources.state()
  const updatedAt = latest?.value?.table.updatedAt ?? null
  const lastDay = (history?.value && newestDay(history.value.history, toDay(now))) ?? null
  const publishedAt = lastDay === null ? null : publicationInstant(lastDay)
  return {
    ready: [latest, history].every((state) => state === null || state.value !== undefined),
    latest: latest && { updatedAt, ...dataSetStatus(latest, updatedAt, now) },
    history: history && { lastDay, ...dataSetStatus(history, publishedAt, now) },
  }
}

function dataSetStatus(
  { value, stale, lastAttempt, nextAttemptAt }: NonNullable<SourcesState['latest' | 'history']>,
  publishedAt: number | null,
  now: number,
): DataSetStatus {
  return {
    ready: value !== undefined,
    stale,
    source: value ? toSource(value.attribution) : null,
    age: publishedAt === null ? null : Math.max(0, now - publishedAt),
    lastAttempt: lastAttempt ?? null,
    nextAttemptAt: Math.ceil(nextAttemptAt),
  }
}
