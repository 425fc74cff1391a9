import { SECOND } from '../virtual-runtime.ts'
import { BOTH, SECRET, after, answer, entriesOf, later, refused, wireError } from './fault.ts'
import type { Exchange, Make } from './fault.ts'

const CHUNK = 64 * 1024

const ENDLESS = { takes: 'limit' } as const

const misbehaving: Make<() => Promise<never>> = (name, misbehave, more) => {
  return { name, dataSets: BOTH, verdict: 'refused', misbehave, ...more }
}

export const transport = entriesOf('transport', {
  'dns-slow': refused('a response after 20 s', after(20 * SECOND), ENDLESS),
  'conn-refused': refused('refused after 1 ms', failLater, { takes: 1 }),
  'conn-timeout': refused('nothing until the call is aborted', after(Infinity), ENDLESS),
  'tls-expired': ['CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'EAI_AGAIN'].map((code) =>
    refused(code, () => Promise.reject(wireError(code))),
  ),
  'reset-mid-body': refused('after half of the bytes', ({ good }) =>
    breakOff(good.slice(0, good.length / 2), wireError('ECONNRESET')),
  ),
  'short-content-length': refused('all of the JSON, then the end of the connection', ({ good }) => {
    const headers = { 'content-length': String(2 * good.length) }
    return breakOff(good, wireError('UND_ERR_RES_CONTENT_LENGTH_MISMATCH'), headers)
  }),
  'slow-loris-body': refused('a byte every 200 ms', (exchange) => drip(exchange, 200), ENDLESS),
  'hang-after-headers': [
    refused('until the call is aborted', (exchange) => stall(exchange, true), ENDLESS),
    refused('even after the call is aborted', (exchange) => stall(exchange, false), ENDLESS),
  ],
  'abort-ignored': [
    misbehaving('a provider that never settles', () => new Promise(() => {}), ENDLESS),
    refused('a fetch that never settles', () => new Promise(() => {}), ENDLESS),
    refused('a fetch that answers late with another table', answerLate, ENDLESS),
  ],
  'http2-goaway': refused('UND_ERR_SOCKET', () => Promise.reject(wireError('UND_ERR_SOCKET'))),
  'provider-throws-nonerror': [
    ...[undefined, null, SECRET, 0, Symbol(SECRET), Object.create(null)].map(
      (thrown: unknown, index) =>
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- that is the fault
        misbehaving(`${typeof thrown}, ${index}`, () => Promise.reject(thrown)),
    ),
    refused('a fetch that rejects with undefined', () => Promise.reject()),
  ],
})

/** The table is valid; only the timeout keeps it from being served. */
function answerLate({ good, after: callAfter }: Exchange): Promise<Response> {
  const late = good.replaceAll(/(?<="(?:GBP|INR)":)[\d.]+/g, (rate) => `${Number(rate) * 1.5}`)
  return new Promise((resolve) => callAfter(12 * SECOND, () => resolve(answer(late))))
}

async function failLater(exchange: Exchange): Promise<never> {
  await later(exchange, 1)
  throw wireError('ECONNREFUSED')
}

type PouredBody = { pulled: number }

type Source = UnderlyingDefaultSource<Uint8Array<ArrayBuffer>>
type Controller = ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>

/** Returns a response with a body of `length` bytes that repeats `filling`. */
export function pour(filling: string, length: number, headers?: Headers): Response {
  const chunk = encode(filling.repeat(Math.ceil(CHUNK / filling.length)).slice(0, CHUNK))
  return respond(headers, (body) => ({
    pull(controller) {
      controller.enqueue(chunk.slice())
      body.pulled += chunk.length
      if (body.pulled >= length) controller.close()
    },
  }))
}

/** Returns a response that stops after its first bytes; with `heedsAbort`, the abort of the call ends it. */
function stall({ signal, good }: Exchange, heedsAbort: boolean): Response {
  return respond({}, () => ({
    start(controller) {
      controller.enqueue(encode(good.slice(0, 100)))
      if (heedsAbort) endWith(signal, controller)
    },
    // A pull that resolves would be called again.
    pull: () => new Promise<void>(() => {}),
  }))
}

function drip({ after: callAfter, signal, good }: Exchange, gap: number): Response {
  return respond({}, (body) => ({
    start: (controller) => endWith(signal, controller),
    pull: (controller) =>
      new Promise((resolve) => {
        callAfter(gap, () => {
          if (!signal.aborted) controller.enqueue(encode(good[body.pulled] ?? ' '))
          body.pulled += 1
          resolve()
        })
      }),
  }))
}

function breakOff(text: string, error: Error, headers?: Headers): Response {
  return respond(headers, (body) => ({
    pull(controller) {
      if (body.pulled > 0) controller.error(error)
      else controller.enqueue(encode(text))
      body.pulled += text.length
    },
  }))
}

type Headers = Record<string, string>

function respond(headers: Headers | undefined, toSource: (body: PouredBody) => Source): Response {
  // A highWaterMark of 0: chunks are pulled only when they are read.
  const stream = new ReadableStream(toSource({ pulled: 0 }), { highWaterMark: 0 })
  return new Response(stream, { headers: { 'content-type': 'application/json', ...headers } })
}

/** Ends the body with an error when the call is aborted, as `fetch` does. */
function endWith(signal: AbortSignal, controller: Controller): void {
  signal.addEventListener('abort', () => controller.error(signal.reason), { once: true })
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}
