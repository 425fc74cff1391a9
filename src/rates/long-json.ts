import type { Slices } from './slices.ts'

/** Five years of a market are parsed at once; of a longer text, this many characters before each pause, in a few ms. */
const CHARACTERS_AT_ONCE = 1_024 * 1_024
const CHARACTERS_PER_SLICE = 256 * 1_024

/** JSON that is long because of one list or object, whose items are objects. */
export interface LongJson {
  /** What precedes the items, up to their bracket. */
  opening: string
  /** What closes that bracket and all before it. */
  closing: string
  /** Returns the list or object of a document. */
  itemsOf(document: unknown): unknown
  /** Returns `document` with the items of all `parts`, one after another, in place of its own. */
  withItems(document: unknown, parts: readonly unknown[]): unknown
}

/**
 * Parses `text` to what `JSON.parse` makes of it, with pauses. A text of another form is parsed at once.
 *
 * @throws {SyntaxError} where it is not JSON
 */
export function* parseLongJson(text: string, form: LongJson): Slices<unknown> {
  const at = text.length > CHARACTERS_AT_ONCE ? text.indexOf(form.opening) : -1
  if (at === -1) return JSON.parse(text)
  try {
    return yield* parseParts(text, at + form.opening.length, form)
  } catch {
    // Which has the right error to throw.
    return JSON.parse(text)
  }
}

/**
 * The items begin at `start`. No matter how a part ends, what parses between the brackets is a number of whole items: with
 * part of one, or with the end of a string, it does not parse.
 */
function* parseParts(text: string, start: number, form: LongJson): Slices<unknown> {
  const { opening, closing } = form
  const [bracket, closer] = [opening.slice(-1), closing.slice(0, 1)]
  const head = text.slice(0, start)
  const empty = form.itemsOf(JSON.parse(`${head}${closing}`))
  if (JSON.stringify(empty) !== `${bracket}${closer}`) throw new Error('the items are elsewhere')
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
