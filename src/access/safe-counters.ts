import { callSafely, withTimeout } from '../async.ts'
import type { Runtime } from '../async.ts'
import { createCircuitBreaker } from '../cache/backoff.ts'
import { RatesError } from '../errors.ts'
import type { Emit } from '../events.ts'
import { GuardedCallError, countersFailed } from './counters.ts'
import type { Counters, CountersContext, Decision, Limit, OpenCounters } from './counters.ts'
import { createMemoryCounters } from './memory.ts'

const TIMEOUT_MS = 50

/** The shortest time between two events about the same operation, in ms. */
const EVENT_INTERVAL_MS = 1_000

const RETRY_AFTER_S = 5

const MAX_LOCAL_CLIENTS = 100_000

/**
 * `counters` may throw, reject, return anything or take longer than 50 ms; after five failures in a row, skipped for 5 s.
 */
export function createSafeCounters(
  counters: Counters,
  whenFailing: 'local' | 'allow' | 'refuse',
): Counters {
  return {
    open(context) {
      const emit = limitFailures(context)
      const shared = counters.open({ runtime: context.runtime, emit })
      const take = createSafeTake(shared, { runtime: context.runtime, emit })
      const local = createMemoryCounters().open(context)
      return decideWhileFailing(take, { shared, local, emit, whenFailing })
    },
  }
}

interface Fallback {
  shared: OpenCounters
  local: OpenCounters
  emit: Emit
  whenFailing: 'local' | 'allow' | 'refuse'
}

type SafeTake = (
  client: string,
  limits: readonly Limit[],
  cost: number,
) => Decision | undefined | Promise<Decision | undefined>

function decideWhileFailing(
  take: SafeTake,
  { shared, local, emit, whenFailing }: Fallback,
): OpenCounters {
  const localClients = new Set<string>()

  function decide(decision: Decision | undefined, ...args: Parameters<SafeTake>) {
    const [client] = args
    if (decision) {
      localClients.delete(client)
      return decision
    }
    if (whenFailing === 'refuse') throw unavailable()
    if (localClients.size >= MAX_LOCAL_CLIENTS) localClients.clear()
    localClients.add(client)
    return whenFailing === 'allow' ? { granted: true, states: [] } : local.take(...args)
  }

  return {
    take(...args) {
      const decision = take(...args)
      return decision instanceof Promise
        ? decision.then((each) => decide(each, ...args))
        : decide(decision, ...args)
    },
    giveBack(...args) {
      const [client] = args
      if (localClients.has(client)) {
        if (whenFailing === 'local') local.giveBack(...args)
        return
      }
      try {
        shared.giveBack(...args)
      } catch (error) {
        emit(countersFailed('give_back', error, client))
      }
    },
    close() {
      callSafely(() => shared.close())
      local.close()
    },
  }
}

/** Returns a function that takes from `shared`; its result is undefined where that failed. */
function createSafeTake(shared: OpenCounters, { runtime, emit }: CountersContext): SafeTake {
  const breaker = createCircuitBreaker(runtime)

  function onFailure(error: unknown, client: string): undefined {
    // Such counters have a circuit breaker, and serve some clients from permits in hand.
    if (!(error instanceof GuardedCallError)) breaker.recordFailure()
    emit(countersFailed('take', error, client))
  }

  function requireDecision(value: unknown, limits: readonly Limit[]): Decision {
    if (!isDecision(value, limits.length)) throw new Error('unexpected result of counters')
    breaker.recordSuccess()
    return value
  }

  return (client, limits, cost) => {
    if (!breaker.isCallAllowed()) return undefined
    try {
      const decision: unknown = shared.take(client, limits, cost)
      if (!isThenable(decision)) return requireDecision(decision, limits)
      return withTimeout(runtime, TIMEOUT_MS, Promise.resolve(decision))
        .then((each) => requireDecision(each, limits))
        .catch((error: unknown) => onFailure(error, client))
    } catch (error) {
      return onFailure(error, client)
    }
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof Object(value).then === 'function'
}

/** Returns whether `value` is a decision about `length` limits; a refused one must have a wait. */
function isDecision(value: unknown, length: number): value is Decision {
  const { granted, states }: { granted?: unknown; states?: unknown } = Object(value)
  if (typeof granted !== 'boolean' || !Array.isArray(states) || states.length !== length) {
    return false
  }
  const all: unknown[] = states
  return all.every(isState) && (granted || all.some((state) => Object(state).wait > 0))
}

function isState(state: unknown): boolean {
  const { remaining, reset, wait } = Object(state)
  return [remaining, reset, wait].every(
    (each: unknown) => typeof each === 'number' && each >= 0 && each < Infinity,
  )
}

/** Passes on at most one failure of each operation per second, with the number of those left out. */
function limitFailures({ runtime, emit }: { runtime: Runtime; emit: Emit }): Emit {
  const last = new Map<string, { at: number; leftOut: number }>()
  return (event) => {
    if (event.type !== 'counters_failed') return emit(event)
    const now = runtime.monotonic()
    const { at, leftOut } = last.get(event.operation) ?? { at: -Infinity, leftOut: 0 }
    if (now - at < EVENT_INTERVAL_MS) {
      last.set(event.operation, { at, leftOut: leftOut + 1 })
      return
    }
    last.set(event.operation, { at: now, leftOut: 0 })
    const reason = leftOut > 0 ? `${event.reason} (and ${leftOut} more)` : event.reason
    emit({ ...event, reason })
  }
}

function unavailable(): RatesError {
  return new RatesError('overloaded', 'Requests cannot be counted now. Please retry shortly.', {
    retryAfter: RETRY_AFTER_S,
  })
}
