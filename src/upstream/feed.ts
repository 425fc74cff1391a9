import { isObject } from '../rates/validate.ts'
import * as z from 'zod/mini'

const MAX_DETAILS = 5

/** Unchecked rates: they are validated later, when a few invalid ones are tolerated. */
export const ratesInOrder: z.ZodMiniType<Record<string, number>> =
  z.custom<Record<string, number>>(isObject)

/** Returns the paths at which a body differs from its schema. */
export function pathsOf({ issues }: z.core.$ZodError): string[] {
  return issues.map(({ path }) => path.join('.') || 'whole body')
}

/** Creates an error for a body of `host` in an unexpected format; `details` are paths or reasons. */
export function unexpectedShape(host: string, details: readonly string[]): Error {
  return new Error(
    `${host} returned an unexpected format: ${details.slice(0, MAX_DETAILS).join(', ')}`,
  )
}

/** Creates an error for rates of `host` against another base than `expected`. */
export function unexpectedBase(host: string, expected: string): Error {
  return new Error(`${host} returned rates of another base; expected ${expected}`)
}

/**
 * Returns `url` without trailing slashes. Errors never quote a query, a fragment, a user name or a password.
 *
 * @throws {TypeError} if it is not an absolute http or https URL, or has a query, a fragment, a user name or a password
 *   (`fetch` rejects URLs with credentials)
 */
export function requireRootUrl(url: string): string {
  const isRoot = /^https?:\/\/[^?#]+$/.test(url) && URL.canParse(url)
  if (!isRoot) {
    // Anything else than a host and a path may be a password or a token.
    const value = /[@?#]/.test(url) ? '' : `, got ${url}`
    throw new TypeError(`url must be an absolute http(s) URL without a query${value}`)
  }
  const { username, password } = new URL(url)
  if (username !== '' || password !== '') {
    throw new TypeError('url must not contain a user name or password')
  }
  return url.replace(/\/+$/, '')
}

/**
 * Returns the rates of the codes that `isWanted`. Other values than numbers become NaN: they are dropped as invalid rates,
 * and no message quotes them.
 */
export function ratesByCode(
  entries: readonly (readonly [code: string, rate: unknown])[],
  isWanted: (code: string) => boolean,
): Record<string, number> {
  return Object.fromEntries(
    entries
      .filter(([code]) => isWanted(code))
      .map(([code, rate]) => [code, typeof rate === 'number' ? rate : NaN]),
  )
}
