import type { DataSet, RatesEvent } from './events.ts'

/** The severity of an event, in ascending order. */
export type LogLevel = 'info' | 'warn' | 'error'

type Correction = Extract<RatesEvent, { type: 'rates_deviating' }>['corrections'][number]

/**
 * Without the prefix `ratesmith_` and the suffix of a counter. Labels are fields of the event, each with its values that start
 * at 0, so that an alert sees the first increase: none of names that operators choose, and the type of the record of `type`.
 */
export type EventCounter<Labels = Readonly<Record<string, object>>> = readonly [
  name: string,
  help: string,
  labels: Labels,
]

type LabelsOf<Event> = {
  readonly [Field in keyof Event]?: Field extends 'type'
    ? object
    : Readonly<Record<NameIn<Event[Field]>, 0>>
}

type NameIn<Value> = Value extends string ? (string extends Value ? never : Value) : never

/** All that logs and metrics know of the events of a type. Texts follow the data set and the provider. */
interface EventRecord<Event, Labels = LabelsOf<Event>> {
  /** Default `warn`. */
  level?: LogLevel
  /** Absent where another event has more details. */
  text?(event: Event): string
  /** Instead of `text` where there may be thousands: of the last one, and their number. Logged once per interval. */
  summary?(event: Event, count: number): string
  counter?: EventCounter<Labels>
}

type AnyRecord = EventRecord<RatesEvent, EventCounter[2]>
const DATA_SETS: Readonly<Record<DataSet, 0>> = { latest: 0, history: 0 }
const BY_DATA_SET = { dataSet: DATA_SETS }

const DATA_EVENTS: EventCounter<{ type: object } & typeof BY_DATA_SET> = [
  'data_events',
  'Events about the quality of upstream data, by type.',
  { type: {}, dataSet: DATA_SETS },
]

/** In the order of the metrics. A type of events without a record, or a label without a value, does not compile. */
export const EVENT_RECORDS: Readonly<Record<RatesEvent['type'], AnyRecord>> = {
  // Metrics count calls of providers together with their time.
  upstream_request: { level: 'info' },
  upstream_response: {
    level: 'info',
    text: ({ elapsed }) => `responded in ${Math.round(elapsed)} ms`,
  },
  upstream_failed: { text: ({ reason }) => reason },
  stale_served: {
    summary: ({ overdue }, count) =>
      `${count} responses with data overdue by ${Math.round(overdue / 1_000)} s`,
    counter: ['stale_responses', 'Responses from overdue or late rates.', BY_DATA_SET],
  },
  refresh_failed: {
    counter: ['refresh_failures', 'Refreshes without usable data from any provider.', BY_DATA_SET],
  },
  rates_rejected: {
    text: ({ provider, reason }) =>
      `${provider === undefined ? 'the store: ' : ''}rejected: ${reason}`,
    counter: DATA_EVENTS,
  },
  rates_dropped: { text: ({ dropped }) => `dropped ${listed(dropped)}`, counter: DATA_EVENTS },
  rates_deviating: {
    text: ({ corrections }) => `corrected ${listed(corrections.map(toCorrection))}`,
    counter: DATA_EVENTS,
  },
  rates_lost: { text: ({ codes }) => `no usable rate for ${listed(codes)}`, counter: DATA_EVENTS },
  rates_quarantined: {
    text: ({ codes }) => `quarantined until confirmed: ${listed(codes)}`,
    counter: DATA_EVENTS,
  },
  rates_revised: {
    level: 'info',
    text: ({ revised }) => `revised ${listed(revised)}`,
    counter: DATA_EVENTS,
  },
  rates_late: {
    text: ({ due, day }) => `late: no rates${day ? ` for ${day}` : ''} since ${toTime(due)}`,
    counter: DATA_EVENTS,
  },
  rates_repeated: {
    text: ({ day, count }) => `${count} equal daily publications in a row, up to ${day}`,
    counter: DATA_EVENTS,
  },
  history_incomplete: {
    text: ({ publication, piece, reason }) => `incomplete: ${publication} ${piece}: ${reason}`,
    counter: DATA_EVENTS,
  },
  source_gone: { text: () => 'its address returns 404 or 410', counter: DATA_EVENTS },
  upstream_ending: { text: ({ endsAt }) => `ends on ${toTime(endsAt)}`, counter: DATA_EVENTS },
  rates_updated: {
    level: 'info',
    text: ({ updatedAt }) => `updated, published ${toTime(updatedAt)}`,
  },
  rates_restored: {
    level: 'info',
    text: ({ loadedAt }) => `restored from the store, loaded ${toTime(loadedAt)}`,
  },
  refresh_scheduled: { level: 'info', text: ({ at }) => `the next refresh is due ${toTime(at)}` },
  access_refused: {
    level: 'info',
    summary: ({ reason }, count) =>
      `${count} requests were refused, the last one: ${reason.replace('_', ' ')}`,
    counter: [
      'access_refused',
      'Requests that got a 401 or 403, by reason.',
      {
        reason: {
          missing_key: 0,
          malformed_key: 0,
          unknown_key: 0,
          expired_key: 0,
          unknown_plan: 0,
          forbidden_origin: 0,
        },
      },
    ],
  },
  limit_reached: {
    level: 'info',
    summary: ({ limit, plan }, count) =>
      `${count} requests over a limit got a 429, the last one: ${limit} of plan ${plan}`,
    counter: [
      'limits_reached',
      'Requests that got a 429, by plan and limit.',
      { plan: {}, limit: {} },
    ],
  },
  counters_failed: {
    summary: ({ operation, reason }, count) =>
      `${operation.replace('_', ' ')} failed ${count} times: ${reason}`,
    counter: [
      'counters_failures',
      'Failed operations of counters and key stores.',
      { operation: { take: 0, give_back: 0, find_key: 0, find_client: 0, admit: 0 } },
    ],
  },
  proxy_untrusted: {
    text: () =>
      'a proxy forwards requests, but trustedProxies is not set: its clients share one limit',
  },
  store_failed: {
    text: ({ operation, key, error }) => `store: ${operation} ${key}: ${messageOf(error)}`,
    counter: [
      'store_failures',
      'Failed operations of the store.',
      { operation: { get: 0, set: 0, claim: 0 } },
    ],
  },
  overloaded: {
    summary: ({ waiting }, count) =>
      `overloaded: ${count} requests got a 503, ${waiting} are waiting`,
    counter: ['overloaded_responses', 'Requests that got a 503 because others were waiting.', {}],
  },
  internal_error: {
    level: 'error',
    text: ({ error }) => `internal error: ${messageOf(error)}`,
    counter: ['internal_errors', 'Unexpected errors.', {}],
  },
} satisfies {
  readonly [Type in RatesEvent['type']]: EventRecord<Extract<RatesEvent, { type: Type }>>
}

function listed(names: readonly string[]): string {
  return names.join(', ')
}

function toCorrection({ code, published, corrected }: Correction): string {
  return `${code} from ${published} to ${corrected}`
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

export function toTime(instant: number): string {
  const date = new Date(instant)
  return Number.isNaN(date.getTime()) ? String(instant) : date.toISOString()
}
