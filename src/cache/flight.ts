import type { Runtime } from '../runtime.ts'
import { createCooldown } from './cooldown.ts'
import { runWithin } from './within.ts'

/** How long a flight may take before its place is free again, in ms, even if it takes no notice of its signal. */
const FLIGHT_LIMIT = 20_000

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

/** Work that is shared by all who need it: never twice at once, and not within the pause after a failure. */
export interface Flight {
  /** Whether `join` would start the work now. */
  mayStart(): boolean
  /**
   * Joins the work under way, or starts it.
   *
   * @throws {UnavailableError} when it fails, and at once within the pause after a failure
   */
  join(): Promise<void>
  /** Aborts the work under way; none is started any more. */
  close(): void
}

/** A flight that does `work`, under a signal that aborts when its time is over or the flight is closed. */
export function createFlight(
  runtime: Runtime,
  work: (signal: AbortSignal) => Promise<void>,
): Flight {
  const cooldown = createCooldown(runtime)
  const closing = new AbortController()
  let underWay: Promise<void> | undefined
  let lastError: unknown

  function mayStart(): boolean {
    return !underWay && cooldown.remaining() === 0 && !closing.signal.aborted
  }

  async function fly(): Promise<void> {
    try {
      await runWithin(runtime, FLIGHT_LIMIT, work, closing.signal)
      cooldown.succeed()
    } catch (error) {
      lastError = error
      cooldown.fail()
      throw unavailable()
    }
  }

  function unavailable(): UnavailableError {
    return new UnavailableError(cooldown.remaining(), lastError)
  }

  return {
    mayStart,
    join() {
      if (underWay) return underWay
      if (!mayStart()) return Promise.reject(unavailable())
      underWay = fly().finally(() => {
        underWay = undefined
      })
      return underWay
    },
    close: () => closing.abort(new Error('closed')),
  }
}
