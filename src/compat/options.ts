import type { RatesEvent } from '../events.ts'
import { assertBasePath } from '../http/router.ts'
import { assertKnownOptions } from '../known-options.ts'

/** Options of every compatibility route. */
export interface CompatOptions {
  /** Prefix of the service's paths: absolute, without a trailing slash (default none). */
  basePath?: string | undefined
  /** Whether every origin may read the responses (default true, like the services). */
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
 * Validates `options`, which may have the options of every route and those of `more`, and returns them.
 *
 * @throws {TypeError} naming the invalid option
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
