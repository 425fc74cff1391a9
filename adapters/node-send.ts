import type { StreamedBody } from '../src/index.ts'
import type { NodeResponse } from './node-messages.ts'

export const PART_BYTES = 262_144

/** Writes the next part when the previous one is sent: TLS encrypts a whole write at once, into memory of the connection. */
export function writeInParts(body: Uint8Array, response: NodeResponse): void {
  let at = 0
  const writeNext = (): void => {
    for (;;) {
      const part = body.subarray(at, (at += PART_BYTES))
      if (at >= body.length) {
        response.end(part)
        return
      }
      if (response.write?.(part) === false) {
        response.once('drain', writeNext)
        return
      }
    }
  }
  writeNext()
}

/** Writes each part when those before are sent; ends the connection where the body fails. */
export async function writeStream(body: StreamedBody, response: NodeResponse): Promise<void> {
  let isClosed = false
  let resume = (): void => undefined
  response.once('close', () => {
    isClosed = true
    resume()
  })
  try {
    for await (const part of body) {
      if (isClosed) return
      if (response.write?.(part) !== false) continue
      await new Promise<void>((resolve) => {
        resume = resolve
        response.once('drain', resolve)
      })
    }
    response.end()
  } catch {
    // Otherwise, an HTTP/2 response would look complete.
    if (response.stream) response.stream.close(HTTP2_INTERNAL_ERROR)
    else response.destroy()
  }
}

const HTTP2_INTERNAL_ERROR = 2

/** Not a round number, to differ from timeouts that the server or Node sets. */
const STALL_TIMEOUT_MS = 30_001

/** Unless the socket has a timeout. Node's timeout restarts when the operating system accepts a part of a single write. */
export function setStallTimeout(response: NodeResponse): void {
  const { socket } = response
  if (!socket || socket.timeout || response.writableFinished) return
  response.setTimeout?.(STALL_TIMEOUT_MS, () => {
    if (response.writableLength) response.destroy()
  })
  response.once('close', () => {
    // Otherwise the timeout would apply to the next request of the connection, which the app may handle.
    if (socket.timeout === STALL_TIMEOUT_MS) socket.setTimeout(0)
  })
}

export function refuse(response: NodeResponse): void {
  response.writeHead(400, ['cache-control', 'no-store', 'connection', 'close'])
  response.end()
}

interface UnsentBodies {
  bytes(): number
  /** Adds the body of a response; returns a function to call, once or more, when it is sent or its client has disconnected. */
  add(body: Uint8Array | string): () => void
}

/** Bytes that several responses share count once, as in memory; a text is copied for each. */
export function createUnsentBodies(): UnsentBodies {
  const entries = new Map<object, { bytes: number; responses: number }>()
  let total = 0
  return {
    bytes: () => total,
    add(body) {
      const key = typeof body === 'string' ? {} : body
      // Kept, because another reader may detach the bytes meanwhile.
      const entry = entries.get(key) ?? { bytes: body.length, responses: 0 }
      if (entry.responses === 0) total += entry.bytes
      entry.responses += 1
      entries.set(key, entry)
      let isCounted = true
      return () => {
        if (!isCounted) return
        isCounted = false
        entry.responses -= 1
        if (entry.responses > 0) return
        entries.delete(key)
        total -= entry.bytes
      }
    },
  }
}
