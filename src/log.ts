import type { DataSet, RatesEvent } from './events.ts'
import { assertKnownOptions } from './known-options.ts'

/** One JSON object a line for machines, or a sentence a line for people. */
export type LogFormat = 'json' | 'text'

/** How much an event matters; in this order. */
export type LogLevel = 'info' | 'warn' | 'error'

/** What a log is made from. */
interface LogOptions {
  format: LogFormat
  /** Events of lower levels are left out (default `info`, for every event). */
  level?: LogLevel
  /** Takes one line, without its end. */
  write(line: string, level: LogLevel): void
  /** The clock, ms since the Unix epoch. */
  now(): number
}

/** Options of `consoleLogger`. */
export interface ConsoleLoggerOptions {
  /**
   * The least level that is logged: `'error'` for answers with 500, `'warn'` also for failures of providers and stores, doubtful
   * rates and overdue data, `'info'` for every event (default `'warn'`).
   */
  level?: LogLevel | undefined
  /** A sentence a line for people, or one JSON object a line for machines (default `'text'`). */
  format?: LogFormat | undefined
}

/** Stale and refused answers come by the thousand: they are summed up over this time, in ms. */
const SUMMARY_INTERVAL_MS = 60_000

/** How much of what an upstream says goes into a line: characters of a text, and items of a list. */
const MAX_TEXT_LENGTH = 500
const MAX_LIST_LENGTH = 20

type Correction = Extract<RatesEvent, { type: 'rates_corrected' }>['corrections'][number]

/** Numbers that are rates. */
const RATES: ReadonlySet<string> = new Set<keyof Correction>(['published', 'corrected'])

const LEVELS: readonly LogLevel[] = ['info', 'warn', 'error']

const FORMATS: readonly LogFormat[] = ['text', 'json']

const LEVEL: Record<RatesEvent['type'], LogLevel> = {
  upstream_request: 'info',
  upstream_response: 'info',
  upstream_failed: 'warn',
  refresh_failed: 'warn',
  upstream_ending: 'warn',
  rates_rejected: 'warn',
  rates_dropped: 'warn',
  rates_corrected: 'warn',
  rates_lost: 'warn',
  rates_quarantined: 'warn',
  rates_deviating: 'warn',
  check_failed: 'warn',
  rates_revised: 'info',
  rates_restored: 'info',
  stale_served: 'warn',
  overloaded: 'warn',
  refresh_scheduled: 'info',
  store_failed: 'warn',
  internal_error: 'error',
}

/**
 * Creates a log for the handler's option `onEvent`: one line on the console per event that matters, with its reason. Answers
 * with overdue data, and requests that were refused with 503, are counted and logged once a minute.
 *
 * @throws {TypeError} naming the option that cannot be used
 * @example
 * const handler = createRatesHandler({ onEvent: consoleLogger() })
 * // ratesmith: latest rates: Our treasury: rejected: updatedAt is in seconds, not in ms
 */
export function consoleLogger(options: ConsoleLoggerOptions = {}): (event: RatesEvent) => void {
  const { level = 'warn', format = 'text' } = options
  assertKnownOptions(options, { level, format })
  assertOneOf('level', level, LEVELS)
  assertOneOf('format', format, FORMATS)
  return createLog({
    format,
    level,
    // oxlint-disable-next-line no-console
    write: (line, severity) => console[severity](line),
    now: Date.now,
  })
}

function assertOneOf(option: string, value: string, known: readonly string[]): void {
  if (known.includes(value)) return
  throw new TypeError(`${option} must be one of ${known.join(', ')}, got ${String(value)}`)
}

/** Creates a log of events, one line each; answers with overdue data, and refused ones, are counted and logged once a minute. */
export function createLog({
  format,
  level = 'info',
  write,
  now,
}: LogOptions): (event: RatesEvent) => void {
  const least = LEVELS.indexOf(level)
  const counts = new Map<DataSet | 'overloaded', { loggedAt: number; answers: number }>()

  /** Returns how many answers of a kind there have been since they were logged, once a minute, and 0 meanwhile. */
  function countResponses(kind: DataSet | 'overloaded'): number {
    const { loggedAt, answers } = counts.get(kind) ?? { loggedAt: -Infinity, answers: 0 }
    // Also when the clock has been set back.
    const isDue = Math.abs(now() - loggedAt) >= SUMMARY_INTERVAL_MS
    counts.set(kind, isDue ? { loggedAt: now(), answers: 0 } : { loggedAt, answers: answers + 1 })
    return isDue ? answers + 1 : 0
  }

  /** Returns the same for the answer that `event` is about; undefined where it is about something else. */
  function responsesOf(event: RatesEvent): number | undefined {
    if (event.type === 'overloaded') return countResponses('overloaded')
    return event.type === 'stale_served' ? countResponses(event.dataSet) : undefined
  }

  return (event) => {
    const severity = LEVEL[event.type]
    if (LEVELS.indexOf(severity) < least) return
    const answers = responsesOf(event)
    if (answers === 0) return
    if (format === 'json') {
      write(toJson(event, answers, now()), severity)
    } else {
      const sentence = toSentence(event, answers)
      if (sentence !== '') write(`ratesmith: ${printable(sentence)}`, severity)
    }
  }
}

/** One line that no terminal obeys, even with texts of an upstream in it. */
export function printable(text: string): string {
  return text.slice(0, MAX_TEXT_LENGTH).replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
}

/** Without the error itself: its stack is for a debugger. */
function toJson(event: RatesEvent, answers: number | undefined, now: number): string {
  const { type, ...about } = event
  const { error, ...fields } = { error: undefined, ...about }
  const line = {
    time: toTime(now),
    level: LEVEL[type],
    event: type,
    reason: error === undefined ? undefined : messageOf(error),
    ...fields,
    answers,
  }
  const text = JSON.stringify(line, (key, value: unknown) =>
    RATES.has(key) ? value : legible(value),
  )
  // JSON leaves some characters as they are that end a line or turn it round where it is shown.
  return text.replace(/[\p{Cf}\p{Zl}\p{Zp}\x7f-\x9f]/gu, escaped)
}

/** Other numbers, which are in ms or counts, without what no reader needs; and what an upstream says may be of any length. */
function legible(value: unknown): unknown {
  if (typeof value === 'number') return Math.round(value)
  if (typeof value === 'string') return value.slice(0, MAX_TEXT_LENGTH)
  if (!Array.isArray(value) || value.length <= MAX_LIST_LENGTH) return value
  return [...value.slice(0, MAX_LIST_LENGTH), `and ${value.length - MAX_LIST_LENGTH} more`]
}

/** Every code unit of `text` as JSON escapes it. */
function escaped(text: string): string {
  return Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('')
}

/** What a person wants to know of `event`; nothing where another event says more. */
function toSentence(event: RatesEvent, answers: number | undefined): string {
  switch (event.type) {
    case 'upstream_response':
      return `${event.dataSet} rates: ${event.provider}: answered in ${Math.round(event.elapsed)} ms`
    case 'upstream_failed':
      return `${event.dataSet} rates: ${event.provider}: ${event.reason}`
    case 'upstream_ending':
      return `${event.dataSet} rates: ${event.provider}: will stop on ${toTime(event.endsAt)}`
    case 'rates_rejected':
      return `${event.dataSet} rates: ${event.provider ?? 'the store'}: rejected: ${event.reason}`
    case 'rates_dropped':
      return `${event.dataSet} rates: ${event.provider}: dropped ${event.dropped.join(', ')}`
    case 'rates_corrected':
      return `${event.dataSet} rates: ${event.provider}: corrected ${event.corrections.map(toCorrection).join(', ')}`
    case 'rates_lost':
      return `${event.dataSet} rates: ${event.provider}: no usable rate of ${event.codes.join(', ')}`
    case 'rates_quarantined':
      return `${event.dataSet} rates: ${event.provider}: held back until confirmed: ${event.codes.join(', ')}`
    case 'rates_deviating':
      return `${event.dataSet} rates: ${event.provider}: far from those of ${event.reference} on ${event.date}: ${event.deviations.join(', ')}`
    case 'check_failed':
      return `${event.dataSet} rates: ${event.provider}: not compared with those of ${event.reference}: ${event.reason}`
    case 'rates_revised':
      return `${event.dataSet} rates: ${event.provider}: revised ${event.revised.join(', ')}`
    case 'rates_restored':
      return `${event.dataSet} rates: taken from the store, loaded ${toTime(event.loadedAt)}`
    case 'stale_served':
      return `${event.dataSet} rates: ${answers} answers with data overdue by ${Math.round(event.overdue / 1_000)} s`
    case 'overloaded':
      return `overloaded: ${answers} requests refused with 503, ${event.waiting} waiting`
    case 'refresh_scheduled':
      return `${event.dataSet} rates: the next refresh is due ${toTime(event.at)}`
    case 'store_failed':
      return `store: ${event.operation} ${event.key}: ${messageOf(event.error)}`
    case 'internal_error':
      return `internal error: ${messageOf(event.error)}`
    default:
      return ''
  }
}

function toCorrection({ code, published, corrected }: Correction): string {
  return `${code} from ${published} to ${corrected}`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

function toTime(instant: number): string {
  const date = new Date(instant)
  return Number.isNaN(date.getTime()) ? String(instant) : date.toISOString()
}
