import { nearest } from './nearest.ts'

const MAX_DISTANCE = 2

/**
 * Asserts that `options` is an object with only the keys of `known`. `path` is the option that contains them.
 *
 * @throws {TypeError} that names the unknown option and the nearest known one
 */
export function assertKnownOptions<Options extends object>(
  options: Options,
  known: Readonly<Record<keyof Options, unknown>>,
  path = '',
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(`${path || 'options'} must be an object, got ${String(options)}`)
  }
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name)) continue
    throw new TypeError(unknownOption(name, Object.keys(known), path && `${path}.`))
  }
}

function unknownOption(name: string, known: readonly string[], prefix: string): string {
  const suggested = suggestedOption(name, known)
  const unknown = `unknown option "${prefix}${name}"`
  if (suggested !== undefined) return `${unknown}; did you mean "${prefix}${suggested}"?`
  return `${unknown}; known options: ${known.map((each) => prefix + each).join(', ')}`
}

/** Returns the known option that contains `name` or is part of it (`host`, `hostname`), else the nearest one, if any. */
function suggestedOption(name: string, known: readonly string[]): string | undefined {
  const lower = name.toLowerCase()
  const similar = known.find(
    (each) => each.toLowerCase().includes(lower) || lower.includes(each.toLowerCase()),
  )
  const distance = Math.min(MAX_DISTANCE, Math.floor(name.length / 3))
  return similar ?? nearest(name, known, distance)[0]
}
