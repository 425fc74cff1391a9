import type { Behaviour, Exchange } from './upstream.ts'

/** Gives more of a body. */
type Pull = (controller: ReadableStreamDefaultController<Uint8Array>) => void | Promise<void>

/** How far apart the parts of a body come that has no end, in ms. */
const CHUNK_INTERVAL_MS = 1

/** What goes wrong with an upstream, by what it does then. */
export const FAULTS: Record<string, Behaviour> = {
  'cannot be reached': async () => {
    throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })
  },
  'answers with 500, whatever its body': withStatus(500),
  'answers with 404, whatever its body': withStatus(404),
  'answers with a page of HTML': () =>
    new Response('<!doctype html><title>Back soon</title><p>1 EUR = 1.1 USD', {
      headers: { 'content-type': 'text/html; charset=utf-8' },
    }),
  'answers with nothing': () => new Response(''),
  'breaks off amid its answer': (exchange) =>
    truncatedResponse(exchange, (controller) => controller.error(new TypeError('terminated'))),
  'answers with JSON that ends early': async ({ goodAnswer }) => {
    const text = await (await goodAnswer()).text()
    return toJson(isJson(text) ? text.slice(0, text.length / 2) : '')
  },
  'answers with JSON without its values': async ({ goodAnswer }) => {
    const text = await (await goodAnswer()).text()
    return toJson(isJson(text) ? withoutValues(text) : '{}')
  },
  'redirects for ever': withStatus(302, { location: 'https://elsewhere.example/' }),
}

/** JSON that is nothing that any upstream of rates answers with when all is well. */
export const OTHER_FORMS: readonly string[] = ['null', '42', '"EUR"', '[]', '{}', '[null]']

/** Answers with a body that goes on until the request is given up. */
export const endless: Behaviour = ({ signal, wait }) => {
  const part = new TextEncoder().encode(`[${'0,'.repeat(8_192)}`)
  const body = endedBy(signal, async (controller) => {
    await wait(CHUNK_INTERVAL_MS)
    controller.enqueue(part)
  })
  return toJson(body)
}

/** Answers with half of a body, and then with nothing until the request is given up. */
export const stuck: Behaviour = (exchange) =>
  truncatedResponse(exchange, () => new Promise(() => {}))

/** Answers with nothing until the request is given up. */
export const silent: Behaviour = () => new Promise<Response>(() => {})

/** Answers with `status`, asking for a pause of `seconds`. */
export function withRetryAfter(status: number, seconds: number): Behaviour {
  return () => new Response('', { status, headers: { 'retry-after': String(seconds) } })
}

/** Answers with the JSON `text`. */
export function answering(text: string): Behaviour {
  return () => toJson(text)
}

function withStatus(status: number, added: Record<string, string> = {}): Behaviour {
  return async ({ goodAnswer }) => {
    const { body, headers } = await goodAnswer()
    const changed = new Headers(headers)
    for (const [name, value] of Object.entries(added)) changed.set(name, value)
    return new Response(body, { status, headers: changed })
  }
}

function toJson(body: string | ReadableStream<Uint8Array>): Response {
  return new Response(body, { headers: { 'content-type': 'application/json' } })
}

/** Answers with the first half of a good body; what comes behind it is for `goOn` to say. */
async function truncatedResponse({ goodAnswer, signal }: Exchange, goOn: Pull): Promise<Response> {
  const bytes = new Uint8Array(await (await goodAnswer()).arrayBuffer())
  const half = bytes.subarray(0, bytes.byteLength / 2)
  const pulls: Pull[] = [(controller) => controller.enqueue(half)]
  return toJson(endedBy(signal, (controller) => (pulls.pop() ?? goOn)(controller)))
}

/** A body that fails when `signal` aborts, as that of the platform's `fetch` does. */
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
