/**
 * The rates of those codes that `isWanted`. What is no number becomes NaN, so that it is dropped as bad rates are, and
 * nothing of it is told.
 */
export function ratesByCode(
  entries: readonly (readonly [code: string, rate: unknown])[],
  isWanted: (code: string) => boolean,
): Record<string, number> {
  return Object.fromEntries(
    entries
      .filter(([code]) => isWanted(code))
      .map(([code, rate]) => [code, typeof rate === 'number' ? rate : NaN]),
  )
}
