import { quotient } from './rounding.ts'

/** Times of a publication, in ms since the Unix epoch. */
export interface Publication {
  /** When the provider published. */
  readonly updatedAt: number
  /** When the provider promised the next one. */
  readonly nextUpdateAt: number
}

/** Publications by the codes of currencies whose rates are from them. */
export type CodedPublications = Record<string, Publication>

/** One publication of rates; every base is derived from it, so that all pairs agree with each other. */
export interface RateTable extends Publication {
  /** Code against which `rates` are quoted. */
  readonly base: string
  /** The earlier of `updatedAt` and the time of acceptance, in ms since the Unix epoch: the order of publications. */
  readonly publishedAt: number
  /** Units of each currency for one unit of `base`, in the provider's order; the base itself is 1. */
  readonly rates: ReadonlyMap<string, number>
  /** Rates that were published but are held back until a later publication confirms them; absent without any. */
  readonly unconfirmed?: Readonly<Record<string, number>>
  /** The publications of `rates` that are from an earlier one, by code; absent without any. */
  readonly older?: Readonly<CodedPublications>
  /** Codes that the provider carries, or carried, and that have no usable rate; absent without any. */
  readonly unavailable?: readonly string[]
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
