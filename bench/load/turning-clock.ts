/** What every clock shows at first, in ms since the Unix epoch: a Friday evening, after both publications. */
export const START: number = Date.UTC(2026, 10, 20, 18)

/** No refresh is due later than a quarter of an hour after the last one, where the upstream promises news at once. In ms. */
const SKIPPED = 16 * 60_000

/** How a clock for several processes runs. */
export interface ClockSettings {
  /** From here turns are counted, in ms since the Unix epoch; until then it is the first one, however long. */
  origin: number
  /** How many times as fast as the machine's own it runs (default 1). */
  speed?: number
  /** How long a turn lasts, in real ms. With each new one everything that was loaded before is due. */
  turn: number
  /** How many ms more are skipped in the middle of each turn, for pauses that are to be over by then (default 0). */
  nap?: number
}

/** A clock that skips the idle time between refreshes. */
export interface TurningClock {
  /** Ms since the Unix epoch. */
  now(): number
  /** Ms since `START`, skipped ones included. */
  monotonic(): number
  /** How many turns have begun after the first. */
  turn(): number
  /** What the clock shows when a turn (default the present one) begins, in ms since the Unix epoch. */
  turnedAt(turn?: number): number
  /** How far the turn is, in real ms. */
  sinceTurn(): number
}

/** A clock that shows the same in every process of one machine. */
export function createTurningClock(settings: ClockSettings): TurningClock {
  const { origin, speed = 1, turn: length, nap = 0 } = settings

  function turnedAt(number = turn()): number {
    return START + number * (length * speed + SKIPPED + nap)
  }

  function turn(): number {
    return Math.max(0, Math.floor((Date.now() - origin) / length))
  }

  function sinceTurn(): number {
    return Date.now() - origin - turn() * length
  }

  function now(): number {
    return turnedAt() + sinceTurn() * speed + (sinceTurn() >= length / 2 ? nap : 0)
  }

  return { now, monotonic: () => now() - START, turn, turnedAt, sinceTurn }
}
