import { TimeoutError, runWithTimeout } from '../async.ts'
import type { Runtime } from '../async.ts'
import { INITIAL_BYTES, createByteBuffer } from '../byte-buffer.ts'
import { invalidParameter, withStatus } from '../errors.ts'
import type { RatesError } from '../errors.ts'
import { overloaded } from './limiter.ts'
import type { RawRequest } from './messages.ts'

const MAX_BODY_BYTES = 1_048_576

/** The bodies of all requests together. */
const MAX_BODIES_BYTES = 32 * MAX_BODY_BYTES

/** Those of one client, so that few clients cannot take the whole memory. */
const MAX_CLIENT_BYTES = MAX_BODIES_BYTES / 8

const BODY_TIMEOUT_MS = 10_000

/** Longest time without a part of a body. */
const STALL_TIMEOUT_MS = 2_000

/** The list of error codes is closed: these statuses have the code of an invalid parameter. */
export function refusal(status: number, parameter: string, hint: string): RatesError {
  return withStatus(invalidParameter(parameter, hint), status)
}

/** Receives bodies of at most 1 MiB, within limits of all bodies together and of those of one client. */
export interface BodyReceiver {
  /**
   * Passes the body of `request` to `use`; it counts until that settles.
   *
   * @throws {RatesError} `overloaded`, or `invalid_parameter` with a status for the body
   */
  receive<Result>(request: RawRequest, use: (body: Bytes) => Promise<Result>): Promise<Result>
}

type Bytes = ReturnType<typeof Uint8Array.of>

export function createBodyReceiver(runtime: Runtime): BodyReceiver {
  const takenBy = new Map<string, number>()
  let total = 0

  function take(bytes: number, client: string | undefined): boolean {
    const taken = client === undefined ? 0 : (takenBy.get(client) ?? 0) + bytes
    if (taken > MAX_CLIENT_BYTES || total + bytes > MAX_BODIES_BYTES) return false
    if (client !== undefined) takenBy.set(client, taken)
    total += bytes
    return true
  }

  function give(bytes: number, client = ''): void {
    const left = (takenBy.get(client) ?? 0) - bytes
    if (left > 0) takenBy.set(client, left)
    else takenBy.delete(client)
    total -= bytes
  }

  return {
    async receive(request, use) {
      if (!request.readBody) throw refusal(415, 'body', 'the adapter of this host passes no bodies')
      const declared = Number(request.header('content-length') ?? 0)
      if (declared > MAX_BODY_BYTES) throw refusalOf('too_long', runtime)
      const client = clientOf(request)
      // Before the first chunk, so that idle uploads are limited, too.
      if (!take(INITIAL_BYTES, client)) throw overloaded(runtime)
      let taken = INITIAL_BYTES
      try {
        const received = await readWhole(request, runtime, (bytes) => {
          const isTaken = take(bytes, client)
          if (isTaken) taken += bytes
          return isTaken
        })
        if (typeof received === 'string') throw refusalOf(received, runtime)
        return await use(received)
      } finally {
        give(taken, client)
      }
    },
  }
}

/** Addresses of private networks and of this machine. */
const PRIVATE = /^(?:::ffff:)?(?:127|10|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.|^::1$|^f[cd]/i

/**
 * Returns the client that bodies count for; undefined without an address. A proxy on a private network passes on the bodies of
 * many: those count for what it adds to the list.
 */
function clientOf(request: RawRequest): string | undefined {
  const { client } = request
  if (client === undefined || !PRIVATE.test(client)) return client && networkOf(client)
  return networkOf(request.header('x-forwarded-for')?.split(',').at(-1)?.trim() ?? client)
}

/** Returns the first 64 bits of an IPv6 address, because each client has all addresses that begin with them. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  const [start = [], end] = address.split('::').map((part) => (part ? part.split(':') : []))
  const zeros = end ? Array.from({ length: 8 - start.length - end.length }, () => '0') : []
  return [...start, ...zeros, ...(end ?? [])].slice(0, 4).join(':')
}

type Refused = 'too_long' | 'too_slow' | 'stalled' | 'incomplete' | 'overloaded'

function refusalOf(reason: Refused, runtime: Runtime): RatesError {
  switch (reason) {
    case 'too_long':
      return refusal(413, 'body', 'must have at most 1 MiB')
    case 'too_slow':
      return refusal(408, 'body', `must arrive within ${BODY_TIMEOUT_MS / 1_000} s`)
    case 'stalled':
      return refusal(408, 'body', `must arrive without pauses of ${STALL_TIMEOUT_MS / 1_000} s`)
    case 'incomplete':
      return refusal(400, 'body', 'must arrive completely')
    default:
      return overloaded(runtime)
  }
}

async function readWhole(
  request: RawRequest,
  runtime: Runtime,
  take: (bytes: number) => boolean,
): Promise<Bytes | Refused> {
  const body = createByteBuffer(MAX_BODY_BYTES, take)
  let refused: Refused = 'incomplete'
  const stop = new AbortController()
  const refuse = (reason: Refused): void => {
    refused = reason
    stop.abort(new Error('the body is refused'))
  }
  const stall = watchForStall(runtime, STALL_TIMEOUT_MS, () => refuse('stalled'))
  const onChunk = (chunk: Uint8Array): void => {
    if (stop.signal.aborted) return
    stall.onProgress()
    const isTooLong = body.size() + chunk.length > MAX_BODY_BYTES
    if (isTooLong || !body.append(chunk)) refuse(isTooLong ? 'too_long' : 'overloaded')
  }
  const { signal: client } = request
  const onDisconnect = (): void => stop.abort(client?.reason)
  client?.addEventListener('abort', onDisconnect)
  try {
    if (client?.aborted) return 'incomplete'
    const read = async (signal: AbortSignal): Promise<void> => request.readBody?.(onChunk, signal)
    await runWithTimeout(runtime, BODY_TIMEOUT_MS, read, stop.signal)
    return body.bytes()
  } catch (error) {
    return error instanceof TimeoutError ? 'too_slow' : refused
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
