import { withTimeout } from '../async.ts'
import type { Runtime } from '../async.ts'
import { createCircuitBreaker } from '../cache/backoff.ts'
import { reasonOf } from '../events.ts'
import { GuardedCallError, countersFailed } from './counters.ts'
import type { Counters, CountersContext, Decision, Limit, OpenCounters } from './counters.ts'
import {
  MAX_LIFE_MS,
  accept,
  addTaken,
  countDemand,
  createLease,
  decide,
  endLot,
  isIdle,
  requestFor,
  resultOf,
  serveWaiters,
  settle,
  termsOf,
} from './lease.ts'
import type { Lease, Terms, Waiter } from './lease.ts'
import type { SharedReply, SharedRequest } from './shared-count.ts'

/** Each call is atomic. */
export interface SharedCounters {
  count(client: string, request: SharedRequest): Promise<SharedReply>
}

const TIMEOUT_MS = 50

/** Clients without requests for so long are forgotten; sooner while there are many. */
const MAX_IDLE_MS = 20_000
const MANY_CLIENTS = 50_000

/** Time between calls that only give back, in ms, and the most calls at that time. */
const FLUSH_INTERVAL_MS = 1_000
const MAX_FLUSHES = 100

/** One call per client is in flight, with 50 ms and a circuit breaker. */
export function createLeasedCounters(shared: SharedCounters): Counters {
  return { open: (context) => openLeases(shared, context) }
}

function openLeases(shared: SharedCounters, context: CountersContext): OpenCounters {
  const { runtime } = context
  const leases = createLeaseTable(runtime.monotonic)
  const calls = createCalls(shared, context)
  return {
    take(client, limits, given) {
      const now = runtime.monotonic()
      const lease = leases.get(client, limits)
      const cost = Math.min(given, lease.terms.maxCost)
      countDemand(lease, cost, now)
      if (!lease.isCalling) {
        const decision = decide(lease, cost, now)
        if (decision) return decision
      }
      return calls.decide(lease, cost)
    },
    giveBack(client, limits, given, takenAt) {
      const lease = leases.get(client, limits)
      const permits = Math.min(given, lease.terms.maxCost)
      addTaken(lease.refund, permits, takenAt ?? lease.reply.now)
      lease.refusedUntil = 0
      calls.flushLater(lease)
    },
    close: calls.close,
  }
}

function createLeaseTable(monotonic: () => number) {
  const leases = new Map<string, Lease>()
  const terms = new WeakMap<readonly Limit[], Terms>()

  function termsFor(limits: readonly Limit[]): Terms {
    const known = terms.get(limits) ?? termsOf(limits)
    terms.set(limits, known)
    return known
  }

  /** Looks at a few clients for each that is added; active ones go to the end. */
  function removeIdle(now: number): void {
    const maxIdle = leases.size > MANY_CLIENTS ? MAX_LIFE_MS : MAX_IDLE_MS
    let looks = 4
    for (const [client, lease] of leases) {
      if (looks === 0) return
      looks -= 1
      leases.delete(client)
      if (!isIdle(lease, now, maxIdle)) leases.set(client, lease)
    }
  }

  return {
    get(client: string, limits: readonly Limit[]): Lease {
      const known = leases.get(client)
      if (known?.terms.limits === limits) return known
      const lease = createLease(client, termsFor(limits))
      removeIdle(monotonic())
      leases.set(client, lease)
      return lease
    },
  }
}

function createCalls(shared: SharedCounters, context: CountersContext) {
  const { runtime } = context
  const call = createGuardedCall(shared, context)
  const flushes = createFlushes(runtime, (lease) => {
    if (!lease.isCalling && endLot(lease, 0, runtime.monotonic()) === 0) start(lease, 0)
  })

  /** Takes permits for the waiters, of whom the first needs `cost`; 0 only gives back. */
  function start(lease: Lease, cost: number): void {
    const sentAt = runtime.monotonic()
    const reserved = cost === 0 ? 0 : endLot(lease, cost, sentAt)
    const request = requestFor(lease, cost, reserved, runtime.now())
    lease.unused = { permits: 0, at: 0 }
    lease.refund = { permits: 0, at: 0 }
    lease.isCalling = true
    const end = (reply: SharedReply): void => {
      accept(lease, reply, { request, reserved, sentAt, now: runtime.monotonic() })
      if (lease.terms.month && lease.lot.permits > 0) flushes.add(lease)
      const next = serveWaiters(lease, runtime.monotonic())
      if (next > 0) start(lease, next)
    }
    const fail = (error: unknown): void => {
      lease.isCalling = false
      lease.lot.permits += reserved
      for (const waiter of lease.waiters.splice(0)) settle(waiter, { error })
      if (cost === 0) context.emit(countersFailed('give_back', error, lease.client))
    }
    const onLateReply = ({ granted, now }: SharedReply): void => {
      addTaken(lease.unused, granted, now)
      flushes.add(lease)
    }
    try {
      call(lease.client, request, onLateReply).then(end, fail)
    } catch (error) {
      fail(error)
    }
  }

  return {
    decide(lease: Lease, cost: number): Decision | Promise<Decision> {
      const waiter: Waiter = { cost }
      lease.waiters.push(waiter)
      if (!lease.isCalling) start(lease, cost)
      return resultOf(waiter)
    },
    flushLater: flushes.add,
    close: flushes.close,
  }
}

/** The function throws or rejects with `GuardedCallError`. */
function createGuardedCall(shared: SharedCounters, { runtime }: CountersContext) {
  const breaker = createCircuitBreaker(runtime)
  const failed = (error: unknown): GuardedCallError => {
    breaker.recordFailure()
    return new GuardedCallError(reasonOf(error))
  }
  return (
    client: string,
    request: SharedRequest,
    onLateReply: (reply: SharedReply) => void,
  ): Promise<SharedReply> => {
    if (!breaker.isCallAllowed()) throw new GuardedCallError('skipped after failures')
    const reply = shared.count(client, request)
    let isLate = false
    reply.then(
      (late) => isLate && onLateReply(late),
      () => undefined,
    )
    return withTimeout(runtime, TIMEOUT_MS, reply).then(
      (inTime) => {
        breaker.recordSuccess()
        return inTime
      },
      (error: unknown) => {
        isLate = true
        throw failed(error)
      },
    )
  }
}

function createFlushes({ startTimer, monotonic }: Runtime, flush: (lease: Lease) => void) {
  const pending = new Set<Lease>()
  let stopTimer: (() => void) | undefined

  function flushAll(): void {
    stopTimer = undefined
    let calls = 0
    for (const lease of pending) {
      if (calls === MAX_FLUSHES) break
      const { lot, unused, refund } = lease
      if (lot.permits > 0 && monotonic() < lot.until) continue
      pending.delete(lease)
      if (lot.permits + unused.permits + refund.permits === 0) continue
      calls += 1
      flush(lease)
    }
    schedule()
  }

  function schedule(): void {
    if (pending.size > 0) stopTimer ??= startTimer(flushAll, FLUSH_INTERVAL_MS)
  }

  return {
    add(lease: Lease): void {
      pending.add(lease)
      schedule()
    },
    close(): void {
      stopTimer?.()
      pending.clear()
    },
  }
}
