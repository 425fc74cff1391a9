/** The most that one request takes from the limits of a client. */
export const MAX_COST = 10

/** Returns the cost of a query: 1 for each distinct code in `to`, at most 10. */
export function costOfCodes(query: string): number {
  const [, list] = /(?:^|&)to=([^&]*)/.exec(query) ?? []
  // A single code, by far the most frequent query.
  if (list === undefined || !/,|%2c/i.test(list)) return 1
  return costOf(list.split(/,|%2c/i, MAX_CODES_READ))
}

/** Longer lists cost the maximum, or get a 400. */
const MAX_CODES_READ = 250

/** Returns the cost of conversions to `codes`: 1 for each distinct one, at least 1 and at most 10. */
export function costOf(codes: Iterable<string>): number {
  const distinct = new Set<string>()
  for (const code of codes) {
    if (code !== '') distinct.add(code.toUpperCase())
    if (distinct.size === MAX_COST) break
  }
  return Math.max(1, distinct.size)
}
