/**
 * Limits as their definition: the list of what one client was granted, from which everything is computed again each time, in
 * exact numbers. Slow, and without a state that could drift.
 */
export interface ModelLimit {
  name: string
  quota: number
  /** In ms, or calendar months in UTC. */
  window: number | 'month'
}

/** What the header fields contain about a limit. */
export interface ModelState {
  r: number
  t: number
}

/** The decision of the model about a cost: for each limit, how long it refuses the cost, in ms. */
export type Waits = readonly number[]

export function createModelClient(limits: readonly ModelLimit[]) {
  /** Also has requests that took nothing: the clock was seen at their time. */
  const requests: { at: number; cost: number }[] = []

  /** The level at `now`, in units of which one request is `unitOf(limit)`. */
  function levelOf(limit: ModelLimit, now: number): bigint {
    let level = 0n
    let last = requests[0]?.at ?? now
    for (const { at, cost } of [...requests, { at: now, cost: 0 }]) {
      if (limit.window !== 'month') {
        // Each ms refills `quota` units; a clock that was set back refills nothing.
        const refilled = BigInt(Math.max(0, at - last)) * BigInt(limit.quota)
        level = level > refilled ? level - refilled : 0n
      } else if (monthOf(at) > monthOf(last)) level = 0n
      level += BigInt(cost) * unitOf(limit)
      last = at
    }
    return level
  }

  /** How long `cost` does not fit, in ms, found by trying. */
  function waitOf(limit: ModelLimit, now: number, cost: number): number {
    const excess = levelOf(limit, now) - BigInt(limit.quota - cost) * unitOf(limit)
    return excess <= 0n ? 0 : timeFor(limit, excess, now)
  }

  return {
    /** Returns how long each limit refuses `cost`: all zeros if it is granted. */
    waits: (now: number, cost: number): Waits => limits.map((each) => waitOf(each, now, cost)),
    /** Records what a request has cost in the end: 0 if it was refused. */
    record: (at: number, cost: number): void => void requests.push({ at, cost }),
    /** The state of each limit, at the time of a decision. */
    states: (now: number, waits: Waits): ModelState[] =>
      limits.map((limit, index) => {
        const level = levelOf(limit, now)
        const time = waits[index] || (level === 0n ? 0 : timeFor(limit, level, now))
        return {
          r: Number((BigInt(limit.quota) * unitOf(limit) - level) / unitOf(limit)),
          t: Math.ceil(time / 1_000),
        }
      }),
    /** Returns an interval of t ms in which more than `quota + quota * t / window` was granted, if there is one. */
    violation(): string | undefined {
      for (const { name, quota, window } of limits) {
        if (window === 'month') continue
        for (const [first, { at: from }] of requests.entries()) {
          let sum = 0
          for (const { at, cost } of requests.slice(first)) {
            sum += cost
            if (sum * window > quota * (window + at - from)) {
              return `${name}: ${sum} in ${at - from} ms`
            }
          }
        }
      }
      return undefined
    },
  }
}

function unitOf({ window }: ModelLimit): bigint {
  return window === 'month' ? 1n : BigInt(window)
}

/** The first ms at which `amount` is refilled. */
function timeFor({ window, quota }: ModelLimit, amount: bigint, now: number): number {
  if (window === 'month') {
    let end = now
    while (monthOf(end) === monthOf(now)) end += 86_400_000
    return Math.floor(end / 86_400_000) * 86_400_000 - now
  }
  const drain = BigInt(quota)
  return Number((amount + drain - 1n) / drain)
}

function monthOf(time: number): number {
  const [year, month] = new Date(time).toISOString().split('-')
  return Number(year) * 12 + Number(month)
}
