import type { Day } from './dates.ts'
import { OFFICIAL_PEGS } from './pegs.ts'

/** Feeds do not update all currencies at the same time. */
const TOLERANCE = 1.02

const pegs = /* @__PURE__ */ new Map(
  /* @__PURE__ */ OFFICIAL_PEGS.map((peg) => [peg.currency, peg]),
)

/** Returns whether a rate is off the official peg of its currency on `day`; false without a peg or a rate of the anchor. */
export function isOffPeg(code: string, day: Day, rateOf: (code: string) => unknown): boolean {
  const { anchor = '', ratio = NaN, band, since = '9999', until } = pegs.get(code) ?? {}
  if (day < since || (until && day > until)) return false
  const units = Number(rateOf(code)) / Number(rateOf(anchor))
  const [low, high] = band ?? [Number(ratio), Number(ratio)]
  return units < low / TOLERANCE || units > high * TOLERANCE
}

/** Returns how many pegs lie between a currency and one without: 0 without a peg. */
export function pegDepth(code: string): number {
  const peg = pegs.get(code)
  return peg ? 1 + pegDepth(peg.anchor) : 0
}
