/** The most that one request takes from the limits of a client. */
export const MAX_COST = 10

/** Longer queries cost the maximum: decoding takes too long for a request that may be refused. */
const MAX_DECODED_LENGTH = 8_192

/** Returns the cost of a query: 1 for each distinct code in `to`, at most 10. Reads `to` as the endpoints do. */
export function costOfCodes(query: string): number {
  if (query.length > MAX_DECODED_LENGTH) return MAX_COST
  // Without a comma, plain or encoded, there is one code at most: by far the most frequent query.
  if (!query.includes(',') && !query.includes('%')) return 1
  return costOf(valueIn(query, 'to')?.split(',', MAX_CODES_READ) ?? [])
}

/** Returns the cost of a query for a conversion: that of its codes, or the maximum if it expands to the rates of all sources. */
export function costOfConversion(query: string): number {
  if (query.length > MAX_DECODED_LENGTH || valueIn(query, 'expand') !== undefined) return MAX_COST
  return costOfCodes(query)
}

function valueIn(query: string, name: 'to' | 'expand'): string | undefined {
  if (/[%+]/.test(query)) {
    // Without the `&`, a leading question mark would be dropped.
    return new URLSearchParams(`&${query}`).get(name) ?? undefined
  }
  return VALUES[name].exec(query)?.[1]
}

const VALUES = { to: /(?:^|&)to=([^&]*)/, expand: /(?:^|&)expand=([^&]*)/ }

/** Longer lists get a 400. */
const MAX_CODES_READ = 2_049

/** Returns the cost of conversions to `codes`: 1 for each distinct one, at least 1 and at most 10. */
export function costOf(codes: Iterable<string>): number {
  const distinct = new Set<string>()
  for (const code of codes) {
    const trimmed = code.trim()
    if (trimmed !== '') distinct.add(trimmed.toUpperCase())
    if (distinct.size === MAX_COST) break
  }
  return Math.max(1, distinct.size)
}
