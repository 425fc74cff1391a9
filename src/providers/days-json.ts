import type { HistoryDay } from './provider.ts'
import { MOST_CHARACTERS } from './reference-days.ts'

/** What stands in a line where a day has no rate of a currency. */
export const NO_RATE = 'N/A'

/** Of `YYYY-MM-DD`. */
export const DATE_LENGTH = 10

/** Writes days as JSON, for the engine's own parser to make objects of. */
export interface DaysJson {
  /** Writes the day `date`, whose rates stand behind the comma at `at`, and returns where they end; -1 where one is odd. */
  put(date: string, at: number): number
  /** The days that were written and have rates. */
  parse(): HistoryDay[]
}

/** What JSON has around the rates of a day, and around one rate, in characters. */
const DAY_FRAME = '{"date":"YYYY-MM-DD","rates":{}},'.length
const RATE_FRAME = '"USD":'.length

const [COMMA, DOT, SLASH, ZERO, NINE, A, N, BRACE] = [44, 46, 47, 48, 57, 65, 78, 125]

/**
 * Writes days out of lines of `text`, which is ASCII, with a rate for each of `codes` in every line.
 *
 * By bytes, as there are two million: texts that are cut and put together take several times as long.
 */
export function createDaysJson(text: string, codes: readonly string[]): DaysJson {
  const source = new TextEncoder().encode(text)
  if (source.length !== text.length) throw new Error('it is not all ASCII')
  const keys = new TextEncoder().encode(codes.map((code) => `"${code}":`).join(''))
  // Whatever the text is made of, no more days are written than there is room for in it.
  const mostDays = 1 + Math.floor(text.length / (DATE_LENGTH + 2 * codes.length))
  const frames = Math.min(countLines(text), mostDays) * (DAY_FRAME + codes.length * RATE_FRAME)
  const json: Ascii = { bytes: new Uint8Array(text.length + frames), length: 0 }
  return {
    put(date, at) {
      const start = json.length
      append(json, `{"date":"${date}","rates":{`)
      const first = json.length
      const end = appendRates(json, keys, source, at)
      // A day without rates is none; in the others the last comma gives way.
      if (json.length === first) json.length = start
      else json.bytes[json.length - 1] = BRACE
      if (json.length > start) append(json, '},')
      return end
    },
    parse() {
      const days = json.bytes.subarray(0, Math.max(0, json.length - 1))
      const parsed: HistoryDay[] = JSON.parse(`[${new TextDecoder().decode(days)}]`)
      return parsed
    },
  }
}

function countLines(text: string): number {
  let count = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1
  return count
}

/** A text in the making. */
interface Ascii {
  bytes: Uint8Array
  length: number
}

function append(json: Ascii, text: string): void {
  const { bytes, length } = json
  for (let index = 0; index < text.length; index += 1) {
    bytes[length + index] = text.charCodeAt(index)
  }
  json.length += text.length
}

/** Appends the rates behind the comma at `at`, each with a comma, and returns where they end; -1 where one is odd. */
function appendRates(json: Ascii, keys: Uint8Array, source: Uint8Array, at: number): number {
  const { bytes } = json
  // Counted here, as this is the loop over the two million.
  let { length } = json
  for (let key = 0; key < keys.length; key += RATE_FRAME) {
    if (source[at] !== COMMA) return -1
    const start = at + 1
    at = endOfRate(source, start)
    if (at === -1) return -1
    if (source[start] === N) continue
    for (let index = key; index < key + RATE_FRAME; index += 1) bytes[length++] = keys[index] ?? 0
    for (let index = start; index < at; index += 1) bytes[length++] = source[index] ?? 0
    bytes[length++] = COMMA
  }
  json.length = length
  return at
}

/** Where the rate at `start` ends, which may be missing; -1 where it is odd. */
function endOfRate(source: Uint8Array, start: number): number {
  if (source[start] === N) {
    return source[start + 1] === SLASH && source[start + 2] === A ? start + NO_RATE.length : -1
  }
  let at = start
  let point = -1
  for (; ; at += 1) {
    const byte = source[at] ?? 0
    if (byte === DOT && point === -1) point = at
    else if (byte < ZERO || byte > NINE) break
  }
  const whole = (point === -1 ? at : point) - start
  const isPlain = whole === 1 || (whole > 1 && source[start] !== ZERO)
  return isPlain && point !== at - 1 && at - start <= MOST_CHARACTERS ? at : -1
}
