import { TimeoutError, runWithTimeout } from '../async.ts'
import type { Runtime } from '../async.ts'
import { INITIAL_BYTES, createByteBuffer } from '../byte-buffer.ts'

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

interface Upload {
  header(name: string): string | null | undefined
  signal?: AbortSignal | undefined
  readBody?: ReadBody | undefined
}

export interface BodyLimits {
  runtime: Runtime
  maxBytes: number
  /** Longest time for the whole body, in ms. */
  timeout: number
  budget: ByteBudget
}

export type ReceivedBody = Uint8Array | 'too_long' | 'too_slow' | 'incomplete' | 'overloaded'

/** Limits the memory of all bodies that are being received or wait for a response. */
export interface ByteBudget {
  take(bytes: number): boolean
  give(bytes: number): void
}

export function createByteBudget(limit: number): ByteBudget {
  let taken = 0
  return {
    take(bytes) {
      if (taken + bytes > limit) return false
      taken += bytes
      return true
    },
    give: (bytes) => void (taken -= bytes),
  }
}

/** The body counts in the budget until the promise of `use` settles. */
export async function withBody<Result>(
  request: Upload,
  limits: BodyLimits,
  use: (body: ReceivedBody) => Promise<Result>,
): Promise<Result> {
  const { budget, maxBytes } = limits
  const declared = Number(request.header('content-length') ?? 0)
  if (declared > maxBytes) return use('too_long')
  // Before the first chunk, so that idle uploads are limited, too.
  if (!budget.take(INITIAL_BYTES)) return use('overloaded')
  let taken = INITIAL_BYTES
  try {
    const received = await receive(request, limits, (bytes) => {
      const isTaken = budget.take(bytes)
      if (isTaken) taken += bytes
      return isTaken
    })
    return await use(received)
  } finally {
    budget.give(taken)
  }
}

async function receive(
  request: Upload,
  { runtime, maxBytes, timeout }: BodyLimits,
  take: (bytes: number) => boolean,
): Promise<ReceivedBody> {
  const body = createByteBuffer(maxBytes, take)
  let refusal: ReceivedBody = 'incomplete'
  const stop = new AbortController()
  const onChunk = (chunk: Uint8Array): void => {
    if (stop.signal.aborted) return
    const isTooLong = body.size() + chunk.length > maxBytes
    if (!isTooLong && body.append(chunk)) return
    refusal = isTooLong ? 'too_long' : 'overloaded'
    stop.abort(new Error('the body is refused'))
  }
  const { signal: client } = request
  const onDisconnect = (): void => stop.abort(client?.reason)
  client?.addEventListener('abort', onDisconnect)
  try {
    if (client?.aborted) return 'incomplete'
    const read = async (signal: AbortSignal): Promise<void> => request.readBody?.(onChunk, signal)
    await runWithTimeout(runtime, timeout, read, stop.signal)
    return body.bytes()
  } catch (error) {
    return error instanceof TimeoutError ? 'too_slow' : refusal
  } finally {
    client?.removeEventListener('abort', onDisconnect)
  }
}
