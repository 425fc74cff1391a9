import { SECOND } from '../virtual-runtime.ts'
import { BOTH, SECRET, after, answer, entriesOf, failingBoth, later, wireError } from './fault.ts'
import type { Exchange, Fault, FaultCase } from './fault.ts'

const CHUNK = 64 * 1024

/** Only the timeout of the call ends it. */
const ENDLESS = { takes: 'limit' } as const

const entry = entriesOf('transport')

/** Faults of the connection to an upstream. */
export const transport: readonly FaultCase[] = [
  entry('dns-slow', 'the name is resolved after 20 s', [
    failingBoth('a response after 20 s', after(20 * SECOND), ENDLESS),
  ]),
  entry('conn-refused', 'the connection is refused at once', [
    failingBoth('refused after 1 ms', failsAfter(1, wireError('ECONNREFUSED')), { takes: 1 }),
  ]),
  entry('conn-timeout', 'the connection is never made', [
    failingBoth('nothing until the call is aborted', after(Infinity), ENDLESS),
  ]),
  entry(
    'tls-expired',
    'the certificate has expired, or is for another host',
    ['CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'EAI_AGAIN'].map((code) =>
      failingBoth(code, () => Promise.reject(wireError(code))),
    ),
  ),
  entry('reset-mid-body', 'the connection is reset in the middle of the body', [
    failingBoth('after half of the bytes', ({ good }) =>
      breakOff(good.slice(0, good.length / 2), wireError('ECONNRESET')),
    ),
  ]),
  entry('short-content-length', 'the body looks complete, but more was announced', [
    failingBoth('all of the JSON, then the end of the connection', ({ good }) => {
      const headers = { 'content-length': String(2 * good.length) }
      return breakOff(good, wireError('UND_ERR_RES_CONTENT_LENGTH_MISMATCH'), headers)
    }),
  ]),
  entry('slow-loris-body', 'the headers arrive at once, the body byte by byte', [
    failingBoth('a byte every 200 ms', (exchange) => drip(exchange, 200), ENDLESS),
  ]),
  entry('hang-after-headers', 'the headers arrive, the body never does', [
    failingBoth('until the call is aborted', (exchange) => stall(exchange, true), ENDLESS),
    failingBoth('even after the call is aborted', (exchange) => stall(exchange, false), ENDLESS),
  ]),
  entry('abort-ignored', 'a provider, or a fetch, ignores its signal', [
    misbehaving('a provider that never settles', () => new Promise(() => {}), ENDLESS),
    failingBoth('a fetch that never settles', () => new Promise(() => {}), ENDLESS),
    failingBoth(
      'a fetch that answers late with another table',
      ({ good, after: callAfter }) =>
        new Promise((resolve) => {
          // The table is valid; only the timeout keeps it from being served.
          const late = good.replaceAll(/(?<="(?:GBP|INR)":)[\d.]+/g, (rate) =>
            String(Number(rate) * 1.5),
          )
          callAfter(12 * SECOND, () => resolve(answer(late)))
        }),
      ENDLESS,
    ),
  ]),
  entry('http2-goaway', 'a kept-alive connection is closed when it is reused', [
    failingBoth('UND_ERR_SOCKET', () => Promise.reject(wireError('UND_ERR_SOCKET'))),
  ]),
  entry(
    'provider-throws-nonerror',
    'a provider, or a fetch, rejects with a value that is not an Error',
    [
      ...[undefined, null, SECRET, 0, Symbol(SECRET), Object.create(null)].map(
        (thrown: unknown, index) =>
          // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- that is the fault
          misbehaving(`${typeof thrown}, ${index}`, () => Promise.reject(thrown)),
      ),
      failingBoth('a fetch that rejects with undefined', () => Promise.reject()),
    ],
  ),
]

/** Returns a form that replaces the provider. */
function misbehaving(
  name: string,
  misbehave: () => Promise<never>,
  more: Partial<Fault> = {},
): Fault {
  return { name, dataSets: BOTH, verdict: 'refused', misbehave, ...more }
}

function failsAfter(delay: number, error: Error) {
  return async (exchange: Exchange): Promise<never> => {
    await later(exchange, delay)
    throw error
  }
}

/** The state of a body that was poured. */
type PouredBody = { pulled: number; isCancelled: boolean }

/** The body that was poured last. */
export let lastPoured: PouredBody | undefined

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
  const body = { pulled: 0, isCancelled: false }
  lastPoured = body
  const cancel = (): void => {
    body.isCancelled = true
  }
  // A highWaterMark of 0: chunks are pulled only when they are read.
  const stream = new ReadableStream({ ...toSource(body), cancel }, { highWaterMark: 0 })
  return new Response(stream, { headers: { 'content-type': 'application/json', ...headers } })
}

/** Ends the body with an error when the call is aborted, as `fetch` does. */
function endWith(signal: AbortSignal, controller: Controller): void {
  signal.addEventListener('abort', () => controller.error(signal.reason), { once: true })
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}
