import { assertKnownOptions } from '../known-options.ts'
import type { Counters, Decision, Limit, LimitState } from './counters.ts'

/** Options of `createMemoryCounters`. */
export interface MemoryCountersOptions {
  /**
   * The number of clients that are counted one by one, at about 250 bytes each: keys, and as many addresses; only clients
   * whose limits are not whole again need an entry. While all entries are in use, new clients of a plan share one more
   * (default 100,000).
   */
  maxClients?: number | undefined
}

const MAX_CLIENTS = 100_000

/** Entries that are checked with each new client: more than one, so that dropping is faster than adding. */
const CHECKED_PER_NEW_CLIENT = 2
const CHECKED_AT_CAPACITY = 16

/**
 * Creates counters in the memory of this process (the default of `createAccess`). Handlers that share them count together.
 *
 * @throws {TypeError} that names the invalid option
 * @example
 * ```ts
 * import { createAccess, createMemoryCounters } from 'ratesmith/access'
 *
 * const access = createAccess({
 *   anonymous: 'public',
 *   plans: { public: { burst: '60/min' } },
 *   counters: createMemoryCounters({ maxClients: 1_000_000 }),
 * })
 * ```
 */
export function createMemoryCounters(options: MemoryCountersOptions = {}): Counters {
  const { maxClients = MAX_CLIENTS } = options
  assertKnownOptions(options, { maxClients })
  if (!Number.isSafeInteger(maxClients) || maxClients < 1) {
    throw new TypeError(
      `maxClients must be a whole number of clients, 1 or more, got ${String(maxClients)}`,
    )
  }
  const keys = createUsages(maxClients)
  // Separate, because attackers may have more addresses than entries.
  const others = createUsages(maxClients)
  const usagesFor = (client: string) => (client.startsWith('key:') ? keys : others)
  return {
    open({ runtime }) {
      let time = 0
      /** Returns the clock in whole ms; a clock that is not a number stops. */
      function readClock(): number {
        const now = Math.floor(runtime.now())
        if (Number.isFinite(now)) time = now
        return time
      }
      return {
        take: (client, limits, cost) =>
          take(usagesFor(client).of(client, limits, readClock()), cost),
        giveBack(client, _limits, cost, takenAt) {
          const usage = usagesFor(client).find(client)
          if (!usage) return
          advance(usage, readClock())
          giveBack(usage, cost, takenAt ?? usage.at)
        },
        close() {},
      }
    },
  }
}

/**
 * A limit in whole numbers, so that sums stay exact: a request adds `unit` to a level, which sinks by `drain` each ms and
 * must not exceed `capacity`. In a month nothing drains until the next one begins.
 */
interface Scale extends Pick<Limit, 'name' | 'quota'> {
  unit: number
  drain: number
  capacity: number
}

interface Rules {
  limits: readonly Limit[]
  scales: readonly Scale[]
  /** Usage of all clients without an entry. */
  overflow?: Usage
}

interface Usage {
  rules: Rules
  levels: number[]
  /** The time of the levels, in ms since the Unix epoch. */
  at: number
  /** The last time at which the level of the burst limit was low before a request. */
  lowAt: number
  /** The least level of the burst limit before each request since then. */
  least: number
}

function createUsages(maxClients: number) {
  const usages = new Map<string, Usage>()
  const known = new WeakMap<readonly Limit[], Rules>()
  let cursor = usages.entries()

  function rulesOf(limits: readonly Limit[]): Rules {
    let rules = known.get(limits)
    if (!rules) known.set(limits, (rules = { limits, scales: limits.map(scaleOf) }))
    return rules
  }

  function sweep(count: number, now: number): void {
    for (let checked = 0; checked < count; checked += 1) {
      const { done, value } = cursor.next()
      if (done) {
        cursor = usages.entries()
        return
      }
      const [client, usage] = value
      advance(usage, now)
      if (usage.levels.every((level) => level === 0)) usages.delete(client)
    }
  }

  function add(client: string, rules: Rules, now: number): Usage {
    sweep(CHECKED_PER_NEW_CLIENT, now)
    if (usages.size >= maxClients) sweep(CHECKED_AT_CAPACITY, now)
    const isFull = usages.size >= maxClients
    if (isFull && rules.overflow) return rules.overflow
    const levels = rules.scales.map(() => 0)
    const usage = { rules, levels, at: now, lowAt: now, least: Infinity }
    if (isFull) rules.overflow = usage
    else usages.set(client, usage)
    return usage
  }

  return {
    find: (client: string) => usages.get(client),
    of(client: string, limits: readonly Limit[], now: number): Usage {
      const usage = usages.get(client) ?? add(client, rulesOf(limits), now)
      advance(usage, now)
      if (usage.rules.limits !== limits) changePlan(usage, rulesOf(limits))
      return usage
    },
  }
}

function scaleOf({ name, quota, window }: Limit): Scale {
  if (window === 'month') return { name, quota, unit: 1, drain: 0, capacity: quota }
  const divisor = greatestCommonDivisor(window, quota)
  const unit = window / divisor
  return { name, quota, unit, drain: quota / divisor, capacity: quota * unit }
}

function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other)
}

function take(usage: Usage, cost: number): Decision {
  const { rules, levels, at } = usage
  const isOver = ({ unit, quota, capacity }: Scale, index: number): boolean =>
    (levels[index] ?? 0) > capacity - Math.min(cost, quota) * unit
  if (rules.scales.some(isOver)) {
    const refused = (scale: Scale, index: number): LimitState =>
      stateOf(scale, { level: levels[index] ?? 0, needed: Math.min(cost, scale.quota), at })
    return { granted: false, states: rules.scales.map(refused) }
  }
  const granted = (scale: Scale, index: number): LimitState => {
    const before = levels[index] ?? 0
    if (scale.drain > 0) noteLevel(usage, before, scale)
    const level = before + Math.min(cost, scale.quota) * scale.unit
    levels[index] = level
    return stateOf(scale, { level, needed: 0, at })
  }
  return { granted: true, states: rules.scales.map(granted), takenAt: at }
}

/** A level of at most this number of requests is low: no request costs more. */
const LOW = 10

function noteLevel(usage: Usage, level: number, { unit }: Scale): void {
  if (level <= LOW * unit) {
    usage.lowAt = usage.at
    usage.least = Infinity
  } else if (level < usage.least) usage.least = level
}

/**
 * Gives back `cost`, which was taken at `takenAt`. Where the burst limit might have been whole meanwhile without that cost,
 * the refill since then is subtracted: otherwise requests that end late would add up to a second burst.
 */
function giveBack(usage: Usage, cost: number, takenAt: number): void {
  const { rules, levels, at } = usage
  usage.levels = rules.scales.map(({ unit, drain, quota }, index) => {
    const level = levels[index] ?? 0
    const taken = Math.min(cost, quota) * unit
    if (drain === 0) return takenAt < monthAt(at).start ? level : Math.max(0, level - taken)
    if (takenAt >= usage.lowAt && taken <= Math.min(usage.least, level)) {
      usage.least -= taken
      return level - taken
    }
    const refilled = Math.max(0, at - takenAt) * drain
    return Math.max(0, level - Math.max(0, taken - refilled))
  })
}

function stateOf(
  { unit, drain, capacity }: Scale,
  { level, needed, at }: { level: number; needed: number; at: number },
): LimitState {
  const excess = Math.max(0, level - (capacity - needed * unit))
  const timeFor = (amount: number): number => {
    if (amount === 0) return 0
    return drain === 0 ? monthAt(at).end - at : amount / drain
  }
  return {
    remaining: Math.floor((capacity - level) / unit),
    reset: timeFor(level),
    wait: Math.ceil(timeFor(excess)),
  }
}

/** Sets the levels to those at the time `now`. A clock that was set back leaves them unchanged. */
function advance(usage: Usage, now: number): void {
  const { rules, levels, at } = usage
  if (now === at) return
  usage.at = now
  if (now < at) return
  for (const [index, { drain }] of rules.scales.entries()) {
    const level = levels[index] ?? 0
    if (drain > 0) levels[index] = Math.max(0, level - (now - at) * drain)
    else if (at < monthAt(now).start) levels[index] = 0
  }
}

/** Counts by other limits, with the same number of requests used. */
function changePlan(usage: Usage, rules: Rules): void {
  const { rules: former, levels } = usage
  usage.levels = rules.scales.map(({ name, unit, capacity }) => {
    const index = former.scales.findIndex((each) => each.name === name)
    const { unit: formerUnit = 1 } = former.scales[index] ?? {}
    return Math.min(capacity, Math.ceil(((levels[index] ?? 0) / formerUnit) * unit))
  })
  usage.rules = rules
  usage.least = 0
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
