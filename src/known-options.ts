const MAX_DISTANCE = 2

/** @throws {TypeError} that names the unknown option and the nearest known one */
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

/** @throws {TypeError} that names the option and the values */
export function assertOneOf(option: string, value: unknown, known: readonly string[]): void {
  if (known.some((each) => each === value)) return
  throw new TypeError(`${option} must be one of ${known.join(', ')}, got ${String(value)}`)
}

/** @throws {TypeError} that names the first value other than a function; undefined counts only if `required` */
export function requireFunctions(functions: Record<string, unknown>, required = false): void {
  for (const [name, value] of Object.entries(functions)) {
    if (typeof value === 'function' || (value === undefined && !required)) continue
    throw new TypeError(`${name} must be a function, got ${typeof value}`)
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

/** Returns whether at most `max` insertions, deletions, replacements or swaps of neighbours turn `from` into `to`. */
function isWithin(from: string, to: string, max: number): boolean {
  let same = 0
  while (same < from.length && from[same] === to[same]) same += 1
  const [left, right] = [from.slice(same), to.slice(same)]
  if (left === right) return true
  if (max === 0 || Math.abs(left.length - right.length) > max) return false
  const isSwapped = left[0] === right[1] && left[1] === right[0]
  return (
    isWithin(left.slice(1), right, max - 1) ||
    isWithin(left, right.slice(1), max - 1) ||
    isWithin(left.slice(1), right.slice(1), max - 1) ||
    (isSwapped && isWithin(left.slice(2), right.slice(2), max - 1))
  )
}

const MAX_SUGGESTIONS = 3

/** Longer texts are not typing mistakes, and the time of a comparison grows with the length. */
const MAX_COMPARED_LENGTH = 32

/** Returns the `candidates` nearest to `text`, ignoring case, at most `max` edits away. */
export function nearest(text: string, candidates: readonly string[], max: number): string[] {
  if (text.length > MAX_COMPARED_LENGTH) return []
  const upper = text.toUpperCase()
  for (let distance = 0; distance <= max; distance += 1) {
    const found = candidates.filter((each) => isWithin(upper, each.toUpperCase(), distance))
    if (found.length > 0) return found
  }
  return []
}

export function didYouMean(suggestions: readonly string[]): string {
  if (suggestions.length === 0) return ''
  return `. Did you mean ${toAlternatives(suggestions.slice(0, MAX_SUGGESTIONS))}?`
}

/** Returns `a, b or c`. */
export function toAlternatives(texts: readonly string[]): string {
  return texts.join(', ').replace(/, ([^,]*)$/, ' or $1')
}

/** Options shared by the stores. */
export interface StoreOptions {
  /** Prefix of every key, for a backend shared with other applications (default `''`). */
  prefix?: string | undefined
  /** Clock for expiry, in ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
}

export interface Expiry {
  prefix: string
  /** Returns the whole ms from now to `expiresAt` (ms since the Unix epoch), at least 1: backends reject less. */
  timeLeft(expiresAt: number): number
}

/** @throws {TypeError} naming the invalid option */
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
