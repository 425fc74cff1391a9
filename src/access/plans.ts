import { assertKnownOptions } from '../known-options.ts'
import type { Limit } from './counters.ts'

/** The limits of a plan, at least one. */
export interface Plan {
  /**
   * Short-term limit, such as `60/min`: so many requests at once, and as many again over each period. Periods: `s`, `min`,
   * `h`, `day`, with an optional count (`100/10s`).
   */
  burst?: string | undefined
  /** Requests in a calendar month, in UTC. */
  month?: number | undefined
}

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  day: 86_400_000,
}

const MAX_QUOTA = 1_000_000_000

/**
 * Returns the limits of a plan; `name` is used in messages.
 *
 * @throws {TypeError} naming the invalid option
 */
export function limitsOf(plan: Plan, name: string): readonly Limit[] {
  assertKnownOptions(plan, { burst: true, month: true }, name)
  const { burst, month } = plan
  const limits: Limit[] = []
  if (burst !== undefined) limits.push(burstLimit(burst, `${name}.burst`))
  if (month !== undefined) {
    limits.push({ name: 'month', quota: requireQuota(month, `${name}.month`), window: 'month' })
  }
  if (limits.length === 0) throw new TypeError(`${name} must have a burst or a month limit`)
  return limits
}

function burstLimit(text: string, name: string): Limit {
  const [, quota, count = '1', unit = ''] = /^(\d+)\/(\d+)?([a-z]+)$/.exec(String(text)) ?? []
  const unitMs = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined
  const window = Number(count) * (unitMs ?? NaN)
  if (quota === undefined || !(window > 0 && window <= 86_400_000)) {
    throw new TypeError(
      `${name} must be requests per period of at most a day, such as 60/min or 100/10s, got ${String(text)}`,
    )
  }
  return { name: 'burst', quota: requireQuota(Number(quota), name), window }
}

function requireQuota(quota: unknown, name: string): number {
  if (Number.isInteger(quota) && Number(quota) > 0 && Number(quota) <= MAX_QUOTA) {
    return Number(quota)
  }
  throw new TypeError(
    `${name} must be a whole number of requests from 1 to 1e9, got ${String(quota)}`,
  )
}
