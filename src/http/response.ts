import type { RawResponse, Header } from './raw.ts'
import { toBytes } from './representation.ts'

/** Smaller bodies, in bytes, are mostly conversions, of which there are too many to keep anything. */
const SMALL_BODY_BYTES = 1_024

/**
 * On Deno, a body of more characters or bytes is sent as a stream: only then does its server report when the client has
 * taken it, by which the adapter limits the responses of a connection.
 */
const LARGE_BODY_BYTES = 65_536

type Bytes = Uint8Array<ArrayBuffer>

/**
 * A function that makes a `Response` of an answer. Node copies whatever a `Response` is made of, slowly, but takes a stream
 * of one chunk as it is; to the servers of other runtimes a stream is the dearest form of all.
 */
export function createRendering(): (answer: RawResponse) => Response {
  const toBody = bodyFor(globalThis.navigator?.userAgent ?? '')
  const known = new WeakMap<Header[], Headers>()

  /** Those of a list that is likely to be sent again: a `Response` takes them over faster than the list. */
  function remembered(list: Header[]): Headers {
    let headers = known.get(list)
    if (!headers) known.set(list, (headers = new Headers(list)))
    return headers
  }

  return ({ status, headers: list, body }) => {
    const headers = body !== null && body.length > SMALL_BODY_BYTES ? remembered(list) : list
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

/** The quickest form of a body by the runtime, of which those that can pass for Node name themselves. */
function bodyFor(userAgent: string): (body: Bytes | string) => BodyInit {
  if (userAgent.startsWith('Node.js/')) return toStream
  if (!userAgent.startsWith('Deno/')) return (body) => body
  return (body) => (body.length > LARGE_BODY_BYTES ? toStream(body) : body)
}
