/** Passes the parts of a request body to `onChunk`, until the end of the body or the abort of `signal`. */
export type ReadBody = (onChunk: (chunk: Uint8Array) => void, signal: AbortSignal) => Promise<void>

/** Does not cancel the stream: some hosts would close the connection before the response is sent. */
export async function readStream(
  stream: NonNullable<Request['body']>,
  onChunk: (chunk: Uint8Array) => void,
  signal: AbortSignal,
): Promise<void> {
  const reader = stream.getReader()
  // Rejects a pending read.
  const stop = (): void => reader.releaseLock()
  signal.addEventListener('abort', stop)
  try {
    for (;;) {
      signal.throwIfAborted()
      const { done, value } = await reader.read()
      if (done) return
      onChunk(value)
    }
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
