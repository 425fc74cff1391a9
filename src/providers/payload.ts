import * as z from 'zod/mini'

const MAX_PATHS = 5

/** Rates as they came: each is checked behind the provider, where a few bad ones are tolerated. */
export const ratesInOrder: z.ZodMiniType<Record<string, number>> =
  z.custom<Record<string, number>>(isObject)

/** Whether there is anything to look into; a list is an object too. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Where an answer differs from what its schema knows. */
export function pathsOf({ issues }: z.core.$ZodError): string[] {
  return issues.map(({ path }) => path.join('.') || 'all of it')
}

/** Says that `host` answered with what is not known, and where. */
export function unexpectedShape(host: string, paths: readonly string[]): Error {
  return new Error(`${host} answered in another form: ${paths.slice(0, MAX_PATHS).join(', ')}`)
}
