/** Input bytes per chunk. Small, because a runtime may inflate a whole chunk before it returns any output. */
const SLICE = 4_096

/** Limits for inflating untrusted data. */
export interface InflateOptions {
  /** Exact size of the output in bytes; inflating stops at the first byte beyond it. */
  size: number
  signal: AbortSignal
}

/**
 * Inflates raw DEFLATE (RFC 1951) with `DecompressionStream`, to exactly `size` bytes.
 *
 * @throws {Error} if the output has another size or the input is not DEFLATE; the signal's reason if it aborts
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
      throw new Error(`the data inflates to more than ${size} bytes`)
    }
    inflated.set(value, length)
    length += value.byteLength
  }
  if (length < size) throw new Error(`the data inflates to ${length} bytes, expected ${size}`)
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
    throw new Error('cannot inflate the data', { cause: error })
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
