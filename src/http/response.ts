import type { Header, RawResponse } from './raw.ts'
import { toBytes } from './representation.ts'

/** Smaller bodies are mostly conversions, which are too many to cache their headers. */
const SMALL_BODY_BYTES = 1_024

/**
 * On Deno, longer bodies (characters or bytes) are sent as streams: only then does its server report when the client has
 * received the body, which the adapter needs to limit the responses of a connection.
 */
const LARGE_BODY_BYTES = 65_536

type Bytes = Uint8Array<ArrayBuffer>

/**
 * Creates a function that turns a raw response into a `Response`. Node copies every body slowly, except a stream of one
 * chunk; on other runtimes a stream is the slowest form.
 */
export function createResponseFactory(): (response: RawResponse) => Response {
  const toBody = bodyFor(globalThis.navigator?.userAgent ?? '')
  const cached = new WeakMap<Header[], Headers>()

  // `Response` takes a `Headers` object faster than a list.
  function headersOf(list: Header[]): Headers {
    let headers = cached.get(list)
    if (!headers) cached.set(list, (headers = new Headers(list)))
    return headers
  }

  return ({ status, headers: list, body }) => {
    const headers = body !== null && body.length > SMALL_BODY_BYTES ? headersOf(list) : list
    return new Response(body === null ? null : toBody(body), { status, headers })
  }
}

function toStream(body: Bytes | string): ReadableStream<Bytes> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(typeof body === 'string' ? toBytes(body) : body)
      controller.close()
    },
  })
}

// The user agent is reliable: runtimes that imitate Node identify themselves in it.
function bodyFor(userAgent: string): (body: Bytes | string) => BodyInit {
  if (userAgent.startsWith('Node.js/')) return toStream
  if (!userAgent.startsWith('Deno/')) return (body) => body
  return (body) => (body.length > LARGE_BODY_BYTES ? toStream(body) : body)
}
