import type { Random } from './random.ts'
import type { StoreKind } from './store.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The fault-free end of every simulation, long enough for a refresh that is put off for a day. In ms. */
const TAIL: number = 27 * HOUR

/** What one simulation is like, drawn from its seed. Durations in ms. */
export interface Settings {
  hosts: number
  /** True time at the start, in ms since the Unix epoch. */
  startsAt: number
  duration: number
  /** When the faults end, in ms of virtual time. */
  calmFrom: number
  /** The share of all faults that are enabled. */
  faultShare: number
  /** Only faults whose names match are enabled. */
  faultNames: RegExp
  /** How often something happens to a process, on average. */
  mishapEvery: number
  /** How far a clock is from true time at most. */
  skew: number
  store: StoreKind
  hasClaims: boolean
  maxStale: { latest: number; history: number }
  /** Requests a day and process. */
  requests: number
  /** How many days of reference rates there are before the start. */
  historyDays: number
  lateShare: number
  holeShare: number
  hasWaitUntil: boolean
  hookThrows: boolean
}

/** The settings of a seed whose sequence is `random`, for `days` virtual days. */
export function drawSettings(random: Random, days: number): Settings {
  const duration = days * DAY
  const store = random.pick<StoreKind>(['none', 'map', 'remote', 'remote'])
  const isCalm = random.chance(0.05)
  return {
    hosts: random.pick([1, 1, 1, 2, 2, 3, 3, 4, 5, 8]),
    startsAt: Date.UTC(2026, 0, 1) + random.whole(0, 5 * 365) * DAY + random.whole(0, DAY),
    duration,
    calmFrom: isCalm ? 0 : Math.max(0, duration - TAIL),
    faultShare: isCalm ? 0 : random.pick([0.05, 0.15, 0.4, 1]),
    faultNames: /^/,
    mishapEvery: random.chance(0.4) ? Infinity : random.magnitude(12 * HOUR, 10 * DAY),
    skew: random.pick([20, 2_000, 10 * MINUTE]),
    store,
    hasClaims: store !== 'none' && random.chance(0.8),
    maxStale: {
      latest: random.pick([HOUR, DAY, 7 * DAY, 7 * DAY]),
      history: random.pick([DAY, 14 * DAY, 14 * DAY]),
    },
    requests: random.magnitude(80, 400),
    historyDays: random.chance(0.03) ? 5 * 366 + 30 : random.whole(20, 120),
    lateShare: isCalm ? 0 : random.pick([0, 0.05, 0.3]),
    holeShare: random.pick([0, 0.03]),
    hasWaitUntil: random.chance(0.5),
    hookThrows: random.chance(0.1),
  }
}
