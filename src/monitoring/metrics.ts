import { EVENT_RECORDS, shortened, toSingleLine } from '../core.ts'
import type { EventCounter } from '../core.ts'
import type { HandlerState, RatesEvent, RatesHandler, ResponseSummary } from '../index.ts'
import { createMetric, observe, toOpenMetrics } from './open-metrics.ts'
import type { Family, Metric, Sample } from './open-metrics.ts'

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
  const responses = createResponseMetrics()
  const upstreams = createUpstreamMetrics()
  const events = createEventMetrics()
  const unsubscribe = handler.subscribe({
    onResponse: responses.count,
    onEvent(event) {
      upstreams.count(event)
      events.count(event)
    },
  })

  function text(): string {
    const states = stateFamilies(handler.inspect())
    return toOpenMetrics([...responses.all, ...states, ...upstreams.all, ...events.all])
  }

  return { text, fetch: (request) => respond(request, text), close: unsubscribe }
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
const METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'POST']

/** In seconds. Cached responses take a few microseconds, waits for data up to 5 s. */
const RESPONSE_BOUNDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
]

function createResponseMetrics() {
  const requests = createMetric({
    name: 'requests',
    help: 'Responses to requests, by route, method and status.',
    labels: ['route', 'method', 'status'],
  })
  const times = createMetric({
    name: 'request_duration_seconds',
    help: 'Time from a request to its response, without sending it.',
    labels: ['route'],
    bounds: RESPONSE_BOUNDS,
  })

  function count({ route, method, status, elapsed }: ResponseSummary): void {
    const name = route || 'page'
    requests.of(name, METHODS.includes(method) ? method : 'other', String(status)).value += 1
    observe(times.of(name), elapsed / MS_PER_SECOND)
  }

  return { count, all: [requests, times] }
}

function stateFamilies({ status, responseCacheBytes, waiting }: HandlerState): Family[] {
  const { latest, history } = status
  const states = Object.entries({ latest, history }).flatMap(([data_set, state]) =>
    state ? [{ labels: { data_set }, state }] : [],
  )
  const flags = (name: 'ready' | 'stale'): Sample[] =>
    states.map(({ labels, state }) => ({ labels, value: Number(state[name]) }))
  const ages = states.flatMap(({ labels, state: { age } }) =>
    age === null ? [] : [{ labels, value: age / MS_PER_SECOND }],
  )
  const one = (value: number): Sample[] => [{ labels: {}, value }]
  const gauges: [name: string, help: string, samples: Sample[]][] = [
    ['data_ready', 'Whether usable rates are loaded (1) or not (0).', flags('ready')],
    ['data_stale', 'Whether rates are overdue or late (1) or not (0).', flags('stale')],
    ['data_age_seconds', 'Time since the publication of the served rates.', ages],
    ['response_cache_bytes', 'Size of the cached responses.', one(responseCacheBytes)],
    ['waiting_requests', 'Requests that wait for rates or for a body.', one(waiting)],
  ]
  return gauges.map(([name, help, samples]) => ({ type: 'gauge', name, help, samples }))
}

/** Combinations of labels of a counter of events: names of operators, such as plans, may be many. */
const MAX_SERIES = 100

/** Names of labels that differ from the fields of events. */
const LABELS: Readonly<Record<string, string>> = { type: 'event', dataSet: 'data_set' }

function createEventMetrics() {
  const counters = new Map<EventCounter, Metric>()
  for (const [type, { counter }] of Object.entries(EVENT_RECORDS)) {
    if (!counter) continue
    const [name, help, fields] = counter
    const labels = Object.keys(fields).map((field) => LABELS[field] ?? field)
    const metric = counters.get(counter) ?? createMetric({ name, help, labels, limit: MAX_SERIES })
    counters.set(counter, metric)
    let initial: string[][] = [[]]
    for (const [field, values] of Object.entries(fields)) {
      const each = field === 'type' ? [type] : Object.keys(values)
      initial = initial.flatMap((start) => each.map((value) => [...start, value]))
    }
    for (const values of initial) metric.of(...values)
  }

  function count(event: RatesEvent): void {
    const { counter } = EVENT_RECORDS[event.type]
    const metric = counter && counters.get(counter)
    const fields = Object.keys(counter?.[2] ?? {})
    const values = fields.map((field) => toLabel(String(Reflect.get(event, field))))
    if (metric) metric.of(...values).value += 1
  }

  return { count, all: [...counters.values()] }
}

/** Providers with their own label value; all others are `other`. */
const MAX_PROVIDERS = 50
const MAX_LABEL_LENGTH = 100

/** In seconds. */
const UPSTREAM_BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

function createUpstreamMetrics() {
  const labels = ['data_set', 'provider']
  const requests = createMetric({ name: 'upstream_requests', help: 'Calls of providers.', labels })
  const failures = createMetric({
    name: 'upstream_failures',
    help: 'Calls of providers that failed or returned no data.',
    labels,
  })
  const times = createMetric({
    name: 'upstream_duration_seconds',
    help: 'Time of calls of providers, failed ones included.',
    labels,
    bounds: UPSTREAM_BOUNDS,
  })
  const providers = new Set<string>()

  function labelOf(provider: string): string {
    const label = toLabel(provider)
    if (providers.size < MAX_PROVIDERS) providers.add(label)
    return providers.has(label) ? label : 'other'
  }

  function count(event: RatesEvent): void {
    if (!('elapsed' in event) && event.type !== 'upstream_request') return
    // All three start with the first request: an alert divides them.
    const each = [event.dataSet, labelOf(event.provider)]
    const [calls, failed, time] = [requests.of(...each), failures.of(...each), times.of(...each)]
    if ('elapsed' in event) observe(time, event.elapsed / MS_PER_SECOND)
    else calls.value += 1
    if (event.type === 'upstream_failed') failed.value += 1
  }

  return { count, all: [requests, failures, times] }
}

function toLabel(text: string): string {
  return shortened(toSingleLine(text).trim(), MAX_LABEL_LENGTH)
}
