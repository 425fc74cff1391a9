import type { RequestListener } from 'node:http'

import { frankfurterPayload, openErApiPayload } from '../../test/fixtures/upstream-payloads.ts'
import { START } from './publication-clock.ts'
import type { PublicationClock } from './publication-clock.ts'

/** A call for the latest table. */
export interface UpstreamCall {
  /** The first part of the path, which identifies the caller. */
  by: string
  /** The publication period of the clock. */
  period: number
  /** In real ms since the Unix epoch. */
  at: number
}

/** Both upstreams at once. The latest table is published once per period of a clock. */
export interface LoopbackUpstream {
  listener: RequestListener
  /** Every call for the latest table. */
  calls: UpstreamCall[]
}

/** Creates upstreams that follow `clock`. Calls that `isParked` matches get no response. */
export function createLoopbackUpstream(
  clock: PublicationClock,
  isParked: (call: UpstreamCall) => boolean = () => false,
): LoopbackUpstream {
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

  return {
    calls,
    listener(request, response) {
      response.setHeader('content-type', 'application/json')
      const url = request.url ?? ''
      const [, first, last] = /\/v1\/(.*)\.\.(.*)$/.exec(url) ?? []
      if (first !== undefined && last !== undefined) {
        response.end(frankfurterPayload({ start: first, end: last, now: clock.now() }))
        return
      }
      const [, by = ''] = /^\/(\w+)\/v6\/latest\/USD$/.exec(url) ?? []
      const call = { by, period: clock.period(), at: Date.now() }
      calls.push(call)
      if (!isParked(call)) response.end(latestPayload())
    },
  }
}
