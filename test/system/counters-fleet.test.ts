import { describe, expect, it, onTestFinished } from 'vitest'

import { excessOf } from '../access/fleet.ts'
import { startChild } from './child.ts'
import type { CountersReport, CountersSettings } from './counters-program.ts'
import { REDIS_IS_MISSING, startRedis } from './redis-server.ts'

const PROCESSES = 8

/** Time for the processes to start, in ms. */
const LEAD_MS = 5_000

// A window of 2 s: a lot lives for 100 ms.
const QUOTA = 2_000
const WINDOW_MS = 2_000
const DURATION_MS = 12_000

/** Requests per second of the fleet: more than the limit, so that it is used up. */
const RATE = 2_000

/** The share of the permitted requests that must be admitted. */
const USABLE = 0.9

interface Fleet {
  requested: number
  calls: number
  failed: number
  admitted: CountersReport['admitted']
}

/** Runs a fleet to its end. */
async function runFleet(target: string): Promise<Fleet> {
  const settings: CountersSettings = {
    target,
    quota: QUOTA,
    window: WINDOW_MS,
    interval: (1_000 * PROCESSES) / RATE,
    startAt: Date.now() + LEAD_MS,
    duration: DURATION_MS,
  }
  const reports = await Promise.all(
    Array.from({ length: PROCESSES }, () => {
      return new Promise<CountersReport>((resolve, reject) => {
        const child = startChild({
          program: 'test/system/counters-program.ts',
          settings,
          onLine: (line) => {
            if (line !== '"ready"') resolve(JSON.parse(line))
          },
        })
        child.firstLine.catch(reject)
        onTestFinished(child.kill)
      })
    }),
  )
  const sum = (numberOf: (report: CountersReport) => number): number =>
    reports.reduce((total, report) => total + numberOf(report), 0)
  return {
    requested: sum(({ requested }) => requested),
    calls: sum(({ calls }) => calls),
    failed: sum(({ failed }) => failed),
    admitted: reports.flatMap(({ admitted }) => admitted),
  }
}

/**
 * Expects that no interval has more requests than the limit permits. A request was admitted at some time between its start
 * and its end, so that two requests may be closer together than they were counted by the longest of these times.
 */
function expectWithinLimit({ admitted }: Fleet): void {
  const ordered = admitted.map(([, to]) => ({ at: to, cost: 1 })).sort((a, b) => a.at - b.at)
  const longest = Math.max(...admitted.map(([from, to]) => to - from))
  const slack = (longest * QUOTA) / WINDOW_MS
  expect(ordered.length).toBeGreaterThan(QUOTA)
  expect(excessOf(ordered, QUOTA, WINDOW_MS)).toBeLessThanOrEqual(slack)
}

/** Expects that the fleet had nearly all that the limit permits: the quota at the start, and its refill. */
function expectUsable({ admitted, requested }: Fleet): void {
  const refilled = (QUOTA * DURATION_MS) / WINDOW_MS
  const permitted = Math.min(requested, QUOTA + refilled)
  expect(admitted.length).toBeGreaterThanOrEqual(USABLE * permitted)
}

describe('8 processes with one limit', () => {
  it.skipIf(REDIS_IS_MISSING)(
    'stay within it and use it up in Redis, with few calls (skipped without redis-server)',
    async () => {
      const { url, kill } = await startRedis()
      onTestFinished(kill)
      const fleet = await runFleet(url)
      expectWithinLimit(fleet)
      expectUsable(fleet)
      expect(fleet.failed).toBeLessThanOrEqual(0.1 * fleet.requested)
      expect(fleet.calls).toBeGreaterThan(0)
      expect(fleet.calls).toBeLessThanOrEqual(0.1 * fleet.requested)
    },
  )
})
