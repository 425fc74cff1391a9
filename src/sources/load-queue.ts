import { sleep } from '../async.ts'
import type { Runtime } from '../async.ts'
import { propertyOf } from '../cache/backoff.ts'
import type { Backoff, BackoffOptions } from '../cache/backoff.ts'
import { UnavailableError } from '../cache/refresh.ts'
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

/** A longer backoff is not waited for. */
const MAX_BACKOFF_WAIT_MS = 1_000

const POLL_MS = 50

/** On some hosts the timers of a request end with it, and its turn would never come. */
const ABANDONED_MS = 5_000

const MINUTE_MS = 60_000

/** Delay of all loads of a host after failures in a row, in ms: it may be down. */
export const HOST_BACKOFF: BackoffOptions = { initial: 500, max: 20_000 }

interface Entry {
  requests: Set<object>
  /** When its wait ends, and when it was last alive, by the monotonic clock. */
  until: number
  seenAt: number
  loading: Promise<void> | undefined
  /** One for each: Node 20 warns of more than ten listeners of a signal. */
  closing: AbortController
}

/** The waiting pieces, with a turn for each request. */
function createTurns(runtime: Runtime) {
  const entries = new Map<string, Entry>()
  const waiting = new Map<object, Set<string>>()

  function remove(piece: string): void {
    for (const request of entries.get(piece)?.requests ?? []) {
      const pieces = waiting.get(request)
      pieces?.delete(piece)
      waiting.delete(request)
      // The next turn is that of another request.
      if (pieces && pieces.size > 0) waiting.set(request, pieces)
    }
    entries.delete(piece)
  }

  return {
    entries,
    remove,
    close(reason: Error): void {
      for (const { closing } of entries.values()) closing.abort(reason)
    },
    add(request: object, piece: string): Entry {
      const now = runtime.monotonic()
      const entry: Entry = entries.get(piece) ?? {
        requests: new Set(),
        until: 0,
        seenAt: now,
        loading: undefined,
        closing: new AbortController(),
      }
      entries.set(piece, entry)
      entry.requests.add(request)
      waiting.set(request, (waiting.get(request) ?? new Set()).add(piece))
      return entry
    },
    next(): string | undefined {
      for (const pieces of waiting.values()) {
        for (const piece of pieces) {
          const { seenAt = -Infinity } = entries.get(piece) ?? {}
          if (runtime.monotonic() - seenAt <= ABANDONED_MS) return piece
          remove(piece)
        }
      }
      return undefined
    },
  }
}

/** Counts starts: 200 ms apart, and at most `perMinute` in a minute. */
function createStarts(runtime: Runtime, perMinute: number) {
  const startedAt: number[] = []
  return {
    add: () => void startedAt.push(runtime.monotonic()),
    /** Returns the time until the next one, in ms. */
    delay(): number {
      const now = runtime.monotonic()
      while ((startedAt[0] ?? now) <= now - MINUTE_MS) startedAt.shift()
      const [first = 0] = startedAt
      const left = startedAt.length < perMinute ? 0 : first + MINUTE_MS - now
      return Math.max(left, (startedAt.at(-1) ?? -Infinity) + CALL_GAP_MS - now)
    },
  }
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
  const turns = createTurns(runtime)
  const starts = createStarts(runtime, perMinute)
  const running = new Map<string, Entry>()

  async function wait(piece: string, entry: Entry): Promise<void> {
    try {
      for (;;) {
        entry.seenAt = runtime.monotonic()
        const left = Math.max(starts.delay(), backoff.remaining())
        if (left <= 0 && running.size < MAX_RUNNING && turns.next() === piece) break
        if (entry.seenAt >= entry.until) throw tooMany(left)
        const pause = Math.min(Math.max(left, POLL_MS), ABANDONED_MS / 2)
        await sleep(runtime, pause, entry.closing.signal)
      }
      running.set(piece, entry)
      starts.add()
    } finally {
      turns.remove(piece)
    }
  }

  async function run(piece: string, entry: Entry, load: () => Promise<void>): Promise<void> {
    await wait(piece, entry)
    try {
      await load()
      backoff.reset()
    } catch (error) {
      if (!concernsOnePiece(error)) backoff.recordFailure()
      throw error
    } finally {
      running.delete(piece)
    }
  }

  return {
    async add(request, piece, load) {
      const { loading } = running.get(piece) ?? {}
      if (loading) return loading
      const left = turns.entries.size < MAX_WAITING ? backoff.remaining() : MINUTE_MS
      if (left > MAX_BACKOFF_WAIT_MS && !turns.entries.has(piece)) throw tooMany(left)
      const entry = turns.add(request, piece)
      entry.until = runtime.monotonic() + maxWait
      return (entry.loading ??= run(piece, entry, load))
    },
    close: () => turns.close(new Error('closed')),
  }
}

const tooMany = (left: number): UnavailableError =>
  new UnavailableError(left, new Error('too many loads'))

/** Of one year or currency a service has nothing, or rejects the request; it is not down. */
const STATUSES_OF_ONE_PIECE: readonly unknown[] = [400, 404, 410]

const MAX_CAUSES = 5

export function concernsOnePiece(error: unknown): boolean {
  let cause = error
  for (let depth = 0; depth < MAX_CAUSES && cause; depth += 1) {
    if (STATUSES_OF_ONE_PIECE.includes(propertyOf(cause, 'status'))) return true
    cause = propertyOf(cause, 'cause')
  }
  return false
}
