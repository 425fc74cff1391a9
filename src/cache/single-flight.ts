import type { Runtime } from '../runtime.ts'
import { createRefreshBackoff } from './refresh-backoff.ts'
import { runWithTimeout } from './with-timeout.ts'

/** How long a flight may take before its place is free again, in ms, even if it takes no notice of its signal. */
export const REFRESH_TIMEOUT_MS = 20_000

/** There is no value to be had; `cause` says why. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError'
  /** How long to wait before asking again, in ms. */
  readonly retryInMs: number

  constructor(pause: number, cause: unknown) {
    super('nothing to answer with', { cause })
    this.retryInMs = pause
  }
}

/** A try at a refresh. */
export interface Attempt {
  /** When it started, in ms since the Unix epoch. */
  at: number
  /** `loaded` from the provider, `restored` from the store, or left to another process that is `delegated` at it. */
  outcome: 'running' | 'loaded' | 'restored' | 'delegated' | 'failed'
}

/** How a flight ended well: with what its source gave, with what the store had, or left to another process that is at it. */
type RefreshOutcome = Exclude<Attempt['outcome'], 'running' | 'failed'>

/** What a flight does. `nextPause` is the pause in ms that would follow if it failed. */
export type RefreshTask = (signal: AbortSignal, nextPause: number) => Promise<RefreshOutcome>

/** Work that is shared by all who need it: never twice at once, and not within the pause after a failure. */
export interface SingleFlight {
  /** Whether `join` would start the work now. */
  canStart(): boolean
  /** How long it must not be started, in ms; 0 where nothing but work under way keeps it from being started. */
  remainingBackoff(): number
  /** The last try, if there was one. */
  lastAttempt(): Attempt | undefined
  /**
   * Joins the work under way, or starts it.
   *
   * @throws {UnavailableError} when it fails, and at once within the pause after a failure
   */
  run(): Promise<void>
  /** Aborts the work under way; none is started any more. */
  close(): void
}

/** What a flight is made from. */
export interface SingleFlightOptions {
  runtime: Runtime
  /** Given a signal that aborts when its time is over or the flight is closed. */
  task: RefreshTask
  /** Told of every pause, by its length in ms. */
  onBackoff(length: number): void
}

/** A flight that does `work`. */
export function createSingleFlight({
  runtime,
  task,
  onBackoff,
}: SingleFlightOptions): SingleFlight {
  const backoff = createRefreshBackoff(runtime, onBackoff)
  let inFlight: Promise<void> | undefined
  let attempt: Attempt | undefined
  let lastError: unknown
  let isClosed = false
  // One for every flight: on some hosts it belongs to the request that made it, and there is none at first.
  let closing: AbortController | undefined

  function canStart(): boolean {
    return !inFlight && backoff.remaining() === 0 && !isClosed
  }

  async function refresh(): Promise<void> {
    const at = runtime.now()
    attempt = { at, outcome: 'running' }
    closing = new AbortController()
    const runTask = (signal: AbortSignal): Promise<RefreshOutcome> =>
      task(signal, backoff.nextDelay())
    try {
      const outcome = await runWithTimeout(runtime, REFRESH_TIMEOUT_MS, runTask, closing.signal)
      attempt = { at, outcome }
      if (outcome === 'delegated') backoff.recordDelegation()
      else backoff.reset()
    } catch (error) {
      attempt = { at, outcome: 'failed' }
      lastError = error
      backoff.recordFailure(error)
      throw unavailable()
    }
  }

  function unavailable(): UnavailableError {
    return new UnavailableError(backoff.remaining(), lastError)
  }

  return {
    canStart,
    remainingBackoff: backoff.remaining,
    lastAttempt: () => attempt,
    run() {
      if (inFlight) return inFlight
      if (!canStart()) return Promise.reject(unavailable())
      inFlight = refresh().finally(() => {
        inFlight = undefined
      })
      return inFlight
    },
    close() {
      isClosed = true
      closing?.abort(new Error('closed'))
    },
  }
}
