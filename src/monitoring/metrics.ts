import { shortened } from '../events.ts'
import type { AccessRefusal, DataSet, RatesEvent } from '../events.ts'
import type { HandlerState, RatesHandler, ResponseSummary } from '../handler.ts'
import { toSingleLine } from '../log.ts'
import { createHistogram, createSeries, observe, toOpenMetrics } from './open-metrics.ts'
import type { Family, Sample } from './open-metrics.ts'

/** Metrics of a handler. */
export interface Metrics {
  /** Returns the current metrics as OpenMetrics 1.0 text. */
  text(): string
  /** Returns the text to `GET` and `HEAD`, and 405 to other methods; ignores the path. */
  readonly fetch: (request: Request) => Response
  /** Stops counting. */
  close(): void
}

const CONTENT_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

const MS_PER_SECOND = 1_000

/**
 * Creates metrics of `handler`, and starts to count. Labels contain no key, no client address and no query.
 *
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createMetrics } from 'ratesmith/monitoring'
 *
 * const metrics = createMetrics(createRatesHandler())
 * const response = metrics.fetch(new Request('http://localhost/metrics'))
 * ```
 */
export function createMetrics(handler: Pick<RatesHandler, 'subscribe' | 'inspect'>): Metrics {
  const requests = createRequestCounts()
  const events = createEventCounts()
  const unsubscribe = handler.subscribe({ onResponse: requests.count, onEvent: events.count })

  function text(): string {
    return toOpenMetrics([
      ...requests.families(),
      ...stateFamilies(handler.inspect()),
      ...events.families(),
    ])
  }

  return {
    text,
    fetch: (request) => respond(request, text),
    close: unsubscribe,
  }
}

function respond({ method }: Request, text: () => string): Response {
  const common = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
  if (method !== 'GET' && method !== 'HEAD') {
    return new Response(null, { status: 405, headers: { ...common, allow: 'GET, HEAD' } })
  }
  const headers = { ...common, 'content-type': CONTENT_TYPE }
  return new Response(method === 'HEAD' ? null : text(), { headers })
}

/** Methods with their own label value; all others are `other`. */
const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'other']

/** Known routes are fewer; a mounted service has one name. */
const MAX_ROUTES = 100

/** In seconds. Cached responses take a few microseconds, waits for data up to 5 s. */
const RESPONSE_BOUNDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
]

/** Counts responses. Without a key for each response, because that would take longer than all the rest. */
function createRequestCounts() {
  const routes = createSeries(['route'], MAX_ROUTES, () => ({
    histogram: createHistogram(RESPONSE_BOUNDS),
    /** Counts in the order of `METHODS`, by status. */
    statuses: new Map<number, number[]>(),
  }))

  function samples(): Sample[] {
    return routes.entries().flatMap(({ labels, value: { statuses } }) =>
      [...statuses].flatMap(([status, counts]) =>
        counts.flatMap((value, index) => {
          const method = METHODS[index] ?? ''
          return value > 0 ? [{ labels: { ...labels, method, status: `${status}` }, value }] : []
        }),
      ),
    )
  }

  return {
    count({ route, method, status, elapsed }: ResponseSummary): void {
      const { histogram, statuses } = routes.of(route || 'page')
      observe(histogram, elapsed / MS_PER_SECOND)
      let counts = statuses.get(status)
      if (!counts) statuses.set(status, (counts = METHODS.map(() => 0)))
      const index = METHODS.indexOf(method)
      const column = index < 0 ? METHODS.length - 1 : index
      counts[column] = (counts[column] ?? 0) + 1
    },
    families: (): Family[] => [
      {
        name: 'ratesmith_requests',
        type: 'counter',
        help: 'Responses to requests, by route, method and status.',
        samples: samples(),
      },
      {
        name: 'ratesmith_request_duration_seconds',
        type: 'histogram',
        unit: 'seconds',
        help: 'Time from a request to its response, without sending it.',
        samples: routes.samples(({ histogram }) => histogram),
      },
    ],
  }
}

function gauge(name: string, help: string, samples: Sample[]): Family {
  return { name: `ratesmith_${name}`, type: 'gauge', help, samples }
}

function stateFamilies({ status, responseCacheBytes, waiting }: HandlerState): Family[] {
  const { latest, history } = status
  const dataSets = Object.entries({ latest, history }).flatMap(([data_set, state]) =>
    state ? [{ labels: { data_set }, state }] : [],
  )
  const ages = dataSets.flatMap(({ labels, state: { age } }) =>
    age === null ? [] : [{ labels, value: age / MS_PER_SECOND }],
  )
  const flags = (name: 'ready' | 'stale'): Sample[] =>
    dataSets.map(({ labels, state }) => ({ labels, value: Number(state[name]) }))
  return [
    gauge('data_ready', 'Whether usable rates are loaded (1) or not (0).', flags('ready')),
    gauge('data_stale', 'Whether rates are overdue or late (1) or not (0).', flags('stale')),
    {
      ...gauge('data_age_seconds', 'Time since the publication of the served rates.', ages),
      unit: 'seconds',
    },
    {
      ...gauge('response_cache_bytes', 'Size of the cached responses.', [
        { labels: {}, value: responseCacheBytes },
      ]),
      unit: 'bytes',
    },
    gauge('waiting_requests', 'Requests that wait for rates or for a body.', [
      { labels: {}, value: waiting },
    ]),
  ]
}

interface Count {
  value: number
}

interface Counter {
  add(labels: string[], by?: number): void
  family(): Family
}

/** Counts of operators' names, such as plans, are limited to this number of series. */
const MAX_SERIES = 100

interface CounterOptions {
  name: string
  help: string
  labels?: readonly string[]
  /** Values of the labels that start at 0, so that an alert sees the first increase. */
  initial?: readonly string[][]
}

function createCounter({ name, help, labels = [], initial = [] }: CounterOptions): Counter {
  const series = createSeries<Count>(labels, MAX_SERIES, () => ({ value: 0 }))
  const add = (values: string[], by = 1): void => void (series.of(...values).value += by)
  for (const values of labels.length === 0 ? [[]] : initial) add(values, 0)
  return {
    add,
    family: () => ({
      name: `ratesmith_${name}`,
      type: 'counter',
      help,
      samples: series.samples(({ value }) => value),
    }),
  }
}

const DATA_SETS: readonly DataSet[] = ['latest', 'history']

const DATA_SET = ['data_set']

const EACH_DATA_SET = DATA_SETS.map((dataSet) => [dataSet])

const QUALITY_EVENTS = [
  'rates_rejected',
  'rates_dropped',
  'rates_deviating',
  'rates_lost',
  'rates_quarantined',
  'rates_revised',
  'rates_late',
  'rates_repeated',
  'history_incomplete',
  'source_gone',
  'upstream_ending',
] as const

type Operation<Type extends 'counters_failed' | 'store_failed'> = Extract<
  RatesEvent,
  { type: Type }
>['operation']

// The types make these lists complete.

const REFUSALS: Readonly<Record<AccessRefusal, true>> = {
  missing_key: true,
  malformed_key: true,
  unknown_key: true,
  expired_key: true,
  unknown_plan: true,
  forbidden_origin: true,
}

const COUNTER_OPERATIONS: Readonly<Record<Operation<'counters_failed'>, true>> = {
  take: true,
  give_back: true,
  find_key: true,
  find_client: true,
  admit: true,
}

const STORE_OPERATIONS: Readonly<Record<Operation<'store_failed'>, true>> = {
  get: true,
  set: true,
  claim: true,
}

function eachOf(values: object): string[][] {
  return Object.keys(values).map((value) => [value])
}

function createCounters() {
  return {
    stale: createCounter({
      name: 'stale_responses',
      help: 'Responses from overdue or late rates.',
      labels: DATA_SET,
      initial: EACH_DATA_SET,
    }),
    refresh: createCounter({
      name: 'refresh_failures',
      help: 'Refreshes without usable data from any provider.',
      labels: DATA_SET,
      initial: EACH_DATA_SET,
    }),
    quality: createCounter({
      name: 'data_events',
      help: 'Events about the quality of upstream data, by type.',
      labels: ['event', 'data_set'],
      initial: QUALITY_EVENTS.flatMap((type) => DATA_SETS.map((dataSet) => [type, dataSet])),
    }),
    refused: createCounter({
      name: 'access_refused',
      help: 'Requests that got a 401 or 403, by reason.',
      labels: ['reason'],
      initial: eachOf(REFUSALS),
    }),
    limits: createCounter({
      name: 'limits_reached',
      help: 'Requests that got a 429, by plan and limit.',
      labels: ['plan', 'limit'],
    }),
    counters: createCounter({
      name: 'counters_failures',
      help: 'Failed operations of counters and key stores.',
      labels: ['operation'],
      initial: eachOf(COUNTER_OPERATIONS),
    }),
    store: createCounter({
      name: 'store_failures',
      help: 'Failed operations of the store.',
      labels: ['operation'],
      initial: eachOf(STORE_OPERATIONS),
    }),
    overloaded: createCounter({
      name: 'overloaded_responses',
      help: 'Requests that got a 503 because others were waiting.',
    }),
    internal: createCounter({ name: 'internal_errors', help: 'Unexpected errors.' }),
  }
}

function createEventCounts() {
  const counters = createCounters()
  const upstreams = createUpstreamCounts()

  function count(event: RatesEvent): void {
    upstreams.count(event)
    switch (event.type) {
      case 'stale_served':
        return counters.stale.add([event.dataSet])
      case 'refresh_failed':
        return counters.refresh.add([event.dataSet])
      case 'access_refused':
        return counters.refused.add([event.reason])
      case 'limit_reached':
        return counters.limits.add([toLabel(event.plan), toLabel(event.limit)])
      case 'counters_failed':
        return counters.counters.add([event.operation])
      case 'store_failed':
        return counters.store.add([event.operation])
      case 'overloaded':
        return counters.overloaded.add([])
      case 'internal_error':
        return counters.internal.add([])
      default:
        if (QUALITY_EVENTS.some((type) => type === event.type) && 'dataSet' in event) {
          counters.quality.add([event.type, event.dataSet])
        }
        return undefined
    }
  }

  return {
    count,
    families: () => [
      ...upstreams.families(),
      ...Object.values(counters).map((counter) => counter.family()),
    ],
  }
}

/** Providers with their own label value; all others are `other`. */
const MAX_PROVIDERS = 50

const MAX_LABEL_LENGTH = 100

/** In seconds. */
const UPSTREAM_BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

function createUpstreamCounts() {
  const calls = createSeries(['data_set', 'provider'], Infinity, () => ({
    requests: 0,
    failures: 0,
    durations: createHistogram(UPSTREAM_BOUNDS),
  }))
  const providers = new Set<string>()

  function labelOf(provider: string): string {
    const label = toLabel(provider)
    if (providers.size < MAX_PROVIDERS) providers.add(label)
    return providers.has(label) ? label : 'other'
  }

  return {
    count(event: RatesEvent): void {
      const { type } = event
      if (type !== 'upstream_request' && type !== 'upstream_response' && type !== 'upstream_failed')
        return
      const call = calls.of(event.dataSet, labelOf(event.provider))
      if (type === 'upstream_request') call.requests += 1
      else observe(call.durations, event.elapsed / MS_PER_SECOND)
      if (type === 'upstream_failed') call.failures += 1
    },
    families: (): Family[] => [
      {
        name: 'ratesmith_upstream_requests',
        type: 'counter',
        help: 'Calls of providers.',
        samples: calls.samples(({ requests }) => requests),
      },
      {
        name: 'ratesmith_upstream_failures',
        type: 'counter',
        help: 'Calls of providers that failed or returned no data.',
        samples: calls.samples(({ failures }) => failures),
      },
      {
        name: 'ratesmith_upstream_duration_seconds',
        type: 'histogram',
        unit: 'seconds',
        help: 'Time of calls of providers, failed ones included.',
        samples: calls.samples(({ durations }) => durations),
      },
    ],
  }
}

function toLabel(text: string): string {
  return shortened(toSingleLine(text).trim(), MAX_LABEL_LENGTH)
}
