import type { Attribution } from '../providers/provider.ts'
import { toDay } from '../rates/day.ts'
import { newestDay } from '../rates/market-history.ts'
import { publicationInstant } from '../rates/target-calendar.ts'
import type { Attempt, SourcesState } from '../sources/rate-sources.ts'
import { toSource } from './source.ts'

/** How one data set stands. */
export interface DataSetStatus {
  /** Whether there is something to answer with. */
  ready: boolean
  /** Whether its refresh is overdue. */
  stale: boolean
  /** Who published what is answered with; null where there is nothing. */
  source: Attribution | null
  /** How long ago that was published, in ms; null where there is nothing. */
  age: number | null
  /** Null where nothing has been asked for. */
  lastAttempt: Attempt | null
  /** When the next refresh may and will start, given a request; ms since the Unix epoch. */
  nextAttemptAt: number
}

/** How the service stands. */
export interface ServiceStatus {
  /** Whether every data set is that is not turned off. */
  ready: boolean
  /** Latest rates, null where they are turned off; `updatedAt` is when they were published, in ms since the Unix epoch. */
  latest: (DataSetStatus & { updatedAt: number | null }) | null
  /** Reference rates, null where they are turned off; `lastDay` is the newest day published, `YYYY-MM-DD`. */
  history: (DataSetStatus & { lastDay: string | null }) | null
}

/** The status record of `state` at `now` (ms since the Unix epoch). */
export function toServiceStatus({ latest, history }: SourcesState, now: number): ServiceStatus {
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
