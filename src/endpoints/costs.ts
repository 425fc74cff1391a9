import { DAY_MS, dayNumber, isDay } from '../rates/dates.ts'

/** The most that one request takes from the limits of a client. */
export const MAX_COST = 10

/** Longer queries cost the maximum: decoding takes too long for a request that may be refused. */
const MAX_DECODED_LENGTH = 8_192

/** Longer lists get a 400. */
const MAX_CODES_READ = 2_049

const YEAR_DAYS = 365.25

/**
 * Returns the cost of a query for conversions or histories on the day of `now`: 1 for each code and started five years, or the
 * maximum if it expands to the rates of all sources.
 */
export function costOfQuery(query: string, now: () => number): number {
  if (query.length > MAX_DECODED_LENGTH) return MAX_COST
  // One code and no days: by far the most frequent query.
  if (!/expand|start|[,%]/.test(query)) return 1
  if (valueIn(query, 'expand') !== undefined) return MAX_COST
  const codes = valueIn(query, 'to')?.split(',', MAX_CODES_READ) ?? []
  return Math.min(MAX_COST, costOfCodes(codes) * spansIn(query, now(), 5))
}

/** Returns the cost of a query for all days of a range: 1 for each started year, at most 10. */
export function costOfDays(query: string, now: () => number): number {
  return query.length > MAX_DECODED_LENGTH ? MAX_COST : Math.min(MAX_COST, spansIn(query, now(), 1))
}

function spansIn(query: string, now: number, years: number): number {
  const start = valueIn(query, 'start')
  // An invalid day gets a 400.
  if (start === undefined || !isDay(start)) return 1
  const end = valueIn(query, 'end') ?? ''
  const days = (isDay(end) ? dayNumber(end) : Math.floor(now / DAY_MS)) - dayNumber(start)
  return Math.max(1, Math.ceil(days / (years * YEAR_DAYS)))
}

/** Parses only queries that have the name, or may have it encoded. */
function valueIn(query: string, name: string): string | undefined {
  if (!query.includes(name) && !query.includes('%')) return undefined
  // Without the `&`, a leading question mark would be dropped.
  return new URLSearchParams(`&${query}`).get(name) ?? undefined
}

/** Returns the cost of conversions to `codes`: 1 for each distinct one, at least 1 and at most 10. */
export function costOfCodes(codes: Iterable<string>): number {
  const distinct = new Set<string>()
  for (const code of codes) {
    const trimmed = code.trim()
    if (trimmed !== '') distinct.add(trimmed.toUpperCase())
    if (distinct.size === MAX_COST) break
  }
  return Math.max(1, distinct.size)
}
