// Counts requests of one client in shared counters, and reports the times of those admitted: one process of a fleet.
import { setTimeout as sleep } from 'node:timers/promises'

import { Redis } from 'ioredis'

import { createRedisCounters } from '../../src/access/redis.ts'
import { systemRuntime } from '../../src/async.ts'
import { reportToParent, settingsFromParent } from './child.ts'

/** Settings of one process. Times are in ms. */
export interface CountersSettings {
  /** URL of Redis. */
  target: string
  quota: number
  window: number
  /** Time between two requests of this process. */
  interval: number
  startAt: number
  duration: number
}

/** What a process did. */
export interface CountersReport {
  requested: number
  /** Store calls. */
  calls: number
  failed: number
  /** When each request was admitted, in ms by the clock of the machine: not before the first, not after the second time. */
  admitted: [from: number, to: number][]
}

const settings: CountersSettings = JSON.parse(settingsFromParent())
const { target, quota, window, interval, startAt, duration } = settings
const runtime = systemRuntime(Date.now)
const limits = [{ name: 'burst', quota, window }]
const report: CountersReport = { requested: 0, calls: 0, failed: 0, admitted: [] }

const counters = (await open()).open({ runtime, emit: () => undefined })
reportToParent('ready')
await sleep(Math.max(0, startAt - Date.now()))
const pending: Promise<void>[] = []
for (let next = startAt; next < startAt + duration; next += interval) {
  const wait = next - Date.now()
  if (wait > 1) await sleep(wait)
  pending.push(request())
}
await Promise.all(pending)
reportToParent(report)
process.exit()

async function request(): Promise<void> {
  report.requested += 1
  const from = clock()
  try {
    const { granted } = await counters.take('key:a', limits, 1)
    if (granted) report.admitted.push([from, clock()])
  } catch {
    report.failed += 1
  }
}

/** The clock of the machine, which all processes share, with parts of a ms. */
function clock(): number {
  return performance.timeOrigin + performance.now()
}

async function open() {
  const redis = new Redis(target)
  await redis.ping()
  return createRedisCounters({
    async call(command, ...args) {
      report.calls += 1
      return redis.call(command, ...args)
    },
  })
}
