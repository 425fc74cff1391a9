import { setTimeout as sleep } from 'node:timers/promises'

import { request } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'

import { createLoopbackUpstream, createPublicationClock } from './load/loopback-upstream.ts'
import type { ClockSettings, PublicationClock, UpstreamCall } from './load/loopback-upstream.ts'
import { CLIENTS, startServer } from './load/servers.ts'
import type { StartedServer } from './load/servers.ts'
import { pick } from './pick.ts'
import { IS_SHORT, listen } from './processes.ts'
import { REDIS_IS_MISSING, startRedis } from './redis-server.ts'

const PROCESSES = 8
const REFRESHES = IS_SHORT ? 4 : 20

const REFRESHES_WITHOUT_REDIS = 3

/** Time for the processes to start, in ms; later the test begins with another period. */
const LEAD_MS = 3_000

const REQUEST_INTERVAL_MS = 15

/** Age of a period, in ms, at which every process has its table. */
const SETTLED_AFTER_MS = 800

/** Lifetime of a lease, in ms, and the longest delay until processes that were denied it retry. */
const LEASE_MS = 20_000
const MAX_RETRY_DELAY_MS = 24_000

// Needs an idle machine: eight processes must respond within every second of a common clock.
describe.skipIf(REDIS_IS_MISSING)('a fleet on one Redis (skipped without redis-server)', () => {
  it('makes one upstream call per refresh, and without Redis one per process', async () => {
    // A process without the lease reads again after 2 to 3 s: after the skip, that is the second half of the period.
    const fleet = await startFleet(PROCESSES, { period: 1_000, skip: 4_000 })
    const { clock, redis, calls, visits } = fleet
    const first = await startOfPeriod(clock)
    fleet.startVisits()
    await untilPeriod(clock, first + REFRESHES, SETTLED_AFTER_MS)
    await redis.kill()
    const end = first + 1 + REFRESHES + REFRESHES_WITHOUT_REDIS
    await untilPeriod(clock, end)
    await fleet.stopVisits()

    const shared = periodsFrom(first, 1 + REFRESHES)
    expect(countByPeriod(calls, shared)).toEqual(shared.map(() => 1))
    for (const count of countByPeriod(
      calls,
      periodsFrom(first + 1 + REFRESHES, REFRESHES_WITHOUT_REDIS),
    )) {
      expect(count).toBeGreaterThanOrEqual(1)
      expect(count).toBeLessThanOrEqual(PROCESSES)
    }
    expectGoodResponses(visits)
    for (const period of periodsFrom(first, end - first)) expectPublication(fleet, period)
  })

  it('repeats a refresh when the process with the lease is killed', async () => {
    const speed = 20
    let first = Infinity
    let victim: string | undefined
    const fleet = await startFleet(4, { period: 3_500, speed }, ({ by, period }) => {
      if (period <= first) return false
      victim ??= by
      return by === victim
    })
    const { clock, calls, servers, visits } = fleet
    first = await startOfPeriod(clock)
    fleet.startVisits()
    await expect.poll(() => victim, { interval: 5, timeout: 120_000 }).toBeDefined()
    await servers.get(victim ?? '')?.kill()
    await untilPeriod(clock, first + 2)
    await fleet.stopVisits()

    const [killed, successor, ...others] = calls.filter(({ period }) => period === first + 1)
    expect(others).toEqual([])
    expect(successor?.by).not.toBe(killed?.by)
    const gap = (Number(successor?.at) - Number(killed?.at)) * speed
    expect(gap).toBeGreaterThan(0.9 * LEASE_MS)
    expect(gap).toBeLessThan(LEASE_MS + MAX_RETRY_DELAY_MS)
    servers.delete(victim ?? '')
    expectGoodResponses(visits)
    expectPublication(fleet, first + 1)
  })
})

/** A response of the process `of` to a request for the whole table, and the period of the clock when it arrived. */
interface Visit {
  of: string
  period: number
  status: number
  text: string
}

async function startFleet(
  size: number,
  pace: Pick<ClockSettings, 'period' | 'speed' | 'skip'>,
  isParked?: (call: UpstreamCall) => boolean,
) {
  const settings = { origin: Date.now() + LEAD_MS, ...pace }
  const clock = createPublicationClock(settings)
  const redis = await startRedis()
  onTestFinished(() => redis.kill())
  const { calls, listener } = createLoopbackUpstream(clock, isParked)
  const { url } = await listen(listener)
  const start = async (_: unknown, index: number): Promise<[string, StartedServer]> => {
    const name = `p${index}`
    const server = await startServer({
      client: pick(CLIENTS, index),
      redis: redis.url,
      clock: settings,
      sleeps: true,
      upstream: `${url}/${name}`,
    })
    onTestFinished(server.kill)
    return [name, server]
  }
  const servers = new Map(await Promise.all(Array.from({ length: size }, start)))
  const visits: Visit[] = []
  const stopping = new AbortController()
  let visitors: Promise<void>[] = []
  return {
    clock,
    redis,
    servers,
    calls,
    visits,
    /** Sends requests to every process, one after another, until the process or the test ends. */
    startVisits(): void {
      visitors = [...servers].map(async ([of, server]) => {
        for (;;) {
          const response = await visit(server)
          if (!response || stopping.signal.aborted) return
          visits.push({ of, period: clock.period(), ...response })
          await sleep(REQUEST_INTERVAL_MS)
        }
      })
    },
    async stopVisits(): Promise<void> {
      stopping.abort()
      await Promise.all(visitors)
    },
  }
}

async function visit(server: StartedServer): Promise<Pick<Visit, 'status' | 'text'> | undefined> {
  try {
    const { statusCode, body } = await request(`${server.url}/api/v1/latest?base=EUR`)
    return { status: statusCode, text: await body.text() }
  } catch (error) {
    if (server.process.killed) return undefined
    throw error
  }
}

/** Returns the current period if it has not started yet; otherwise waits for the next one and returns it. */
async function startOfPeriod(clock: PublicationClock): Promise<number> {
  if (clock.sincePeriodStart() < 0) return clock.period()
  const next = clock.period() + 1
  await untilPeriod(clock, next)
  return next
}

async function untilPeriod(clock: PublicationClock, period: number, age = 0): Promise<void> {
  while (clock.period() < period || (clock.period() === period && clock.sincePeriodStart() < age))
    await sleep(1)
}

function periodsFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index)
}

function countByPeriod(calls: UpstreamCall[], periods: number[]): number[] {
  return periods.map((each) => calls.filter(({ period }) => period === each).length)
}

function expectGoodResponses(visits: Visit[]): void {
  const texts = new Map<number, string>()
  for (const { of, status, text } of visits) {
    expect(status, of).toBe(200)
    const { updatedAt }: { updatedAt: number } = JSON.parse(text)
    expect(text, of).toBe(texts.get(updatedAt) ?? text)
    texts.set(updatedAt, text)
  }
}

function expectPublication(
  { clock, servers, visits }: Awaited<ReturnType<typeof startFleet>>,
  period: number,
): void {
  for (const name of servers.keys()) {
    const last = visits.findLast((visit) => visit.of === name && visit.period === period)
    const { updatedAt }: { updatedAt: number } = JSON.parse(last?.text ?? '{}')
    const published = Math.floor(clock.periodStart(period) / 1_000) * 1_000
    expect(updatedAt, `${name} in period ${period}`).toBe(published)
  }
}
