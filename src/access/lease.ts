import type { Decision, Limit, LimitState } from './counters.ts'
import type { SharedReply, SharedRequest } from './shared-count.ts'

/** The longest time that a lot may be used, in ms. */
export const MAX_LIFE_MS = 1_000

/** The share of the window of the burst limit that a lot may be kept. */
const LIFE_SHARE = 1 / 20

/** Below this refill during one life, permits are taken one request at a time: a lot would save few calls. */
const MIN_REFILL = 2

/** A refusal is remembered at most so long, because other processes may give permits back. */
const MAX_REFUSAL_MS = 10_000

export interface Terms {
  limits: readonly Limit[]
  burst: Limit & { window: number }
  month: Limit | undefined
  /** How long a lot may be used, in ms. */
  life: number
  hasLots: boolean
  /** The highest quota: a cost above counts as this. */
  maxCost: number
}

export interface Waiter {
  cost: number
  outcome?: Outcome
  onSettled?: () => void
}

type Outcome = { decision: Decision } | { error: unknown }

/** Permits that were taken, in the order of the calls. */
interface Taken {
  permits: number
  /** When they were taken, in µs by the clock of the counters. */
  at: number
}

export interface Lease {
  client: string
  terms: Terms
  /** Permits in hand, until `until` by the monotonic clock. */
  lot: Taken & { until: number }
  unused: Taken
  refund: Taken
  waiters: Waiter[]
  isCalling: boolean
  /** The last reply, and when it was requested by the monotonic clock. */
  reply: SharedReply
  repliedAt: number
  /** Costs from `refusedCost` on are refused without a call, until `refusedUntil` by the monotonic clock. */
  refusedCost: number
  refusedUntil: number
  /** Permits requested in the current life, which began at `lifeStart`, and in the three lives before. */
  demand: [number, number, number, number]
  lifeStart: number
}

const NO_REPLY: SharedReply = {
  granted: 0,
  now: 0,
  deficit: 0,
  capacity: 0,
  used: 0,
  monthEnd: 0,
}

export function isIdle(lease: Lease, now: number, maxIdle: number): boolean {
  const usedAt = Math.max(lease.lifeStart + lease.terms.life, lease.repliedAt)
  const isNeeded =
    lease.isCalling ||
    lease.lot.until > now ||
    lease.refusedUntil > now ||
    lease.refund.permits > 0 ||
    lease.unused.permits > 0
  return !isNeeded && now - usedAt > maxIdle
}

export function createLease(client: string, terms: Terms): Lease {
  return {
    client,
    terms,
    lot: { permits: 0, at: 0, until: 0 },
    unused: { permits: 0, at: 0 },
    refund: { permits: 0, at: 0 },
    waiters: [],
    isCalling: false,
    reply: NO_REPLY,
    repliedAt: 0,
    refusedCost: Infinity,
    refusedUntil: 0,
    demand: [0, 0, 0, 0],
    lifeStart: -Infinity,
  }
}

const NO_BURST = { name: '', quota: 0, window: 0 }

export function termsOf(limits: readonly Limit[]): Terms {
  const month = limits.find(({ window }) => window === 'month')
  let burst = NO_BURST
  for (const { name, quota, window } of limits) {
    if (window !== 'month') burst = { name, quota, window }
  }
  const { quota, window } = burst
  const life = quota > 0 ? Math.min(MAX_LIFE_MS, window * LIFE_SHARE) : MAX_LIFE_MS
  const hasLots = quota === 0 || (quota * life) / window >= MIN_REFILL
  const maxCost = Math.max(...limits.map((limit) => limit.quota))
  return { limits, burst, month, life, hasLots, maxCost }
}

/** Counts what is requested in each life, also what is refused. */
export function countDemand(lease: Lease, cost: number, now: number): void {
  const elapsed = now - lease.lifeStart
  const { demand, terms } = lease
  if (elapsed >= terms.life) {
    const isNext = elapsed < 2 * terms.life
    lease.demand = isNext ? [0, demand[0], demand[1], demand[2]] : [0, 0, 0, 0]
    lease.lifeStart = isNext ? lease.lifeStart + terms.life : now
  }
  lease.demand[0] += cost
}

/** As many as in each of the last three lives, or half of those in the current one. */
function expectedDemand({ demand: [current, ...earlier], terms }: Lease, cost: number): number {
  if (!terms.hasLots) return 0
  return Math.max(0, Math.min(...earlier) - cost, Math.floor((current - cost) / 2))
}

export function decide(lease: Lease, cost: number, now: number): Decision | undefined {
  const { lot } = lease
  if (lot.permits >= cost && now < lot.until) {
    lot.permits -= cost
    return { granted: true, states: statesOf(lease, 0, now), takenAt: lot.at }
  }
  if (cost < lease.refusedCost || now >= lease.refusedUntil) return undefined
  return { granted: false, states: statesOf(lease, cost, now) }
}

function statesOf(lease: Lease, cost: number, now: number): LimitState[] {
  const { terms, lot, refusedUntil } = lease
  const inHand = now < lot.until ? lot.permits : 0
  let isExplained = false
  const states = terms.limits.map((limit) => {
    const state =
      limit.window === 'month'
        ? monthState(lease, limit, inHand, cost, now)
        : burstState(lease, inHand, cost, now)
    isExplained ||= state.wait > 0
    return state
  })
  // Refills are not looked for before the end of a refusal.
  const [first] = states
  if (cost > 0 && first && (!isExplained || (first.wait > 0 && terms.burst.quota > 0))) {
    first.wait = Math.max(first.wait, refusedUntil - now, 1)
  }
  return states
}

function burstState(
  { terms: { burst }, reply: { deficit, capacity }, repliedAt }: Lease,
  inHand: number,
  cost: number,
  now: number,
): LimitState {
  const { quota, window } = burst
  const [whole, interval] = [capacity / 1_000, window / quota]
  const left = Math.max(0, deficit / 1_000 - (now - repliedAt))
  const remaining = Math.floor((whole - left) / interval + 1e-6) + inHand
  const wait = cost === 0 ? 0 : Math.max(0, left + Math.min(cost * interval, whole) - whole)
  return {
    remaining: Math.min(quota, Math.max(0, remaining)),
    reset: Math.max(0, left - inHand * interval),
    wait,
  }
}

function monthState(
  { reply: { used, monthEnd, now: repliedBy }, repliedAt }: Lease,
  { quota }: Limit,
  inHand: number,
  cost: number,
  now: number,
): LimitState {
  const remaining = Math.max(0, quota - used) + inHand
  const reset = Math.max(0, (monthEnd - repliedBy) / 1_000 - (now - repliedAt))
  return { remaining, reset, wait: Math.min(cost, quota) > remaining ? reset : 0 }
}

/** Decides about waiters without a call; returns the cost of the first one that needs a call, or 0. */
export function serveWaiters(lease: Lease, now: number): number {
  for (;;) {
    const [waiter] = lease.waiters
    if (!waiter) return 0
    const decision = decide(lease, waiter.cost, now)
    if (!decision) return waiter.cost
    lease.waiters.shift()
    settle(waiter, { decision })
  }
}

export function settle(waiter: Waiter, outcome: Outcome): void {
  waiter.outcome = outcome
  waiter.onSettled?.()
}

export function resultOf(waiter: Waiter): Decision | Promise<Decision> {
  if (waiter.outcome) return decisionOf(waiter)
  return new Promise((resolve, reject) => {
    waiter.onSettled = () => {
      try {
        resolve(decisionOf(waiter))
      } catch (error) {
        reject(error)
      }
    }
  })
}

function decisionOf({ outcome }: Waiter): Decision {
  if (outcome && 'decision' in outcome) return outcome.decision
  throw outcome?.error
}

/** Takes a lot out of use; returns its permits that a call for `cost` may still use. */
export function endLot({ lot, unused }: Lease, cost: number, now: number): number {
  const { permits, at, until } = lot
  if (permits === 0 || (cost === 0 && now < until)) return permits
  lot.permits = 0
  if (now < until) return permits
  addTaken(unused, permits, at)
  return 0
}

/** Adds permits, with the earlier of two times: less is given back of permits taken earlier. */
export function addTaken(taken: Taken, permits: number, at: number): void {
  if (permits === 0) return
  taken.at = taken.permits === 0 ? at : Math.min(at, taken.at)
  taken.permits += permits
}

export function requestFor(
  lease: Lease,
  cost: number,
  reserved: number,
  now: number,
): SharedRequest {
  const { terms, waiters, unused, refund } = lease
  const { burst, month, life } = terms
  const waiting = waiters.reduce((sum, waiter) => sum + waiter.cost, 0)
  return {
    quota: burst.quota,
    window: burst.window * 1_000,
    life: Math.round(life * 1_000),
    monthQuota: month?.quota ?? 0,
    months: monthsAround(now),
    need: cost - reserved,
    immediate: Math.max(cost, waiting) - reserved,
    ahead: cost === 0 ? 0 : expectedDemand(lease, Math.max(cost, waiting)),
    unused: unused.permits,
    unusedAt: unused.at,
    refund: refund.permits,
    refundAt: refund.at,
  }
}

/** Returns the starts of the previous, the current and the next two months in UTC, in µs since the Unix epoch. */
function monthsAround(now: number): SharedRequest['months'] {
  const date = new Date(now)
  const startOf = (offset: number): number =>
    Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset) * 1_000
  return [startOf(-1), startOf(0), startOf(1), startOf(2)]
}

interface EndedCall {
  request: SharedRequest
  /** Permits that were in hand before. */
  reserved: number
  sentAt: number
  now: number
}

export function accept(
  lease: Lease,
  reply: SharedReply,
  { request, reserved, sentAt, now }: EndedCall,
): void {
  const { terms, waiters, lot } = lease
  lease.isCalling = false
  lease.reply = reply
  lease.repliedAt = sentAt
  if (request.need === 0) return
  const cost = request.need + reserved
  lease.refusedCost = Infinity
  if (reply.granted === 0) {
    lot.permits += reserved
    return refuseFor(lease, cost, now)
  }
  const monthLeft = terms.month ? (reply.monthEnd - reply.now) / 1_000 : Infinity
  const until = sentAt + Math.min(terms.life, monthLeft)
  let permits = reply.granted + reserved
  // After a late reply, only the requests for which the call was made are served.
  let usable = now < until ? permits : Math.min(permits, request.immediate + reserved)
  while (waiters[0] && waiters[0].cost <= usable) {
    const waiter = waiters.shift()
    if (!waiter) break
    usable -= waiter.cost
    permits -= waiter.cost
    lease.lot = { permits, at: reply.now, until }
    const states = statesOf(lease, 0, now)
    settle(waiter, { decision: { granted: true, states, takenAt: reply.now } })
  }
  lease.lot = { permits, at: reply.now, until }
  if (isUsedUp(lease)) refuseFor(lease, 1, sentAt)
}

function isUsedUp({ terms: { burst, month }, reply }: Lease): boolean {
  if (month && reply.used >= month.quota) return true
  const interval = (burst.window * 1_000) / burst.quota
  return burst.quota > 0 && reply.deficit + interval > reply.capacity
}

/** Refuses `cost` and more for at least one life, so that a flood of requests causes few calls. */
function refuseFor(lease: Lease, cost: number, now: number): void {
  lease.refusedCost = cost
  lease.refusedUntil = Infinity
  const waits = statesOf({ ...lease, refusedUntil: 0 }, cost, now).map(({ wait }) => wait)
  const wait = Math.min(MAX_REFUSAL_MS, Math.max(lease.terms.life, ...waits))
  lease.refusedUntil = now + wait
}
