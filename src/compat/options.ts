import type { RatesEvent } from '../events.ts'

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

const OPTIONS = ['basePath', 'cors', 'now', 'onEvent']

/**
 * Returns `options`, whose keys must be among those of every route and `more`.
 *
 * @throws {TypeError} naming the option that cannot be used
 */
export function requireOptions<Options extends CompatOptions>(
  options: Options,
  more: readonly string[] = [],
): Options {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`options must be an object, got ${String(options)}`)
  }
  const known = [...OPTIONS, ...more]
  const unknown = Object.keys(options).find((key) => !known.includes(key))
  if (unknown !== undefined) {
    throw new TypeError(`unknown option "${unknown}"; there are ${known.join(', ')}`)
  }
  const { basePath = '', cors = true, now, onEvent } = options
  if (!isBasePath(basePath)) {
    const form = "'' or an absolute path without a trailing slash"
    throw new TypeError(`basePath must be ${form}, got ${String(basePath)}`)
  }
  if (typeof cors !== 'boolean') {
    throw new TypeError(`cors must be true or false, got ${String(cors)}`)
  }
  for (const [name, value] of Object.entries({ now, onEvent })) {
    if (value === undefined || typeof value === 'function') continue
    throw new TypeError(`${name} must be a function`)
  }
  return options
}

function isBasePath(text: unknown): boolean {
  if (text === '') return true
  if (typeof text !== 'string' || !/^(\/[^/]+)+$/.test(text)) return false
  const url = `http://localhost${text}`
  return URL.canParse(url) && new URL(url).pathname === text
}
