import type { Runtime } from '../runtime.ts'
import { createPacing } from './pacing.ts'
import { runWithin } from './within.ts'

/** How long a flight may take before its place is free again, in ms, even if it takes no notice of its signal. */
export const FLIGHT_LIMIT = 20_000

/** There is no value to be had; `cause` says why. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError'
  /** How long to wait before asking again, in ms. */
  readonly pause: number

  constructor(pause: number, cause: unknown) {
    super('nothing to answer with', { cause })
    this.pause = pause
  }
}

/** A try at a refresh. */
export interface Attempt {
  /** When it started, in ms since the Unix epoch. */
  at: number
  /** `loaded` from the provider, `restored` from the store, or left to another process that is `elsewhere` at it. */
  outcome: 'running' | 'loaded' | 'restored' | 'elsewhere' | 'failed'
}

/** How a flight ended well: with what its source gave, with what the store had, or left to another process that is at it. */
type Landing = Exclude<Attempt['outcome'], 'running' | 'failed'>

/** What a flight does. `nextPause` is the pause in ms that would follow if it failed. */
export type Work = (signal: AbortSignal, nextPause: number) => Promise<Landing>

/** Work that is shared by all who need it: never twice at once, and not within the pause after a failure. */
export interface Flight {
  /** Whether `join` would start the work now. */
  mayStart(): boolean
  /** How long it must not be started, in ms; 0 where nothing but work under way keeps it from being started. */
  pause(): number
  /** The last try, if there was one. */
  lastAttempt(): Attempt | undefined
  /**
   * Joins the work under way, or starts it.
   *
   * @throws {UnavailableError} when it fails, and at once within the pause after a failure
   */
  join(): Promise<void>
  /** Aborts the work under way; none is started any more. */
  close(): void
}

/** What a flight is made from. */
export interface FlightOptions {
  runtime: Runtime
  /** Given a signal that aborts when its time is over or the flight is closed. */
  work: Work
  /** Told of every pause, by its length in ms. */
  onPause(length: number): void
}

/** A flight that does `work`. */
export function createFlight({ runtime, work, onPause }: FlightOptions): Flight {
  const pacing = createPacing(runtime, onPause)
  let underWay: Promise<void> | undefined
  let attempt: Attempt | undefined
  let lastError: unknown
  let isClosed = false
  // One for every flight: on some hosts it belongs to the request that made it, and there is none at first.
  let closing: AbortController | undefined

  function mayStart(): boolean {
    return !underWay && pacing.pause() === 0 && !isClosed
  }

  async function fly(): Promise<void> {
    const at = runtime.now()
    attempt = { at, outcome: 'running' }
    closing = new AbortController()
    const doWork = (signal: AbortSignal): Promise<Landing> => work(signal, pacing.nextPause())
    try {
      const outcome = await runWithin(runtime, FLIGHT_LIMIT, doWork, closing.signal)
      attempt = { at, outcome }
      if (outcome === 'elsewhere') pacing.wait()
      else pacing.succeed()
    } catch (error) {
      attempt = { at, outcome: 'failed' }
      lastError = error
      pacing.fail(error)
      throw unavailable()
    }
  }

  function unavailable(): UnavailableError {
    return new UnavailableError(pacing.pause(), lastError)
  }

  return {
    mayStart,
    pause: pacing.pause,
    lastAttempt: () => attempt,
    join() {
      if (underWay) return underWay
      if (!mayStart()) return Promise.reject(unavailable())
      underWay = fly().finally(() => {
        underWay = undefined
      })
      return underWay
    },
    close() {
      isClosed = true
      closing?.abort(new Error('closed'))
    },
  }
}
