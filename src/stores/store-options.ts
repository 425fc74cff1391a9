import { assertKnownOptions } from '../known-options.ts'

/** Options that stores have in common. */
export interface StoreOptions {
  /** Goes before every key, for a backend that others use too (default `''`). */
  prefix?: string | undefined
  /** The clock that the life of an entry is measured by, ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
}

/** What a store makes of its options. */
export interface Expiry {
  prefix: string
  /** Whole ms from now to `expiresAt` (ms since the Unix epoch), at least 1: no backend takes less. */
  timeLeft(expiresAt: number): number
}

/**
 * Fills in what was left out.
 *
 * @throws {TypeError} naming the option that cannot be used
 */
export function resolveStoreOptions(options: StoreOptions): Expiry {
  const { prefix = '', now = Date.now } = options
  assertKnownOptions(options, { prefix, now })
  if (typeof prefix !== 'string') throw new TypeError('prefix must be a string')
  if (typeof now !== 'function') throw new TypeError('now must be a function')
  return {
    prefix,
    timeLeft: (expiresAt) => Math.max(1, Math.ceil(expiresAt - now())),
  }
}
