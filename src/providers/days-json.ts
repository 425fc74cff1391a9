import type { HistoryDay } from './provider.ts'
import { MAX_CHARACTERS } from './reference-days.ts'

/** The cell of a currency without a rate on a day. */
export const NO_RATE = 'N/A'

/** Length of `YYYY-MM-DD`. */
export const DATE_LENGTH = 10

/** A writer of days as JSON, which `JSON.parse` turns into objects. */
export interface DaysJson {
  /** Writes the day `date`, whose rates follow the comma at `at`; returns where they end, or -1 if a rate is invalid. */
  put(date: string, at: number): number
  /** Returns whether there is enough JSON for a call of `parse`. */
  isFull(): boolean
  /** Parses what was written since the last call; returns all days with rates so far. */
  parse(): HistoryDay[]
}

const decoder = new TextDecoder()

/** Bytes of JSON that are parsed at once: little memory and few calls. */
const PART = 256 * 1024

const DAY_FRAME = '{"date":"YYYY-MM-DD","rates":{}},'.length
const RATE_FRAME = '"USD":'.length

const LIST_OPENING = 1

const [COMMA, DOT, SLASH, ZERO, NINE, A, N, BRACKET, BRACE] = [44, 46, 47, 48, 57, 65, 78, 93, 125]

/**
 * Creates a writer of the days in `text`, which is ASCII and has a rate for each of `codes` in every line.
 *
 * Copies bytes, because there are two million: cutting and joining strings takes several times as long.
 */
export function createDaysJson(text: string, codes: readonly string[]): DaysJson {
  const source = new TextEncoder().encode(text)
  if (source.length !== text.length) throw new Error('the file must be ASCII')
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
      // Drops a day without rates; otherwise replaces the last comma.
      if (json.length === first) json.length = start
      else json.bytes[json.length - 1] = BRACE
      if (json.length > start) append(json, '},')
      return end
    },
    isFull: () => json.length > PART,
    parse() {
      if (json.length === LIST_OPENING) return days
      // Replaces the last comma.
      json.bytes[json.length - 1] = BRACKET
      const parsed: HistoryDay[] = JSON.parse(decoder.decode(json.bytes.subarray(0, json.length)))
      for (const day of parsed) days.push(day)
      json.length = LIST_OPENING
      return days
    },
  }
}

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

/** Appends the rates that follow the comma at `at`; returns where they end, or -1 if one is invalid. */
function appendRates(json: Ascii, keys: Uint8Array, source: Uint8Array, at: number): number {
  const { bytes } = json
  // One loop with a local length, because it runs over two million bytes.
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

function isPlain(first: number | undefined, start: number, point: number, end: number): boolean {
  const whole = (point === -1 ? end : point) - start
  const hasNoZeros = whole === 1 || (whole > 1 && first !== ZERO)
  return hasNoZeros && point !== end - 1 && end - start <= MAX_CHARACTERS
}
