import type { Day } from '../rates/day.ts'
import { LONGEST_NUMBER, writeNumber } from '../rates/number-text.ts'
import type { PairSeries } from '../rates/pair-series.ts'
import type { PairHistory } from './history.ts'
import type { PairRange } from './history-range.ts'

const encoder = new TextEncoder()

const CLOSING_BRACE = 0x7d

/** What stands before a rate, `,{"d":"2026-11-20","r":`, and the room that it is given, a multiple of four. */
const PREFIX_LENGTH = 23
const PREFIX_ROOM = 24

/** The most bytes that a point takes. */
const LONGEST_POINT = PREFIX_LENGTH + LONGEST_NUMBER + 1

/** Makes the record of its argument as JSON in UTF-8, without making its objects. */
export type HistoryWriter = (history: PairHistory | PairRange) => Uint8Array<ArrayBuffer>

/** A writer, which keeps the room that it has once needed, and what it writes for every pair of a market as long as that. */
export function createHistoryWriter(): HistoryWriter {
  let room = new Uint8Array()
  const prefixesOf = new WeakMap<readonly Day[], DataView>()

  return ({ series, stats, source, ...head }) => {
    const { dates, rates } = series
    const before = encoder.encode(`${JSON.stringify(head).slice(0, -1)},"points":[`)
    const behind = encoder.encode(`],${JSON.stringify({ stats, source }).slice(1)}`)
    const most = before.length + rates.length * LONGEST_POINT + behind.length
    if (room.length < most) room = new Uint8Array(most)
    let prefixes = prefixesOf.get(dates)
    if (!prefixes) prefixesOf.set(dates, (prefixes = writePrefixes(dates)))
    // Its first comma is written over.
    const end = writePoints(new DataView(room.buffer), before.length - 1, series, prefixes)
    room.set(before)
    room.set(behind, end)
    return room.slice(0, end + behind.length)
  }
}

/** The prefixes of all days. */
function writePrefixes(dates: readonly Day[]): DataView {
  const bytes = new Uint8Array(dates.length * PREFIX_ROOM)
  for (const [row, date] of dates.entries()) {
    bytes.set(encoder.encode(`,{"d":"${date}","r":`), row * PREFIX_ROOM)
  }
  return new DataView(bytes.buffer)
}

/** Writes the points, each behind a comma; returns the index behind them. */
function writePoints(
  view: DataView,
  at: number,
  { rows, rates }: PairSeries,
  prefixes: DataView,
): number {
  let end = at
  for (let index = 0; index < rates.length; index += 1) {
    const from = (rows[index] ?? 0) * PREFIX_ROOM
    // Four bytes at a time, which is several times faster than one by one, and than `set` for so few.
    for (let offset = 0; offset < PREFIX_ROOM; offset += 4) {
      view.setInt32(end + offset, prefixes.getInt32(from + offset))
    }
    end = writeNumber(view, end + PREFIX_LENGTH, rates[index] ?? NaN)
    view.setUint8(end, CLOSING_BRACE)
    end += 1
  }
  return end
}
