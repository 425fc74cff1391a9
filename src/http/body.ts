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
  /** Longest time without a part of it, in ms. */
  stallTimeout: number
  budget: ByteBudget
  /** The client that the body counts for in the budget. */
  client: string
}

export type ReceivedBody =
  | Uint8Array
  | 'too_long'
  | 'too_slow'
  | 'stalled'
  | 'incomplete'
  | 'overloaded'

/** Limits the memory of all bodies that are being received or wait for a response, and that of each client. */
export interface ByteBudget {
  take(bytes: number, client: string): boolean
  give(bytes: number, client: string): void
}

/** So that a few clients cannot take the whole budget. */
const CLIENT_SHARE = 1 / 8

export function createByteBudget(limit: number): ByteBudget {
  const takenBy = new Map<string, number>()
  let total = 0
  return {
    take(bytes, client) {
      const taken = (takenBy.get(client) ?? 0) + bytes
      if (taken > limit * CLIENT_SHARE || total + bytes > limit) return false
      takenBy.set(client, taken)
      total += bytes
      return true
    },
    give(bytes, client) {
      const taken = (takenBy.get(client) ?? 0) - bytes
      if (taken > 0) takenBy.set(client, taken)
      else takenBy.delete(client)
      total -= bytes
    },
  }
}

/** The body counts in the budget until the promise of `use` settles. */
export async function withBody<Result>(
  request: Upload,
  limits: BodyLimits,
  use: (body: ReceivedBody) => Promise<Result>,
): Promise<Result> {
  const { budget, client, maxBytes } = limits
  const declared = Number(request.header('content-length') ?? 0)
  if (declared > maxBytes) return use('too_long')
  // Before the first chunk, so that idle uploads are limited, too.
  if (!budget.take(INITIAL_BYTES, client)) return use('overloaded')
  let taken = INITIAL_BYTES
  try {
    const received = await receive(request, limits, (bytes) => {
      const isTaken = budget.take(bytes, client)
      if (isTaken) taken += bytes
      return isTaken
    })
    return await use(received)
  } finally {
    budget.give(taken, client)
  }
}

async function receive(
  request: Upload,
  { runtime, maxBytes, timeout, stallTimeout }: BodyLimits,
  take: (bytes: number) => boolean,
): Promise<ReceivedBody> {
  const body = createByteBuffer(maxBytes, take)
  let refusal: ReceivedBody = 'incomplete'
  const stop = new AbortController()
  const refuse = (reason: typeof refusal): void => {
    refusal = reason
    stop.abort(new Error('the body is refused'))
  }
  const stall = watchForStall(runtime, stallTimeout, () => refuse('stalled'))
  const onChunk = (chunk: Uint8Array): void => {
    if (stop.signal.aborted) return
    stall.onProgress()
    const isTooLong = body.size() + chunk.length > maxBytes
    if (isTooLong || !body.append(chunk)) refuse(isTooLong ? 'too_long' : 'overloaded')
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
    stall.stop()
    client?.removeEventListener('abort', onDisconnect)
  }
}

/** Calls `onStall` after `timeout` ms without progress. One timer at a time: a body may arrive byte by byte. */
function watchForStall(runtime: Runtime, timeout: number, onStall: () => void) {
  let progressAt = runtime.monotonic()
  const wait = (delay: number): (() => void) =>
    runtime.startTimer(() => {
      const left = progressAt + timeout - runtime.monotonic()
      if (left > 0) stopTimer = wait(left)
      // After the event loop was blocked, timers fire before received chunks are read.
      else if (delay > 0) stopTimer = wait(0)
      else onStall()
    }, delay)
  let stopTimer = wait(timeout)
  return {
    onProgress: () => void (progressAt = runtime.monotonic()),
    stop: () => stopTimer(),
  }
}
