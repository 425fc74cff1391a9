import type { Decision, Limit, LimitState } from './counters.ts'

/**
 * The limits of a plan in whole numbers, so that sums stay exact: a request adds `unit` to a level, which sinks by `drain`
 * each ms and must not exceed `capacity` (a generic cell rate algorithm, GCRA).
 */
export interface Terms {
  readonly unit: number
  /** 0 without a burst limit, like `capacity` and `quota`. */
  readonly drain: number
  readonly capacity: number
  readonly quota: number
  /** Requests in a calendar month; 0 without a limit. */
  readonly month: number
}

/** What is kept of a client. Times are in ms since the Unix epoch. */
export interface State {
  level: number
  /** Of the terms by which the level was counted. */
  drain: number
  /** The time of the level, and in the month of `used`. */
  at: number
  used: number
  /** When the state was created. */
  since: number
}

export interface Change {
  /** Taken from all limits, or from none; 0 takes nothing. */
  cost: number
  /** Given back, of what was taken at `takenAt` or later. */
  back: number
  takenAt: number
  /** What a process has seen used of the month, at `knownAt`: a state that was lost counts at least that. */
  known: number
  knownAt: number
}

export interface Counted extends State {
  granted: boolean
}

/** Counts a change of a state; undefined is a client that was never seen. `COUNT_SCRIPT` is the same in Lua. */
export function count(
  state: State | undefined,
  terms: Terms,
  change: Change,
  now: number,
): Counted {
  const { unit, drain, capacity, quota, month } = terms
  const { cost, back, takenAt, known, knownAt } = change
  let { level, used, since } = state ?? { level: 0, used: 0, since: now }
  const { drain: formerDrain, at } = state ?? { drain, at: now }
  // Another plan: the time until the limit is whole again stays the same.
  if (formerDrain !== drain) level = formerDrain > 0 ? Math.ceil((level / formerDrain) * drain) : 0
  const { start } = monthAt(now)
  if (at < start) used = 0
  if (knownAt >= start && (at < knownAt || since > knownAt)) used = Math.max(used, known)
  if (back > 0) {
    // While the limit was whole without this cost, the refill has replaced it: of that, at most the time until `at`.
    const left = Math.min(back, quota) * unit - (at - takenAt) * drain
    if (takenAt >= since && takenAt <= at) level = Math.max(0, level - Math.max(0, left))
    const isCounted = takenAt >= since || takenAt <= knownAt
    if (isCounted && takenAt >= start) used = Math.max(0, used - back)
  }
  // A clock that was set back refills nothing.
  level = Math.min(capacity, Math.max(0, level - Math.max(0, now - at) * drain))
  since = Math.min(since, now)
  const [burstCost, monthCost] = [Math.min(cost, quota) * unit, Math.min(cost, month)]
  const fitsMonth = monthCost === 0 || used + monthCost <= month
  const granted = level + burstCost <= capacity && fitsMonth
  if (granted) {
    level += burstCost
    used += monthCost
  }
  return { granted, level, drain, at: now, used, since }
}

/** Returns whether all limits of a state are whole at `now`. */
export function isWhole({ level, drain, at, used }: State, now: number): boolean {
  return level <= Math.max(0, now - at) * drain && (used === 0 || at < monthAt(now).start)
}

const known = new WeakMap<readonly Limit[], Terms>()

export function termsOf(limits: readonly Limit[]): Terms {
  let terms = known.get(limits)
  if (!terms) known.set(limits, (terms = toTerms(limits)))
  return terms
}

function toTerms(limits: readonly Limit[]): Terms {
  const month = limits.find(({ window }) => window === 'month')?.quota ?? 0
  for (const { quota, window } of limits) {
    if (window === 'month') continue
    const divisor = greatestCommonDivisor(window, quota)
    const unit = window / divisor
    return { unit, drain: quota / divisor, capacity: quota * unit, quota, month }
  }
  return { unit: 0, drain: 0, capacity: 0, quota: 0, month }
}

function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other)
}

/** Returns a change that only takes `cost`. */
export function taking(cost: number): Change {
  return { cost, back: 0, takenAt: 0, known: 0, knownAt: 0 }
}

interface GiveBack {
  giveBack(change: Change, terms: Terms): void
}

/** Computes the states only where they are read: most responses have no header fields of limits. */
export class CountedDecision implements Decision {
  readonly granted: boolean
  readonly #limits: readonly Limit[]
  readonly #cost: number
  readonly #giver: GiveBack
  #counted: Counted

  constructor(limits: readonly Limit[], counted: Counted, cost: number, giver: GiveBack) {
    this.granted = counted.granted
    this.#limits = limits
    this.#counted = counted
    this.#cost = cost
    this.#giver = giver
  }

  get states(): readonly LimitState[] {
    const needed = this.granted ? 0 : this.#cost
    const { level, used, at } = this.#counted
    const { unit, drain, capacity, quota, month } = termsOf(this.#limits)
    return this.#limits.map(({ window }) => {
      if (window !== 'month') {
        const excess = Math.max(0, level + Math.min(needed, quota) * unit - capacity)
        const remaining = Math.floor((capacity - level) / unit)
        return { remaining, reset: level / drain, wait: Math.ceil(excess / drain) }
      }
      const left = monthAt(at).end - at
      const isOver = needed > 0 && used + Math.min(needed, month) > month
      const remaining = Math.max(0, month - used)
      return { remaining, reset: used > 0 ? left : 0, wait: isOver ? left : 0 }
    })
  }

  giveBack(back: number): void {
    const terms = termsOf(this.#limits)
    const { at } = this.#counted
    const change = { ...taking(0), back, takenAt: at }
    this.#counted = count(this.#counted, terms, change, at)
    this.#giver.giveBack(change, terms)
  }
}

/** A calendar month in UTC, in ms since the Unix epoch; `end` is the start of the next one. */
interface Month {
  start: number
  end: number
}

let lastMonth: Month = { start: 0, end: 0 }

/** Returns the month of `time`; the last one is remembered, because dates are slow. */
function monthAt(time: number): Month {
  if (time < lastMonth.start || time >= lastMonth.end) {
    const date = new Date(time)
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
    lastMonth = { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) }
  }
  return lastMonth
}
