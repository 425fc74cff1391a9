import { LONGEST_NUMBER, writeNumber } from '../rates/number-text.ts'
import type { PairSeries } from '../rates/pair-series.ts'
import type { PairHistory } from './history.ts'

const encoder = new TextEncoder()

/** What stands before every rate; the day is written over. */
const BEFORE_RATE = encoder.encode(',{"d":"YYYY-MM-DD","r":')
const DAY_AT = BEFORE_RATE.indexOf(0x59)

const CLOSING_BRACE = 0x7d

/** The most bytes that a point takes. */
const LONGEST_POINT = BEFORE_RATE.length + LONGEST_NUMBER + 1

/** A function that makes the history record of its argument as JSON in UTF-8, without making its objects. */
export type HistoryWriter = (history: PairHistory) => Uint8Array<ArrayBuffer>

/** A writer, which keeps the room that it has once needed. */
export function createHistoryWriter(): HistoryWriter {
  let room = new Uint8Array()

  return ({ series, stats, source, ...head }) => {
    const before = encoder.encode(`${JSON.stringify(head).slice(0, -1)},"points":[`)
    const behind = encoder.encode(`],${JSON.stringify({ stats, source }).slice(1)}`)
    const most = before.length + series.days.length * LONGEST_POINT + behind.length
    if (room.length < most) room = new Uint8Array(most)
    // The comma before the first point is written over.
    const end = writePoints(room, before.length - 1, series)
    room.set(before)
    room.set(behind, end)
    return room.slice(0, end + behind.length)
  }
}

/** Writes the points, each behind a comma; returns the index behind them. */
function writePoints(bytes: Uint8Array, at: number, { days, rates }: PairSeries): number {
  let end = at
  for (let index = 0; index < days.length; index += 1) {
    // Loops, because for so few bytes `set` takes longer.
    for (let each = 0; each < BEFORE_RATE.length; each += 1)
      bytes[end + each] = BEFORE_RATE[each] ?? 0
    writeDay(bytes, end + DAY_AT, days[index] ?? '')
    end = writeNumber(bytes, end + BEFORE_RATE.length, rates[index] ?? NaN)
    bytes[end] = CLOSING_BRACE
    end += 1
  }
  return end
}

function writeDay(bytes: Uint8Array, at: number, day: string): void {
  for (let index = 0; index < day.length; index += 1) bytes[at + index] = day.charCodeAt(index)
}
