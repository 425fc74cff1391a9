/**
 * Returns the rates of the codes that `isWanted`. Other values than numbers become NaN: they are dropped as invalid rates,
 * and no message quotes them.
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
