/** A test case of a contract. */
export interface ContractCase {
  /** Name for the test. */
  name: string
  /** Runs the case; rejects with an error that states what was expected. */
  run(): Promise<void>
}

const MAX_SHOWN_CHARACTERS = 60

/** @throws {Error} unless `isMet`; the message is `expected <expectation>, got <actual>` */
export function expectThat(expectation: string, isMet: boolean, actual: unknown): void {
  if (!isMet) throw new Error(`expected ${expectation}, got ${show(actual)}`)
}

/** @throws {Error} unless `actual` is identical to `expected`; `what` names the actual value */
export function expectSame(what: string, actual: unknown, expected: unknown, verb = 'to be'): void {
  expectThat(`${what} ${verb} ${show(expected)}`, actual === expected, actual)
}

/** @throws {Error} unless both have the same JSON; the message shows the first difference with some text before it */
export function expectSameJson(what: string, actual: unknown, expected: unknown): void {
  const [found, wanted] = [String(JSON.stringify(actual)), String(JSON.stringify(expected))]
  let same = 0
  while (same < wanted.length && found[same] === wanted[same]) same += 1
  const from = Math.max(0, same - MAX_SHOWN_CHARACTERS / 2)
  const place = from > 0 ? `${what} from character ${from} on` : what
  expectSame(place, found.slice(from), wanted.slice(from))
}

/** Formats `value` for an error message, cut at 60 characters. */
export function show(value: unknown): string {
  if (typeof value === 'string') {
    const cut = value.length > MAX_SHOWN_CHARACTERS ? `… (${value.length} characters)` : ''
    return JSON.stringify(value.slice(0, MAX_SHOWN_CHARACTERS)) + cut
  }
  const isPlain = typeof value !== 'object' && typeof value !== 'function'
  return isPlain || value === null ? String(value) : Object.prototype.toString.call(value)
}
