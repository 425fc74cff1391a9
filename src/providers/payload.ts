import * as z from 'zod/mini'

const MAX_DETAILS = 5

/** Unchecked rates: they are validated later, when a few invalid ones are tolerated. */
export const ratesInOrder: z.ZodMiniType<Record<string, number>> =
  z.custom<Record<string, number>>(isObject)

/** Whether `value` is an object or an array. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

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
