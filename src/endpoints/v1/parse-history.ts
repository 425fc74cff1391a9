import { LARGE_BODY_BYTES } from '../../http/limiter.ts'
import { createQueryParser } from '../../http/query.ts'
import type { Period } from '../../rates/period.ts'
import type { HistorySelection } from '../../records/history-selection.ts'
import { MISTAKEN_HISTORY_NAMES } from '../../records/mistaken-names.ts'
import { currency, date, failures, format, interval, period } from '../parameters.ts'
import type { Format } from '../parameters.ts'

// Approximate number of published days.
const PERIOD_DAYS: Readonly<Record<Period, number>> = {
  '1W': 6,
  '1M': 23,
  '3M': 66,
  '6M': 131,
  '1Y': 260,
  '5Y': 1_300,
}

// Approximate size.
const POINT_BYTES: Readonly<Record<Format, number>> = { json: 40, csv: 100 }

/** The history that a query requests. */
export interface ParsedHistory {
  params: HistorySelection & { format?: Format | undefined }
  /** Cache key: equal for all queries that request the same history. */
  key: string
}

/** Parses the query of a history. */
export const parseHistory: (query: string) => ParsedHistory = createQueryParser({
  parameters: { from: currency, to: currency, period, start: date, end: date, interval, format },
  failures,
  mistaken: MISTAKEN_HISTORY_NAMES.advice,
  toParams: (params) => ({ params, key: toKey(params) }),
  isRecurring: true,
})

/** Returns the approximate number of published days in `period`. */
export function daysOf(period: Period = '1M'): number {
  return PERIOD_DAYS[period]
}

/** Returns whether a history of `days` published days is expensive; an interval also reads all of them. */
export function isExpensive(days: number, format: Format = 'json'): boolean {
  return days * POINT_BYTES[format] > LARGE_BODY_BYTES
}

function toKey({
  from,
  to,
  period: of = '1M',
  format: as = 'json',
  start,
  end,
  interval: each,
}: ParsedHistory['params']): string {
  return `history ${as} ${from.toUpperCase()} ${to.toUpperCase()} ${[of, start, end, each].join()}`
}
