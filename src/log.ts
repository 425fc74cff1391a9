import type { DataSet, RatesEvent } from './events.ts'
import { assertKnownOptions, assertOneOf } from './known-options.ts'

/** The format of a line: one JSON object, or one sentence. */
export type LogFormat = 'json' | 'text'

/** The severity of an event, in ascending order. */
export type LogLevel = 'info' | 'warn' | 'error'

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

type Correction = Extract<RatesEvent, { type: 'rates_corrected' }>['corrections'][number]

/** Fields that are rates, which JSON lines do not round. */
const RATES: ReadonlySet<string> = new Set<keyof Correction>(['published', 'corrected'])

/** Events of which there may be thousands: counted, and logged once per interval. */
const COUNTED = ['overloaded', 'access_refused', 'limit_reached', 'counters_failed'] as const

type CountedEvent = (typeof COUNTED)[number]

function isCounted(event: RatesEvent): event is Extract<RatesEvent, { type: CountedEvent }> {
  return COUNTED.some((type) => type === event.type)
}

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
  rates_late: 'warn',
  rates_quarantined: 'warn',
  rates_revised: 'info',
  rates_restored: 'info',
  stale_served: 'warn',
  overloaded: 'warn',
  access_refused: 'info',
  limit_reached: 'info',
  counters_failed: 'warn',
  proxy_untrusted: 'warn',
  refresh_scheduled: 'info',
  store_failed: 'warn',
  internal_error: 'error',
}

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
  assertOneOf('format', format, FORMATS)
  return createLog({
    format,
    level,
    // oxlint-disable-next-line no-console
    write: (line, severity) => console[severity](line),
    now: Date.now,
  })
}

export function createLog({
  format,
  level = 'info',
  write,
  now,
}: LogOptions): (event: RatesEvent) => void {
  const lowest = LEVELS.indexOf(level)
  const counts = new Map<DataSet | CountedEvent, { loggedAt: number; count: number }>()

  /** Counts a response; returns the number since the last line once a minute, and 0 in between. */
  function countResponses(kind: DataSet | CountedEvent): number {
    const { loggedAt, count } = counts.get(kind) ?? { loggedAt: -Infinity, count: 0 }
    // The clock may be set back.
    const isDue = Math.abs(now() - loggedAt) >= SUMMARY_INTERVAL_MS
    counts.set(kind, isDue ? { loggedAt: now(), count: 0 } : { loggedAt, count: count + 1 })
    return isDue ? count + 1 : 0
  }

  function responsesOf(event: RatesEvent): number | undefined {
    if (isCounted(event)) return countResponses(event.type)
    return event.type === 'stale_served' ? countResponses(event.dataSet) : undefined
  }

  return (event) => {
    const severity = LEVEL[event.type]
    if (LEVELS.indexOf(severity) < lowest) return
    const responses = responsesOf(event)
    if (responses === 0) return
    if (format === 'json') {
      write(toJson(event, responses, now()), severity)
    } else {
      const sentence = toSentence(event, responses)
      if (sentence !== '') write(`ratesmith: ${toSingleLine(sentence)}`, severity)
    }
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
    level: LEVEL[type],
    event: type,
    reason: error === undefined ? undefined : messageOf(error),
    ...fields,
    answers: responses,
  }
  const text = JSON.stringify(line, (key, value: unknown) =>
    RATES.has(key) ? value : shorten(value),
  )
  return escapeInvisible(text)
}

/** Escapes the characters that break a line or change the reading direction, but that `JSON.stringify` leaves. */
export function escapeInvisible(json: string): string {
  return json.replace(/[\p{Cf}\p{Zl}\p{Zp}\x7f-\x9f]/gu, toJsonEscapes)
}

// Numbers other than rates are times in ms or counts.
function shorten(value: unknown): unknown {
  if (typeof value === 'number') return Math.round(value)
  if (typeof value === 'string') return value.slice(0, MAX_TEXT_LENGTH)
  if (!Array.isArray(value) || value.length <= MAX_LIST_LENGTH) return value
  return [...value.slice(0, MAX_LIST_LENGTH), `and ${value.length - MAX_LIST_LENGTH} more`]
}

function toJsonEscapes(text: string): string {
  return Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('')
}

function toSentence(event: RatesEvent, responses: number | undefined): string {
  switch (event.type) {
    case 'upstream_response':
      return `${event.dataSet} rates: ${event.provider}: responded in ${Math.round(event.elapsed)} ms`
    case 'upstream_failed':
      return `${event.dataSet} rates: ${event.provider}: ${event.reason}`
    case 'upstream_ending':
      return `${event.dataSet} rates: ${event.provider}: ends on ${toTime(event.endsAt)}`
    case 'rates_rejected':
      return `${event.dataSet} rates: ${event.provider ?? 'the store'}: rejected: ${event.reason}`
    case 'rates_dropped':
      return `${event.dataSet} rates: ${event.provider}: dropped ${event.dropped.join(', ')}`
    case 'rates_corrected':
      return `${event.dataSet} rates: ${event.provider}: corrected ${event.corrections.map(toCorrection).join(', ')}`
    case 'rates_lost':
      return `${event.dataSet} rates: ${event.provider}: no usable rate for ${event.codes.join(', ')}`
    case 'rates_late':
      return `${event.dataSet} rates: ${event.provider}: no rates for ${event.day} yet`
    case 'rates_quarantined':
      return `${event.dataSet} rates: ${event.provider}: quarantined until confirmed: ${event.codes.join(', ')}`
    case 'rates_revised':
      return `${event.dataSet} rates: ${event.provider}: revised ${event.revised.join(', ')}`
    case 'rates_restored':
      return `${event.dataSet} rates: restored from the store, loaded ${toTime(event.loadedAt)}`
    case 'stale_served':
      return `${event.dataSet} rates: ${responses} responses with data overdue by ${Math.round(event.overdue / 1_000)} s`
    case 'overloaded':
      return `overloaded: ${responses} requests got a 503, ${event.waiting} are waiting`
    case 'access_refused':
      return `${responses} requests were refused, the last one: ${event.reason.replace('_', ' ')}`
    case 'limit_reached':
      return `${responses} requests over a limit got a 429, the last one: ${event.limit} of plan ${event.plan}`
    case 'counters_failed':
      return `${event.operation.replace('_', ' ')} failed ${responses} times: ${event.reason}`
    case 'proxy_untrusted':
      return 'a proxy forwards requests, but trustedProxies is not set: its clients share one limit'
    case 'refresh_scheduled':
      return `${event.dataSet} rates: the next refresh is due ${toTime(event.at)}`
    case 'store_failed':
      return `store: ${event.operation} ${event.key}: ${messageOf(event.error)}`
    case 'internal_error':
      return `internal error: ${messageOf(event.error)}`
    // Another event has more details.
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
