import type { RequestListener } from 'node:http'

import { frankfurterPayload, openErApiPayload } from '../../fixtures/upstream-payloads.ts'

/** The initial time of every clock, in ms since the Unix epoch: a Friday evening, after both publications. */
export const START: number = Date.UTC(2026, 10, 20, 18)

/** Skipped time per period, in ms: a refresh is due at most a quarter of an hour after an announced publication. */
const IDLE_MS = 16 * 60_000

/** Settings of a clock that several processes share. */
export interface ClockSettings {
  /** Start of the first period, in ms since the Unix epoch. The time before belongs to it too. */
  origin: number
  /** Speed relative to real time (default 1). */
  speed?: number
  /** Length of a period in real ms. At the start of each, all loaded data are due. */
  period: number
  /** Additional ms to skip in the middle of each period, so that backoff and retries are over by then (default 0). */
  skip?: number
}

/** A clock that skips the idle time between refreshes. */
export type PublicationClock = ReturnType<typeof createPublicationClock>

/** Creates a clock that shows the same time in every process of one machine. */
export function createPublicationClock(settings: ClockSettings) {
  const { origin, speed = 1, period: length, skip = 0 } = settings
  const period = (): number => Math.max(0, Math.floor((Date.now() - origin) / length))
  /** Start of a period in the clock's time, in ms since the Unix epoch. */
  const periodStart = (number = period()): number =>
    START + number * (length * speed + IDLE_MS + skip)
  /** In real ms. */
  const sincePeriodStart = (): number => Date.now() - origin - period() * length
  const now = (): number =>
    periodStart() + sincePeriodStart() * speed + (sincePeriodStart() >= length / 2 ? skip : 0)
  return { now, monotonic: () => now() - START, period, periodStart, sincePeriodStart }
}

/** A call for the latest table. */
export interface UpstreamCall {
  /** The first part of the path, which identifies the caller. */
  by: string
  period: number
  /** In real ms since the Unix epoch. */
  at: number
}

/** Both upstreams at once: the latest table is published once per period. Calls that `isParked` matches get no response. */
export function createLoopbackUpstream(
  clock: PublicationClock,
  isParked: (call: UpstreamCall) => boolean = () => false,
) {
  const table: { rates: Record<string, number> } = JSON.parse(openErApiPayload({ now: START }))
  const calls: UpstreamCall[] = []

  function latestPayload(): string {
    const published = Math.floor(clock.periodStart() / 1_000)
    // Small enough to pass every check, large enough for a response to differ from the previous period.
    const moved = 1 + (clock.period() % 500) * 1e-6
    const rates = Object.entries(table.rates).map(([code, rate]) => [
      code,
      code === 'USD' ? 1 : rate * moved,
    ])
    const times = { time_last_update_unix: published, time_next_update_unix: published + 1 }
    return JSON.stringify({ ...table, ...times, rates: Object.fromEntries(rates) })
  }

  const listener: RequestListener = ({ url = '' }, response) => {
    response.setHeader('content-type', 'application/json')
    const [, start, end] = /\/v1\/(.*)\.\.(.*)$/.exec(url) ?? []
    if (start !== undefined && end !== undefined) {
      response.end(frankfurterPayload({ start, end, now: clock.now() }))
      return
    }
    const [, by = ''] = /^\/(\w+)\/v6\/latest\/USD$/.exec(url) ?? []
    const call = { by, period: clock.period(), at: Date.now() }
    calls.push(call)
    if (!isParked(call)) response.end(latestPayload())
  }
  return { calls, listener }
}
