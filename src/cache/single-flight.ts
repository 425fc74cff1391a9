import type { Runtime } from '../runtime.ts'
import { createRefreshBackoff } from './refresh-backoff.ts'
import { runWithTimeout } from './with-timeout.ts'

/** How long a refresh may take, in ms; then another one may start, even if the first ignores its signal. */
export const REFRESH_TIMEOUT_MS = 20_000

/** No usable value is available; `cause` is the reason. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError'
  readonly retryInMs: number

  constructor(retryInMs: number, cause: unknown) {
    super('no usable data', { cause })
    this.retryInMs = retryInMs
  }
}

/** An attempt to refresh a data set. */
export interface Attempt {
  /** When it started, in ms since the Unix epoch. */
  at: number
  /** `running`, `loaded` from a provider, `restored` from the store, `delegated` to another process, or `failed`. */
  outcome: 'running' | 'loaded' | 'restored' | 'delegated' | 'failed'
}

type RefreshOutcome = Exclude<Attempt['outcome'], 'running' | 'failed'>

/** The work to run. `nextDelay` is the longest backoff that follows if it fails, in ms. */
export type RefreshTask = (signal: AbortSignal, nextDelay: number) => Promise<RefreshOutcome>

/** Runs a task once at a time for all callers, with backoff after failures. */
export interface SingleFlight {
  /** Returns whether `run` would start the task now. */
  canStart(): boolean
  /** Returns how long the current backoff still lasts, in ms. */
  remainingBackoff(): number
  /** Returns the last attempt, or undefined before the first. */
  lastAttempt(): Attempt | undefined
  /**
   * Starts the task, or returns the run in progress.
   *
   * @throws {UnavailableError} when the task fails, and immediately during backoff
   */
  run(): Promise<void>
  /** Aborts the run in progress and refuses new ones. */
  close(): void
}

/** Options of `createSingleFlight`. */
export interface SingleFlightOptions {
  runtime: Runtime
  /** Receives a signal that aborts after 20 s or on `close`. */
  task: RefreshTask
  /** Receives the length of every backoff delay, in ms. */
  onBackoff(length: number): void
}

/** Creates a single flight for `task`. */
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
  // One for every run: on some hosts a controller belongs to the request that created it.
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
