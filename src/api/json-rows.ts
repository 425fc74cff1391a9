import { invalidParameter } from '../errors.ts'
import { MAX_ROWS, requireRows, tooManyRows } from './convert-many.ts'

/** Levels of brackets; valid rows have three. */
const MAX_DEPTH = 64

/** Values of one row; valid ones have at most 250 targets. */
const MAX_VALUES = 1_000

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c

/**
 * Returns the rows of a JSON body. Bodies that only take time and memory to parse are refused before that.
 *
 * @throws {RatesError} `invalid_parameter`
 */
export function parseJsonRows(body: Uint8Array, text: string): readonly unknown[] {
  requireFewValues(body)
  return requireRows(parse(text))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The message of the runtime would quote the body.
    throw invalidParameter('body', 'must be JSON')
  }
}

function requireFewValues(body: Uint8Array): void {
  let [depth, rows, values] = [0, 1, 1]
  let isText = false
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] ?? 0
    if (isText) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) isText = false
    } else if (byte === QUOTE) {
      isText = true
    } else if (byte === COMMA) {
      if (depth < 2) [rows, values] = [rows + 1, 1]
      else values += 1
      if (rows > MAX_ROWS) throw tooManyRows()
      if (values > MAX_VALUES) {
        throw invalidParameter('body', `must have at most ${MAX_VALUES} values in a row`)
      }
    } else if (isOpening(byte)) {
      depth += 1
      if (depth > MAX_DEPTH) {
        throw invalidParameter('body', `must have at most ${MAX_DEPTH} levels of brackets`)
      }
    } else if (isClosing(byte)) {
      depth -= 1
    }
  }
}

/** `[` or `{` */
function isOpening(byte: number): boolean {
  return byte === 0x5b || byte === 0x7b
}

/** `]` or `}` */
function isClosing(byte: number): boolean {
  return byte === 0x5d || byte === 0x7d
}
