import type { View } from './dom.ts'

/** The chart compares at most this many further currencies. */
export const MAX_COMPARED = 3

/** Returns the codes to compare with `to`, at most three. */
export function comparedIn({ from, to, compare }: View): string[] {
  const codes = new Set(compare.split(',').filter(Boolean))
  return [...codes].filter((code) => code !== from && code !== to).slice(0, MAX_COMPARED)
}
