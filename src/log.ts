import { EVENT_RECORDS, messageOf, toTime } from './event-records.ts'
import type { LogLevel } from './event-records.ts'
import type { RatesEvent } from './events.ts'
import { assertKnownOptions, assertOneOf } from './known-options.ts'

/** The format of a line: one JSON object, or one sentence. */
export type LogFormat = 'json' | 'text'

interface LogOptions {
  format: LogFormat
  /** The lowest level to log (default `info`, every event). */
  level?: LogLevel
  write(line: string, level: LogLevel): void
  now(): number
}

/** Options of `consoleLogger`. */
export interface ConsoleLoggerOptions {
  /**
   * The lowest level to log: `'error'` for 500 responses only, `'warn'` also for failures of providers and stores, doubtful
   * rates and overdue data, `'info'` for every event (default `'warn'`).
   */
  level?: LogLevel | undefined
  /** `'text'` for one sentence per line, `'json'` for one JSON object per line (default `'text'`). */
  format?: LogFormat | undefined
}

/** Stale and 503 responses are counted and logged once per interval, in ms: there may be thousands. */
const SUMMARY_INTERVAL_MS = 60_000

const MAX_TEXT_LENGTH = 500
const MAX_LIST_LENGTH = 20

const LEVELS: readonly LogLevel[] = ['info', 'warn', 'error']

/**
 * Creates a logger for the handler's option `onEvent`: it writes one line per event to the console, with the reason. Responses
 * with overdue data, and 503 responses, are counted and logged once a minute.
 *
 * @throws {TypeError} that names the invalid option
 * @example
 * ```ts
 * import { consoleLogger, createRatesHandler } from 'ratesmith'
 *
 * const handler = createRatesHandler({ onEvent: consoleLogger({ level: 'info', format: 'json' }) })
 * // by default: ratesmith: latest rates: Our treasury: rejected: updatedAt is in seconds, not in ms
 * ```
 */
export function consoleLogger(options: ConsoleLoggerOptions = {}): (event: RatesEvent) => void {
  const { level = 'warn', format = 'text' } = options
  assertKnownOptions(options, { level, format })
  assertOneOf('level', level, LEVELS)
  assertOneOf('format', format, ['text', 'json'])
  // oxlint-disable-next-line no-console
  const write: LogOptions['write'] = (line, severity) => console[severity](line)
  return createLog({ format, level, write, now: Date.now })
}

export function createLog(options: LogOptions): (event: RatesEvent) => void {
  const { format, level = 'info', write, now } = options
  const lowest = LEVELS.indexOf(level)
  const counts = new Map<string, { loggedAt: number; count: number }>()

  /** Counts a response; returns the number since the last line once a minute, and 0 in between. */
  function countResponses(kind: string): number {
    const { loggedAt, count } = counts.get(kind) ?? { loggedAt: -Infinity, count: 0 }
    // The clock may be set back.
    const isDue = Math.abs(now() - loggedAt) >= SUMMARY_INTERVAL_MS
    counts.set(kind, isDue ? { loggedAt: now(), count: 0 } : { loggedAt, count: count + 1 })
    return isDue ? count + 1 : 0
  }

  return (event) => {
    const { level: severity = 'warn', summary } = EVENT_RECORDS[event.type]
    if (LEVELS.indexOf(severity) < lowest) return
    const kind = 'dataSet' in event ? event.dataSet : event.type
    const responses = summary && countResponses(kind)
    if (responses === 0) return
    const line = format === 'json' ? toJson(event, responses, now()) : toSentence(event, responses)
    if (line !== '') write(line, severity)
  }
}

/** Returns `text` as one line of at most 500 characters without control characters, safe to print to a terminal. */
export function toSingleLine(text: string): string {
  return text.slice(0, MAX_TEXT_LENGTH).replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
}

// With the message of the error, but without its stack.
function toJson(event: RatesEvent, responses: number | undefined, now: number): string {
  const { type, ...about } = event
  const { error, ...fields } = { error: undefined, ...about }
  const line = {
    time: toTime(now),
    level: EVENT_RECORDS[type].level ?? 'warn',
    event: type,
    reason: error === undefined ? undefined : messageOf(error),
    ...fields,
    answers: responses,
  }
  const text = JSON.stringify(line, (key, value: unknown) =>
    key === 'published' || key === 'corrected' ? value : shorten(value),
  )
  return escapeInvisible(text)
}

/** Escapes the characters that break a line or change the reading direction, but that `JSON.stringify` leaves. */
export function escapeInvisible(json: string): string {
  return json.replace(/[\p{Cf}\p{Zl}\p{Zp}\x7f-\x9f]/gu, (character) =>
    character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
}

// Numbers other than rates are times in ms or counts.
function shorten(value: unknown): unknown {
  if (typeof value === 'number') return Math.round(value)
  if (typeof value === 'string') return value.slice(0, MAX_TEXT_LENGTH)
  if (!Array.isArray(value) || value.length <= MAX_LIST_LENGTH) return value
  return [...value.slice(0, MAX_LIST_LENGTH), `and ${value.length - MAX_LIST_LENGTH} more`]
}

function toSentence(event: RatesEvent, responses = 1): string {
  const { text, summary } = EVENT_RECORDS[event.type]
  const sentence = summary?.(event, responses) ?? text?.(event)
  if (sentence === undefined) return ''
  const dataSet = 'dataSet' in event ? [`${event.dataSet} rates`] : []
  const provider = 'provider' in event ? (event.provider ?? []) : []
  return `ratesmith: ${toSingleLine([...dataSet, provider, sentence].flat().join(': '))}`
}
