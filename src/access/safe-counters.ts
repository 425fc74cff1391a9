import { callSafely, createCircuitBreaker, withTimeout } from '../core.ts'
import type { Emit } from '../core.ts'
import { countersFailed } from './counters.ts'
import type { Counters, CountersContext, Decision, OpenCounters } from './counters.ts'
import { createMemoryCounters } from './memory.ts'

const TIMEOUT_MS = 50

/** The shortest time between two events about the same operation, in ms. */
const EVENT_INTERVAL_MS = 1_000

/** What happens while counters fail. */
export type FailurePolicy = 'local' | 'allow' | 'refuse'

/**
 * `counters` may throw, reject, return anything or take longer than 50 ms; after five failures in a row, skipped for 5 s.
 * The returned ones never do; decisions without states are those of failed counters.
 */
export function createSafeCounters(counters: Counters, whenFailing: FailurePolicy): Counters {
  const local = createMemoryCounters()
  return {
    open({ runtime, emit: emitAll }) {
      const emit = limitFailures({ runtime, emit: emitAll })
      const shared = counters.open({ runtime, emit })
      const breaker = createCircuitBreaker(runtime)
      const granted = whenFailing === 'allow'
      const fallback: Pick<OpenCounters, 'take'> =
        whenFailing === 'local'
          ? local.open({ runtime, emit })
          : { take: () => ({ granted, states: [] }) }

      return {
        take(client, limits, cost) {
          if (!breaker.isCallAllowed()) return fallback.take(client, limits, cost)
          const accept = (decision: unknown): Decision => {
            if (!isDecision(decision, limits.length)) {
              throw new Error('unexpected result of counters')
            }
            breaker.recordSuccess()
            return safely(decision, client, emit)
          }
          const fail = (error: unknown): Decision | Promise<Decision> => {
            breaker.recordFailure()
            emit(countersFailed('take', error, client))
            return fallback.take(client, limits, cost)
          }
          try {
            const decision: unknown = shared.take(client, limits, cost)
            if (typeof Object(decision).then !== 'function') return accept(decision)
            const promise = Promise.resolve(decision)
            return withTimeout(runtime, TIMEOUT_MS, promise).then(accept).catch(fail)
          } catch (error) {
            return fail(error)
          }
        },
        close: () => callSafely(() => shared.close()),
      }
    },
  }
}

function safely(decision: Decision, client: string, emit: Emit): Decision {
  return {
    granted: decision.granted,
    get states() {
      return decision.states
    },
    giveBack(cost) {
      try {
        decision.giveBack?.(cost)
      } catch (error) {
        emit(countersFailed('give_back', error, client))
      }
    },
  }
}

/** Returns whether `value` is a decision about `length` limits; a refused one must have a wait. */
function isDecision(value: unknown, length: number): value is Decision {
  const { granted, states }: { granted?: unknown; states?: unknown } = Object(value)
  if (typeof granted !== 'boolean' || !Array.isArray(states) || states.length !== length)
    return false
  const numbers = states.map((state: unknown): unknown[] => {
    const { remaining, reset, wait } = Object(state)
    return [remaining, reset, wait]
  })
  const isLater = (time: unknown): boolean =>
    typeof time === 'number' && time >= 0 && time < Infinity
  return numbers.flat().every(isLater) && (granted || numbers.some(([, , wait]) => wait !== 0))
}

/** Passes on at most one failure of each operation per second, with the number of those left out. */
function limitFailures({ runtime, emit }: CountersContext): Emit {
  const last = new Map<string, { at: number; leftOut: number }>()
  return (event) => {
    if (event.type !== 'counters_failed') return emit(event)
    const at = runtime.monotonic()
    const former = last.get(event.operation)
    if (former && at - former.at < EVENT_INTERVAL_MS) {
      former.leftOut += 1
      return
    }
    last.set(event.operation, { at, leftOut: 0 })
    const isFirst = !former?.leftOut
    emit(isFirst ? event : { ...event, reason: `${event.reason} (and ${former.leftOut} more)` })
  }
}
