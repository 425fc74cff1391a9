/** How much of a text an error message shows. */
const MAX_SHOWN_CHARACTERS = 60

/** @throws {Error} where `actual` is not the very thing that `what` was expected to be, or to do with it what `verb` says */
export function expectSame(what: string, actual: unknown, expected: unknown, verb = 'to be'): void {
  if (actual === expected) return
  throw new Error(`expected ${what} ${verb} ${show(expected)}, got ${show(actual)}`)
}

/** @throws {Error} where `actual` is not the same JSON as `expected`; it shows both from shortly before they part */
export function expectSameJson(what: string, actual: unknown, expected: unknown): void {
  const [found, wanted] = [String(JSON.stringify(actual)), String(JSON.stringify(expected))]
  let partAt = 0
  while (partAt < wanted.length && found[partAt] === wanted[partAt]) partAt += 1
  const from = Math.max(0, partAt - MAX_SHOWN_CHARACTERS / 2)
  expectSame(from > 0 ? `${what}, from ${from} on,` : what, found.slice(from), wanted.slice(from))
}

/** `value` as an error message shows it. */
export function show(value: unknown): string {
  if (typeof value === 'string') {
    const cut = value.length > MAX_SHOWN_CHARACTERS ? `… (${value.length} characters)` : ''
    return JSON.stringify(value.slice(0, MAX_SHOWN_CHARACTERS)) + cut
  }
  const isPlain = typeof value !== 'object' && typeof value !== 'function'
  return isPlain || value === null ? String(value) : Object.prototype.toString.call(value)
}
