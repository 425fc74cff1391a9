import { assertKnownOptions } from '../known-options.ts'
import { DAY_MS } from '../rates/dates.ts'
import type { Limit } from './counters.ts'

/** The limits of a plan, at least one. As text: `'600/min, 100000/month'`, with one limit by month, one by a shorter period, or both. */
export interface Plan {
  /**
   * Short-term limit, such as `60/min`: 60 requests at once, refilled at 60 per minute. Periods: `s`, `min`, `h`, `day`, with
   * an optional count (`100/10s`); at most a day, and at most 100 million requests.
   */
  burst?: string | undefined
  /** Requests in a calendar month, in UTC; at most a billion. */
  month?: number | undefined
}

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  day: DAY_MS,
}

/** Requests times ms of a window must be a safe integer, so that counters can be exact. */
const MAX_BURST = 100_000_000
const MAX_MONTH = 1_000_000_000

/** @throws {TypeError} naming the invalid option */
export function limitsOf(plan: Plan | string, name: string): readonly Limit[] {
  const parts = typeof plan === 'string' ? readPlan(plan, name) : plan
  assertKnownOptions(parts, { burst: true, month: true }, name)
  const { burst, month } = parts
  const limits: Limit[] = []
  if (burst !== undefined) limits.push(burstLimit(burst, `${name}.burst`))
  if (month !== undefined) {
    const quota = requireQuota(month, `${name}.month`, MAX_MONTH)
    limits.push({ name: 'month', quota, window: 'month' })
  }
  if (limits.length === 0) throw new TypeError(`${name} must have a burst or a month limit`)
  return limits
}

function readPlan(text: string, name: string): Plan {
  const plan: Plan = {}
  for (const limit of text.split(',').map((part) => part.trim())) {
    const [, month] = /^(\d+)\/month$/.exec(limit) ?? []
    if (month === undefined ? plan.burst !== undefined : plan.month !== undefined) {
      throw new TypeError(
        `${name} may have one limit by month and one by a shorter period, got ${text}`,
      )
    }
    if (month === undefined) plan.burst = limit
    else plan.month = Number(month)
  }
  return plan
}

function burstLimit(burst: unknown, name: string): Limit {
  const text = typeof burst === 'string' ? burst : ''
  const [, quota, count = '1', unit = ''] = /^(\d+)\/(\d+)?([a-z]+)$/.exec(text) ?? []
  const unitMs = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined
  const window = Number(count) * (unitMs ?? NaN)
  if (quota === undefined || !(window > 0 && window <= DAY_MS)) {
    throw new TypeError(
      `${name} must be requests per period of at most a day, such as 60/min or 100/10s, got ${String(burst)}`,
    )
  }
  return { name: 'burst', quota: requireQuota(Number(quota), name, MAX_BURST), window }
}

function requireQuota(quota: unknown, name: string, max: number): number {
  if (Number.isInteger(quota) && Number(quota) > 0 && Number(quota) <= max) return Number(quota)
  throw new TypeError(
    `${name} must be a whole number of requests from 1 to ${max}, got ${String(quota)}`,
  )
}
