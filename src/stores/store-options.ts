import { assertKnownOptions } from '../known-options.ts'

/** Options shared by the stores. */
export interface StoreOptions {
  /** Prefix of every key, for a backend shared with other applications (default `''`). */
  prefix?: string | undefined
  /** Clock for expiry, in ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
}

/** Resolved options of a store. */
export interface Expiry {
  prefix: string
  /** Returns the whole ms from now to `expiresAt` (ms since the Unix epoch), at least 1: backends reject less. */
  timeLeft(expiresAt: number): number
}

/**
 * Applies defaults to `options`.
 *
 * @throws {TypeError} naming the invalid option
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
