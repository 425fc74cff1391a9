import type { Slices } from './slices.ts'

/** Up to 1 MiB (more than five years of a market) is parsed without a pause; longer text pauses after each slice of a few ms. */
const CHARACTERS_AT_ONCE = 1_024 * 1_024
const CHARACTERS_PER_SLICE = 256 * 1_024

/** Format of JSON that is long because of one array or object, whose items are objects. */
export interface LongJson {
  /** Text before the items, including their opening bracket. */
  opening: string
  /** Text that closes that bracket and all outer ones. */
  closing: string
  /** Returns the array or object with the items of a document. */
  itemsOf(document: unknown): unknown
  /** Returns `document` with its items replaced by those of all `parts`, in order. */
  withItems(document: unknown, parts: readonly unknown[]): unknown
}

/**
 * Parses `text` in slices, with the same result as `JSON.parse`. Text in another format is parsed without pauses.
 *
 * @throws {SyntaxError} if it is not JSON
 */
export function* parseLongJson(text: string, form: LongJson): Slices<unknown> {
  const at = text.length > CHARACTERS_AT_ONCE ? text.indexOf(form.opening) : -1
  if (at === -1) return JSON.parse(text)
  try {
    return yield* parseParts(text, at + form.opening.length, form)
  } catch {
    // Throws the error of the whole text.
    return JSON.parse(text)
  }
}

/**
 * The items begin at `start`. A part may end anywhere: if it parses between the brackets, it has only whole items, because
 * an incomplete item or string does not parse.
 */
function* parseParts(text: string, start: number, form: LongJson): Slices<unknown> {
  const { opening, closing } = form
  const [bracket, closer] = [opening.slice(-1), closing.slice(0, 1)]
  const head = text.slice(0, start)
  const empty = form.itemsOf(JSON.parse(`${head}${closing}`))
  if (JSON.stringify(empty) !== `${bracket}${closer}`) throw new Error('unexpected format')
  const parts: unknown[] = []
  let at = start
  for (;;) {
    const end = text.indexOf('},', at + CHARACTERS_PER_SLICE)
    if (end === -1) break
    parts.push(JSON.parse(`${bracket}${text.slice(at, end + 1)}${closer}`))
    at = end + 2
    yield
  }
  const document: unknown = JSON.parse(`${head}${text.slice(at)}`)
  yield
  return form.withItems(document, [...parts, form.itemsOf(document)])
}
