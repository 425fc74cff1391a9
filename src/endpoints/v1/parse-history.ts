import { createQueryParser } from '../../http/query.ts'
import type { AskedDays } from '../../records/asked-days.ts'
import { currency, date, failures, format, interval, period } from '../parameters.ts'
import type { Format } from '../parameters.ts'

/** A history that a query asks for. */
export interface AskedHistory {
  question: AskedDays & { format?: Format | undefined }
  /** The same for every way to ask for it, and for nothing else. */
  key: string
}

/** Reads the query of a history. */
export const parseHistory: (query: string) => AskedHistory = createQueryParser({
  parameters: { from: currency, to: currency, period, start: date, end: date, interval, format },
  failures,
  mistaken: { date: 'start and end' },
  toQuestion: (question) => ({ question, key: toKey(question) }),
  isRecurring: true,
})

function toKey({
  from,
  to,
  period: of = '1M',
  format: as = 'json',
  start,
  end,
  interval: each,
}: AskedHistory['question']): string {
  return `history ${as} ${from.toUpperCase()} ${to.toUpperCase()} ${[of, start, end, each].join()}`
}
