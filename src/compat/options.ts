import type { RatesEvent } from '../events.ts'
import { assertBasePath } from '../http/target.ts'
import { assertKnownOptions } from '../known-options.ts'

/** Options of every compatibility route. */
export interface CompatOptions {
  /** Path in front of the service's own paths: absolute, without a trailing slash (default none). */
  basePath?: string | undefined
  /** Whether scripts of any origin may read the responses (default true, as at the services). */
  cors?: boolean | undefined
  /** The clock of the handler, in ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
  /** Receives `overloaded` and `internal_error` events of the route; exceptions are ignored (default none). */
  onEvent?: ((event: RatesEvent) => void) | undefined
}

const KNOWN: Readonly<Record<keyof CompatOptions, true>> = {
  basePath: true,
  cors: true,
  now: true,
  onEvent: true,
}

/**
 * Returns `options`, whose names must be among those of every route and `more`.
 *
 * @throws {TypeError} naming the option that cannot be used
 */
export function requireOptions<Options extends CompatOptions>(
  options: Options,
  more: Readonly<Record<string, true>> = {},
): Options {
  assertKnownOptions<object>(options, { ...KNOWN, ...more })
  const { basePath = '', cors = true, now, onEvent } = options
  assertBasePath(basePath)
  if (typeof cors !== 'boolean') {
    throw new TypeError(`cors must be true or false, got ${String(cors)}`)
  }
  for (const [name, value] of Object.entries({ now, onEvent })) {
    if (value === undefined || typeof value === 'function') continue
    throw new TypeError(`${name} must be a function`)
  }
  return options
}
