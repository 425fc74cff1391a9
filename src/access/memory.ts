import type { Counters, Decision, Limit, LimitState } from './counters.ts'

/**
 * Creates counters in the memory of this process (the default of `createAccess`).
 *
 * @example
 * ```ts
 * import { createAccess, createMemoryCounters } from 'ratesmith/access'
 *
 * const access = createAccess({
 *   anonymous: 'public',
 *   plans: { public: { burst: '60/min' } },
 *   counters: createMemoryCounters(),
 * })
 * ```
 */
export function createMemoryCounters(): Counters {
  /** Theoretical arrival times of the generic cell rate algorithm, in ms since the Unix epoch. */
  const arrivals = new Map<string, number>()
  const months = new Map<string, { month: number; used: number }>()

  return {
    open: ({ runtime }) => ({
      take(client, limits, cost): Decision {
        const now = runtime.now()
        const states = limits.map((limit) => stateOf(client, limit, cost, now))
        if (states.some(({ wait }) => wait > 0)) return { granted: false, states }
        limits.forEach((limit) => move(client, limit, cost, now))
        return { granted: true, states: limits.map((limit) => stateOf(client, limit, 0, now)) }
      },
      giveBack(client, limits, cost) {
        for (const limit of limits) move(client, limit, -cost, runtime.now())
      },
      close() {},
    }),
  }

  function stateOf(client: string, limit: Limit, cost: number, now: number): LimitState {
    const { quota, window } = limit
    const needed = Math.min(cost, quota)
    if (window === 'month') {
      const remaining = quota - usedIn(client, monthOf(now))
      const reset = startOf(monthOf(now) + 1) - now
      return { remaining, reset, wait: needed > remaining ? reset : 0 }
    }
    const interval = window / quota
    const ahead = Math.max(0, (arrivals.get(client) ?? 0) - now)
    const remaining = Math.max(0, Math.floor((window - ahead) / interval + 1e-9))
    return { remaining, reset: ahead, wait: Math.max(0, ahead + needed * interval - window) }
  }

  function move(client: string, { quota, window }: Limit, cost: number, now: number): void {
    const change = Math.sign(cost) * Math.min(Math.abs(cost), quota)
    if (window === 'month') {
      const month = monthOf(now)
      months.set(client, { month, used: Math.max(0, usedIn(client, month) + change) })
    } else {
      const arrival = Math.max(now, arrivals.get(client) ?? 0) + (change * window) / quota
      arrivals.set(client, arrival)
    }
  }

  function usedIn(client: string, month: number): number {
    const counted = months.get(client)
    return counted?.month === month ? counted.used : 0
  }
}

/** Returns the number of months since year 0 of the month that contains `now`, in UTC. */
function monthOf(now: number): number {
  const date = new Date(now)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

function startOf(month: number): number {
  return Date.UTC(Math.floor(month / 12), month % 12)
}
