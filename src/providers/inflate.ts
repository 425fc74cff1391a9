/** How many bytes are given to be inflated at a time: a runtime may inflate all of them before it gives anything back. */
const SLICE = 4_096

/** What bounds the inflating of data that are not trusted. */
export interface InflateOptions {
  /** How many bytes there must be in the end; one more ends it at once. */
  size: number
  signal: AbortSignal
}

/**
 * Inflates raw DEFLATE (RFC 1951) with the platform's own `DecompressionStream`, to exactly `size` bytes.
 *
 * @throws {Error} where it comes to more or fewer bytes, or is no DEFLATE; the signal's reason where that aborts
 */
export async function inflate(
  deflated: Uint8Array<ArrayBuffer>,
  { size, signal }: InflateOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const stream = slices(deflated).pipeThrough(new DecompressionStream('deflate-raw'), { signal })
  const inflated = new Uint8Array(size)
  const reader = stream.getReader()
  let length = 0
  for (;;) {
    const { done, value } = await readMore(reader, signal)
    if (done) break
    if (length + value.byteLength > size) {
      await reader.cancel().catch(() => undefined)
      throw new Error(`it inflates to more than ${size} bytes`)
    }
    inflated.set(value, length)
    length += value.byteLength
  }
  if (length < size) throw new Error(`it inflates to ${length} bytes, not ${size}`)
  return inflated
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

async function readMore(
  reader: Reader,
  signal: AbortSignal,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  try {
    signal.throwIfAborted()
    return await reader.read()
  } catch (error) {
    signal.throwIfAborted()
    throw new Error('it cannot be inflated', { cause: error })
  }
}

function slices(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at < bytes.length) controller.enqueue(bytes.slice(at, (at += SLICE)))
      else controller.close()
    },
  })
}
