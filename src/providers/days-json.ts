import type { HistoryDay } from './provider.ts'
import { MAX_CHARACTERS } from './reference-days.ts'

/** What stands in a line where a day has no rate of a currency. */
export const NO_RATE = 'N/A'

/** Of `YYYY-MM-DD`. */
export const DATE_LENGTH = 10

/** Writes days as JSON, for the engine's own parser to make objects of. */
export interface DaysJson {
  /** Writes the day `date`, whose rates stand behind the comma at `at`, and returns where they end; -1 where one is odd. */
  put(date: string, at: number): number
  /** Whether there is enough to parse. */
  isFull(): boolean
  /** Returns the days that were written and have rates, after parsing those that have not been. */
  parse(): HistoryDay[]
}

const decoder = new TextDecoder()

/** How many bytes of JSON are written before they are parsed: little memory, and few calls. */
const PART = 256 * 1024

/** What JSON has around the rates of a day, and around one rate, in characters. */
const DAY_FRAME = '{"date":"YYYY-MM-DD","rates":{}},'.length
const RATE_FRAME = '"USD":'.length

/** What a list of days begins with. */
const LIST_OPENING = 1

const [COMMA, DOT, SLASH, ZERO, NINE, A, N, BRACKET, BRACE] = [44, 46, 47, 48, 57, 65, 78, 93, 125]

/**
 * Writes days out of lines of `text`, which is ASCII, with a rate for each of `codes` in every line.
 *
 * By bytes, as there are two million: texts that are cut and put together take several times as long.
 */
export function createDaysJson(text: string, codes: readonly string[]): DaysJson {
  const source = new TextEncoder().encode(text)
  if (source.length !== text.length) throw new Error('it is not all ASCII')
  const keys = new TextEncoder().encode(codes.map((code) => `"${code}":`).join(''))
  const longest = DAY_FRAME + codes.length * (RATE_FRAME + MAX_CHARACTERS)
  const json: Ascii = { bytes: new Uint8Array(PART + longest), length: 0 }
  append(json, '[')
  const days: HistoryDay[] = []

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
    isFull: () => json.length > PART,
    parse() {
      if (json.length === LIST_OPENING) return days
      // The last comma gives way.
      json.bytes[json.length - 1] = BRACKET
      const parsed: HistoryDay[] = JSON.parse(decoder.decode(json.bytes.subarray(0, json.length)))
      for (const day of parsed) days.push(day)
      json.length = LIST_OPENING
      return days
    },
  }
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
  // All in one loop and with its own count, as it goes over the two million.
  let { length } = json
  for (let key = 0; key < keys.length; key += RATE_FRAME) {
    if (source[at] !== COMMA) return -1
    const start = at + 1
    at = start
    if (source[at] === N) {
      if (source[at + 1] !== SLASH || source[at + 2] !== A) return -1
      at += NO_RATE.length
      continue
    }
    for (let index = 0; index < RATE_FRAME; index += 1) bytes[length++] = keys[key + index] ?? 0
    let point = -1
    for (; ; at += 1) {
      const byte = source[at] ?? 0
      if (byte === DOT && point === -1) point = at
      else if (byte < ZERO || byte > NINE) break
      bytes[length++] = byte
    }
    if (!isPlain(source[start], start, point, at)) return -1
    bytes[length++] = COMMA
  }
  json.length = length
  return at
}

/** Whether the digits from `start` to `end` that begin with `first`, with a point or -1, are a rate as JSON has numbers. */
function isPlain(first: number | undefined, start: number, point: number, end: number): boolean {
  const whole = (point === -1 ? end : point) - start
  const hasNoZeros = whole === 1 || (whole > 1 && first !== ZERO)
  return hasNoZeros && point !== end - 1 && end - start <= MAX_CHARACTERS
}
