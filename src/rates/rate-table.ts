import { quotient } from './rounding.ts'

/** One publication of rates; every base is derived from it, so that all pairs agree with each other. */
export interface RateTable {
  /** Code against which `rates` are quoted. */
  readonly base: string
  /** When the provider published, in ms since the Unix epoch. */
  readonly updatedAt: number
  /** When the provider will publish next, in ms since the Unix epoch. */
  readonly nextUpdateAt: number
  /** Units of each currency for one unit of `base`, in the provider's order; the base itself is 1. */
  readonly rates: ReadonlyMap<string, number>
  /** Rates that were published but are held back until a later publication confirms them; absent without any. */
  readonly unconfirmed?: Readonly<Record<string, number>>
}

/**
 * Units of `to` for one unit of `from`: as published where `from` is the table's base, 1 where both are the same, else
 * derived to 10 significant digits.
 *
 * @throws {Error} where the table lacks one of them, which is for the caller to see to
 */
export function crossRate(table: RateTable, from: string, to: string): number {
  const fromRate = table.rates.get(from)
  const toRate = table.rates.get(to)
  if (fromRate === undefined || toRate === undefined) throw new Error(`no ${from} or no ${to}`)
  if (from === to) return 1
  return from === table.base ? toRate : quotient(toRate, fromRate)
}
