import { sleep } from '../async.ts'
import type { Runtime } from '../async.ts'
import type { Backoff, BackoffOptions } from '../cache/backoff.ts'
import { REQUEST_TIMEOUT_MS, UnavailableError } from '../cache/refresh.ts'
import { CALL_GAP_MS } from './publication.ts'

export interface LoadQueue {
  /**
   * Loads `piece` for `request` when it is its turn.
   *
   * @throws {UnavailableError} while too many others wait
   */
  add(request: object, piece: string, load: () => Promise<void>): Promise<void>
  /** Ends all waits. */
  close(): void
}

/** Loads at a time: one that hangs does not delay the others. */
const MAX_RUNNING = 4

const MAX_WAITING = 1_000

const POLL_MS = 50

/** On some hosts the timers of a request end with it, and its turn would never come. */
const ABANDONED_MS = 5_000

const MINUTE_MS = 60_000

/** Delay of all loads of a host after failures in a row, in ms: it may be down. */
export const HOST_BACKOFF: BackoffOptions = { initial: 500, max: 20_000 }

interface Entry {
  seenAt: number
  loading: Promise<void>
}

/**
 * Creates a queue that gives each request a turn for one piece, so that a request for many pieces delays another one by a single
 * piece. A failure that concerns one piece alone delays no other. Starts at most `perMinute` loads in a minute, and none that has
 * waited longer than `maxWait` ms.
 */
export function createLoadQueue(
  runtime: Runtime,
  backoff: Backoff,
  { perMinute = Infinity, maxWait = Infinity }: { perMinute?: number; maxWait?: number } = {},
): LoadQueue {
  const waiting = new Map<object, Map<string, Entry>>()
  const closing = new AbortController()
  let count = 0
  let running = 0
  let startedAt: number[] = []
  let lastStart = -Infinity

  function delay(): number {
    const now = runtime.monotonic()
    startedAt = startedAt.filter((at) => at > now - MINUTE_MS)
    const [first = 0] = startedAt
    const left = startedAt.length < perMinute ? 0 : first + MINUTE_MS - now
    return Math.max(left, backoff.remaining(), lastStart + CALL_GAP_MS - now)
  }

  function remove(request: object, piece: string): void {
    const pieces = waiting.get(request)
    if (!pieces?.delete(piece)) return
    count -= 1
    waiting.delete(request)
    // The next turn is that of another request.
    if (pieces.size > 0) waiting.set(request, pieces)
  }

  function next(): Entry | undefined {
    for (const [request, pieces] of waiting) {
      for (const [piece, entry] of pieces) {
        if (runtime.monotonic() - entry.seenAt <= ABANDONED_MS) return entry
        remove(request, piece)
      }
    }
    return undefined
  }

  function mayStart(entry: Entry): boolean {
    return running < MAX_RUNNING && next() === entry && delay() <= 0
  }

  async function run(load: () => Promise<void>): Promise<void> {
    running += 1
    lastStart = runtime.monotonic()
    if (perMinute < Infinity) startedAt.push(runtime.monotonic())
    try {
      await load()
      backoff.reset()
    } catch (error) {
      if (!concernsOnePiece(error)) backoff.recordFailure()
      throw error
    } finally {
      running -= 1
    }
  }

  async function add(request: object, piece: string, load: () => Promise<void>): Promise<void> {
    const pieces = waiting.get(request) ?? new Map<string, Entry>()
    const known = pieces.get(piece)
    if (known) return known.loading
    const left = count < MAX_WAITING ? backoff.remaining() : MINUTE_MS
    // No request waits longer.
    if (left > REQUEST_TIMEOUT_MS) throw new UnavailableError(left, new Error('too many loads'))
    const wait = async (): Promise<void> => {
      try {
        const until = runtime.monotonic() + maxWait
        while (!mayStart(entry)) {
          entry.seenAt = runtime.monotonic()
          if (entry.seenAt >= until)
            throw new UnavailableError(delay(), new Error('too many loads'))
          const pause = Math.min(Math.max(delay(), POLL_MS), ABANDONED_MS / 2)
          await sleep(runtime, pause, closing.signal)
        }
      } finally {
        remove(request, piece)
      }
      await run(load)
    }
    const entry: Entry = { seenAt: runtime.monotonic(), loading: Promise.resolve() }
    pieces.set(piece, entry)
    waiting.set(request, pieces)
    count += 1
    entry.loading = wait()
    return entry.loading
  }

  return { add, close: () => closing.abort(new Error('closed')) }
}

/** Of one year or currency a service has nothing, or rejects the request; it is not down. */
const STATUSES_OF_ONE_PIECE: readonly unknown[] = [400, 404, 410]

const MAX_CAUSES = 5

function concernsOnePiece(error: unknown): boolean {
  let cause = error
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth += 1) {
    if ('status' in cause && STATUSES_OF_ONE_PIECE.includes(cause.status)) return true
    cause = cause.cause
  }
  return false
}
