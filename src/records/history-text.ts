import type { PairSeries } from '../rates/pair-series.ts'
import { LONGEST_NUMBER, writeNumber } from '../rates/number-text.ts'
import type { PairHistory } from './history.ts'

const BEFORE_DAY = toBytes('{"d":"')
const BEFORE_RATE = toBytes('","r":')
const BEHIND_RATE = toBytes('},')

/** The most bytes that a point takes; a day has ten. */
const LONGEST_POINT =
  BEFORE_DAY.length + 10 + BEFORE_RATE.length + LONGEST_NUMBER + BEHIND_RATE.length

/** The history record of `history` as JSON in UTF-8: what `JSON.stringify` would make of it, without its objects. */
export function historyText({
  series,
  stats,
  source,
  ...head
}: PairHistory): Uint8Array<ArrayBuffer> {
  const before = toBytes(`${JSON.stringify(head).slice(0, -1)},"points":[`)
  const behind = toBytes(`],${JSON.stringify({ stats, source }).slice(1)}`)
  const bytes = new Uint8Array(before.length + series.days.length * LONGEST_POINT + behind.length)
  bytes.set(before)
  const end = writePoints(bytes, before.length, series)
  bytes.set(behind, end)
  return bytes.slice(0, end + behind.length)
}

/** Writes the points, with commas between them; returns the index behind them. */
function writePoints(bytes: Uint8Array, at: number, { days, rates }: PairSeries): number {
  let end = at
  for (let index = 0; index < days.length; index += 1) {
    end = write(bytes, end, BEFORE_DAY)
    end = writeDay(bytes, end, days[index] ?? '')
    end = write(bytes, end, BEFORE_RATE)
    end = writeNumber(bytes, end, rates[index] ?? NaN)
    end = write(bytes, end, BEHIND_RATE)
  }
  return end === at ? at : end - 1
}

// A loop, because for so few bytes `set` takes longer.
function write(bytes: Uint8Array, at: number, part: Uint8Array): number {
  for (let index = 0; index < part.length; index += 1) bytes[at + index] = part[index] ?? 0
  return at + part.length
}

function writeDay(bytes: Uint8Array, at: number, day: string): number {
  for (let index = 0; index < day.length; index += 1) bytes[at + index] = day.charCodeAt(index)
  return at + day.length
}

function toBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
