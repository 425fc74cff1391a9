import type { Limit } from './counters.ts'
import { fieldsOf } from './limit-headers.ts'
import type { LimitFields } from './limit-headers.ts'

type Unit = 's' | 'min' | 'h' | 'day'
type Burst = `${number}/${Unit}` | `${number}/${number}${Unit}`
type Month = `${number}/month`

/**
 * The limits of a plan: one by a period of at most a day, one by calendar month in UTC, or both. `60/min` allows 60 requests at
 * once, refilled at 60 per minute. Periods: `s`, `min`, `h`, `day`, with an optional count (`100/10s`), and `month`.
 *
 * All texts are checked by `createAccess`; write `as Plan` after one whose type is only `string`, such as a variable of the
 * environment.
 */
export type Plan = Burst | Month | `${Burst},${'' | ' '}${Month}` | `${Month},${'' | ' '}${Burst}`

/** A plan with its limits, and what it sends about them. */
export interface ResolvedPlan {
  /** In events. */
  name: string
  limits: readonly Limit[]
  /** The limits for people: `60 requests per minute on plan public`. */
  descriptions: readonly string[]
  fields: LimitFields
  /** The smallest quota: no request costs more, so that every request fits. */
  maxCost: number
}

const DAY_MS = 86_400_000

/** From the longest to the shortest, for descriptions. */
const UNITS = [
  { unit: 'day', ms: DAY_MS, name: 'day' },
  { unit: 'h', ms: 3_600_000, name: 'hour' },
  { unit: 'min', ms: 60_000, name: 'minute' },
  { unit: 's', ms: 1_000, name: 'second' },
] as const

/** Requests times ms of a window must be a safe integer, so that counters can be exact. */
const MAX_BURST = 100_000_000
const MAX_MONTH = 1_000_000_000

/** @throws {TypeError} that names the invalid option */
export function resolvePlans(plans: unknown): ReadonlyMap<string, ResolvedPlan> {
  const isObject = typeof plans === 'object' && plans !== null && !Array.isArray(plans)
  const entries: [string, unknown][] = isObject ? Object.entries(plans) : []
  if (entries.length === 0) {
    throw new TypeError(
      "plans must be an object with at least one plan, such as { public: '60/min' }",
    )
  }
  return new Map(
    entries.map(([name, plan]) => {
      if (!/^[\w.-]{1,64}$/.test(name) || name === 'refuse') {
        throw new TypeError(
          `names of plans must be 1 to 64 letters, digits, _, . or -, and not "refuse", got "${name}"`,
        )
      }
      const limits = limitsOf(plan, `plans.${name}`)
      return [name, resolvePlan(name, limits, `on plan ${name}`)]
    }),
  )
}

/** The limit of requests that are refused for their keys, where no plan is for requests without one. */
export const REFUSED: ResolvedPlan = resolvePlan(
  'refuse',
  [{ name: 'burst', quota: 60, window: 60_000 }],
  'without a valid API key',
)

function resolvePlan(name: string, limits: readonly Limit[], about: string): ResolvedPlan {
  return {
    name,
    limits,
    descriptions: limits.map((limit) => `${describe(limit)} ${about}`),
    fields: fieldsOf(limits),
    maxCost: Math.min(...limits.map(({ quota }) => quota)),
  }
}

function describe({ quota, window }: Limit): string {
  const requests = quota === 1 ? '1 request' : `${quota} requests`
  if (window === 'month') return `${requests} per month`
  const { ms, name } = UNITS.find((each) => window % each.ms === 0) ?? UNITS[3]
  const length = window / ms
  return `${requests} per ${length === 1 ? name : `${length} ${name}s`}`
}

/** @throws {TypeError} naming the invalid option */
export function limitsOf(plan: unknown, name: string): readonly Limit[] {
  const fail = (expected: string): never => {
    throw new TypeError(`${name} must ${expected}, got ${String(plan)}`)
  }
  if (typeof plan !== 'string') {
    return fail("be a text such as '60/min', '100/10s' or '600/min, 100000/month'")
  }
  const limits = plan.split(',').map((part): Limit => {
    const [, digits, count = '1', unit] = /^\s*(\d+)\/(\d+)?([a-z]+)\s*$/.exec(part) ?? []
    const quota = Number(digits)
    if (unit === 'month' && count === '1') {
      if (quota > 0 && quota <= MAX_MONTH) return { name: 'month', quota, window: 'month' }
      return fail(`have 1 to ${MAX_MONTH} requests per month`)
    }
    const window = Number(count) * (UNITS.find((each) => each.unit === unit)?.ms ?? NaN)
    if (!(window > 0 && window <= DAY_MS)) {
      return fail('have requests per s, min, h, day (at most a day) or month, such as 60/min')
    }
    if (quota > 0 && quota <= MAX_BURST) return { name: 'burst', quota, window }
    return fail(`have 1 to ${MAX_BURST} requests per period`)
  })
  if (new Set(limits.map((limit) => limit.name)).size < limits.length) {
    return fail('have at most one limit by month and one by a shorter period')
  }
  return limits.sort((one, other) => (one.name < other.name ? -1 : 1))
}
