import { expectThat } from './contract.ts'
import { ABORT_DEADLINE_MS } from './provider-rules.ts'
import type { Rule } from './provider-rules.ts'
import type { Behaviour, Call, Exchange, Trial } from './provider-trial.ts'

type Pull = (controller: ReadableStreamDefaultController<Uint8Array>) => void | Promise<void>

const CHUNK_INTERVAL_MS = 1

export const FAULTS: Record<string, Behaviour> = {
  'cannot be reached': async () => {
    throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })
  },
  'returns HTTP 500, even with a valid body': withStatus(500),
  'returns HTTP 404, even with a valid body': withStatus(404),
  'returns an HTML page': () =>
    new Response('<!doctype html><title>Back soon</title><p>1 EUR = 1.1 USD', {
      headers: { 'content-type': 'text/html; charset=utf-8' },
    }),
  'returns an empty body': () => new Response(''),
  'disconnects during the body': (exchange) =>
    truncatedResponse(exchange, (controller) => controller.error(new TypeError('terminated'))),
  'returns truncated JSON': async ({ goodResponse }) => {
    const text = await (await goodResponse()).text()
    return toJson(isJson(text) ? text.slice(0, text.length / 2) : '')
  },
  'returns JSON with null in place of every value': async ({ goodResponse }) => {
    const text = await (await goodResponse()).text()
    return toJson(isJson(text) ? withoutValues(text) : '{}')
  },
  'redirects endlessly': withStatus(302, { location: 'https://redirect.example/' }),
}

/** JSON that no healthy upstream of rates returns. */
export const OTHER_FORMS: readonly string[] = ['null', '42', '"EUR"', '[]', '{}', '[null]']

const endless: Behaviour = ({ signal, wait }) => {
  const chunk = new TextEncoder().encode(`[${'0,'.repeat(8_192)}`)
  const body = endedBy(signal, async (controller) => {
    await wait(CHUNK_INTERVAL_MS)
    controller.enqueue(chunk)
  })
  return toJson(body)
}

/** Returns half of a body, then nothing until the request is aborted. */
const stuck: Behaviour = (exchange) => truncatedResponse(exchange, () => new Promise(() => {}))

const silent: Behaviour = () => new Promise<Response>(() => {})

function withRetryAfter(status: number, seconds: number): Behaviour {
  return () => new Response('', { status, headers: { 'retry-after': String(seconds) } })
}

function respondingWith(text: string): Behaviour {
  return () => toJson(text)
}

function withStatus(status: number, added: Record<string, string> = {}): Behaviour {
  return async ({ goodResponse }) => {
    const { body, headers } = await goodResponse()
    const changed = new Headers(headers)
    for (const [name, value] of Object.entries(added)) changed.set(name, value)
    return new Response(body, { status, headers: changed })
  }
}

function toJson(body: string | ReadableStream<Uint8Array>): Response {
  return new Response(body, { headers: { 'content-type': 'application/json' } })
}

async function truncatedResponse(
  { goodResponse, signal }: Exchange,
  pullRest: Pull,
): Promise<Response> {
  const bytes = new Uint8Array(await (await goodResponse()).arrayBuffer())
  const half = bytes.subarray(0, bytes.byteLength / 2)
  const pulls: Pull[] = [(controller) => controller.enqueue(half)]
  return toJson(endedBy(signal, (controller) => (pulls.pop() ?? pullRest)(controller)))
}

/** The body fails when `signal` aborts, as with the platform's `fetch`. */
function endedBy(signal: AbortSignal, pull: Pull): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      signal.addEventListener('abort', () => controller.error(signal.reason))
    },
    pull,
  })
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}

function withoutValues(json: string): string {
  return JSON.stringify(
    JSON.parse(json, (_, value: unknown) => (typeof value === 'object' ? value : null)),
  )
}

/** Time before an endless body is aborted; the handler would wait for seconds. */
const ENDLESS_BODY_MS = 300

const RETRY_AFTER_SECONDS = 120

export const REQUESTS: Record<string, Rule> = {
  async 'sends its requests with context.fetch'(trial) {
    const call = trial.call()
    await call.outcome()
    expectRequest(call)
  },
  async 'rejects if its signal has already aborted'(trial) {
    await trial.expectFailure(trial.call({ signal: AbortSignal.abort() }), ABORT_DEADLINE_MS)
  },
  'rejects if its signal aborts before the response': (trial) => expectAborted(trial, silent, 0),
  'rejects if its signal aborts during the body': (trial) => expectAborted(trial, stuck, 20),
  'rejects if its signal aborts during an endless body': (trial) =>
    expectAborted(trial, endless, ENDLESS_BODY_MS),
  ...Object.fromEntries(
    Object.entries(FAULTS).map(([fault, behaviour]): [string, Rule] => [
      `rejects if the upstream ${fault}`,
      async (trial) => void (await trial.expectFailure(trial.call({ behaviour }))),
    ]),
  ),
  async 'rejects if the upstream returns JSON of another structure'(trial) {
    for (const text of OTHER_FORMS) {
      await trial.expectFailure(trial.call({ behaviour: respondingWith(text) }))
    }
  },
  async 'rejects if the upstream fails after a success'(trial) {
    await trial.data()
    const behaviour: Behaviour = () => Promise.reject(new TypeError('fetch failed'))
    await trial.expectFailure(trial.call({ behaviour }))
  },
  async 'rejects without a retryAfterMs shorter than Retry-After'(trial) {
    for (const status of [429, 503]) {
      const call = trial.call({ behaviour: withRetryAfter(status, RETRY_AFTER_SECONDS) })
      expectRetryAfter(Object(await trial.expectFailure(call)).retryAfterMs)
    }
  },
}

async function expectAborted(trial: Trial, behaviour: Behaviour, delay: number): Promise<void> {
  const controller = new AbortController()
  const call = trial.call({ behaviour, signal: controller.signal })
  for (let waited = 0; call.requests() === 0 && waited < ABORT_DEADLINE_MS; waited += 1)
    await trial.wait(1)
  expectRequest(call)
  await trial.wait(delay)
  controller.abort()
  await trial.expectFailure(call, ABORT_DEADLINE_MS)
}

function expectRequest(call: Call): void {
  expectThat('a request with context.fetch', call.requests() > 0, call.requests())
}

function expectRetryAfter(retryAfterMs: unknown): void {
  const min = RETRY_AFTER_SECONDS * 1_000
  const isLongEnough = typeof retryAfterMs === 'number' && retryAfterMs >= min
  const expectation = `retryAfterMs to be undefined or at least ${min} after Retry-After: ${RETRY_AFTER_SECONDS}`
  expectThat(expectation, retryAfterMs === undefined || isLongEnough, retryAfterMs)
}
