import type { RatesEvent } from './events.ts'
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

type Correction = Extract<RatesEvent, { type: 'rates_deviating' }>['corrections'][number]

/** Fields that are rates, which JSON lines do not round. */
const RATES: ReadonlySet<string> = new Set<keyof Correction>(['published', 'corrected'])

/** Events of which there may be thousands: counted, and logged once per interval. */
const COUNTED: readonly string[] = [
  'stale_served',
  'overloaded',
  'access_refused',
  'limit_reached',
  'counters_failed',
] satisfies RatesEvent['type'][]

const LEVELS: readonly LogLevel[] = ['info', 'warn', 'error']

const FORMATS: readonly LogFormat[] = ['text', 'json']

/** All other events are warnings. */
const LEVEL: Partial<Record<RatesEvent['type'], LogLevel>> = {
  upstream_request: 'info',
  upstream_response: 'info',
  rates_revised: 'info',
  rates_restored: 'info',
  rates_updated: 'info',
  access_refused: 'info',
  limit_reached: 'info',
  refresh_scheduled: 'info',
  internal_error: 'error',
}

function levelOf({ type }: RatesEvent): LogLevel {
  return LEVEL[type] ?? 'warn'
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
  const counts = new Map<string, { loggedAt: number; count: number }>()

  /** Counts a response; returns the number since the last line once a minute, and 0 in between. */
  function countResponses(kind: string): number {
    const { loggedAt, count } = counts.get(kind) ?? { loggedAt: -Infinity, count: 0 }
    // The clock may be set back.
    const isDue = Math.abs(now() - loggedAt) >= SUMMARY_INTERVAL_MS
    counts.set(kind, isDue ? { loggedAt: now(), count: 0 } : { loggedAt, count: count + 1 })
    return isDue ? count + 1 : 0
  }

  function responsesOf(event: RatesEvent): number | undefined {
    if (!COUNTED.includes(event.type)) return undefined
    return countResponses('dataSet' in event ? event.dataSet : event.type)
  }

  return (event) => {
    const severity = levelOf(event)
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
    level: levelOf(event),
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

/** The type of a method, so that the sentence of one event is assignable to that of any event. */
type SentenceOf<Event> = { of(event: Event, responses: number | undefined): string }['of']

/** What follows the data set and the provider; absent where another event has more details. */
const SENTENCES: {
  readonly [Type in RatesEvent['type']]?: SentenceOf<Extract<RatesEvent, { type: Type }>>
} = {
  upstream_response: ({ elapsed }) => `responded in ${Math.round(elapsed)} ms`,
  upstream_failed: ({ reason }) => reason,
  upstream_ending: ({ endsAt }) => `ends on ${toTime(endsAt)}`,
  source_gone: () => 'its address returns 404 or 410',
  rates_rejected: ({ provider, reason }) =>
    `${provider === undefined ? 'the store: ' : ''}rejected: ${reason}`,
  rates_dropped: ({ dropped }) => `dropped ${dropped.join(', ')}`,
  rates_deviating: ({ corrections }) => `corrected ${corrections.map(toCorrection).join(', ')}`,
  rates_lost: ({ codes }) => `no usable rate for ${codes.join(', ')}`,
  rates_late: ({ due, day }) => `late: no rates${day ? ` for ${day}` : ''} since ${toTime(due)}`,
  rates_updated: ({ updatedAt }) => `updated, published ${toTime(updatedAt)}`,
  rates_repeated: ({ day, count }) => `${count} equal daily publications in a row, up to ${day}`,
  rates_quarantined: ({ codes }) => `quarantined until confirmed: ${codes.join(', ')}`,
  rates_revised: ({ revised }) => `revised ${revised.join(', ')}`,
  rates_restored: ({ loadedAt }) => `restored from the store, loaded ${toTime(loadedAt)}`,
  history_incomplete: ({ publication, piece, reason }) =>
    `incomplete: ${publication} ${piece}: ${reason}`,
  stale_served: ({ overdue }, responses) =>
    `${responses} responses with data overdue by ${Math.round(overdue / 1_000)} s`,
  overloaded: ({ waiting }, responses) =>
    `overloaded: ${responses} requests got a 503, ${waiting} are waiting`,
  access_refused: ({ reason }, responses) =>
    `${responses} requests were refused, the last one: ${reason.replace('_', ' ')}`,
  limit_reached: ({ limit, plan }, responses) =>
    `${responses} requests over a limit got a 429, the last one: ${limit} of plan ${plan}`,
  counters_failed: ({ operation, reason }, responses) =>
    `${operation.replace('_', ' ')} failed ${responses} times: ${reason}`,
  proxy_untrusted: () =>
    'a proxy forwards requests, but trustedProxies is not set: its clients share one limit',
  refresh_scheduled: ({ at }) => `the next refresh is due ${toTime(at)}`,
  store_failed: ({ operation, key, error }) => `store: ${operation} ${key}: ${messageOf(error)}`,
  internal_error: ({ error }) => `internal error: ${messageOf(error)}`,
}

function toSentence(event: RatesEvent, responses: number | undefined): string {
  const toText: SentenceOf<RatesEvent> | undefined = SENTENCES[event.type]
  if (!toText) return ''
  const dataSet = 'dataSet' in event ? [`${event.dataSet} rates`] : []
  const provider = 'provider' in event ? (event.provider ?? []) : []
  return [...dataSet, provider, toText(event, responses)].flat().join(': ')
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
