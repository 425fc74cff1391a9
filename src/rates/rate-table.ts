import { quotient } from './rounding.ts'

/** Times of a publication, in ms since the Unix epoch. */
export interface Publication {
  /** Time of publication. */
  readonly updatedAt: number
  /** Announced time of the next publication. */
  readonly nextUpdateAt: number
}

/** Publication times by currency code. */
export type CodedPublications = Record<string, Publication>

/** A publication of rates. All bases are derived from it, so that all pairs are consistent. */
export interface RateTable extends Publication {
  /** Code against which `rates` are quoted. */
  readonly base: string
  /** The earlier of `updatedAt` and the time of acceptance, in ms since the Unix epoch; orders publications. */
  readonly publishedAt: number
  /** Units of each currency for one unit of `base`, in the provider's order; the base itself is 1. */
  readonly rates: ReadonlyMap<string, number>
  /** Published rates quarantined until a later publication confirms them; absent if empty. */
  readonly unconfirmed?: Readonly<Record<string, number>>
  /** Publication times of `rates` from earlier publications, by code; absent if empty. */
  readonly older?: Readonly<CodedPublications>
  /** Current or former codes of the provider without a usable rate; absent if empty. */
  readonly unavailable?: readonly string[]
}

/**
 * Returns the units of `to` for one unit of `from`: as published if `from` is the base of the table, 1 if both are the same,
 * otherwise derived to 10 significant digits.
 *
 * @throws {Error} if the table lacks one of them; callers must check first
 */
export function crossRate(table: RateTable, from: string, to: string): number {
  const fromRate = table.rates.get(from)
  const toRate = table.rates.get(to)
  if (fromRate === undefined || toRate === undefined) throw new Error(`no rate of ${from} or ${to}`)
  if (from === to) return 1
  return from === table.base ? toRate : quotient(toRate, fromRate)
}
