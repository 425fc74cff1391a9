import { setTimeout as sleep } from 'node:timers/promises'

import { Redis } from 'ioredis'
import { request } from 'undici'
import { describe, expect, it } from 'vitest'
import type { TestContext } from 'vitest'

import { createLoadRecord, startLoad } from './load/load.ts'
import { createPublicationClock } from './load/loopback-upstream.ts'
import type { PublicationClock } from './load/loopback-upstream.ts'
import { redisFaults, startSwappingProxy } from './load/redis-faults.ts'
import type { RedisHandle } from './load/redis-faults.ts'
import { CLIENTS, startServer } from './load/servers.ts'
import type { ClientName, ServerReport, ServerSettings, StartedServer } from './load/servers.ts'
import { IS_SHORT } from './processes.ts'
import { REDIS_IS_MISSING, startRedis } from './redis-server.ts'

const RATE = 1_000

const ANSWERED = 0.5

const PERIOD_MS = 1_500

/** Duration of faults, in ms: at least a period, and longer for a Redis that hangs. */
const SHORT = 2_000
const LONG = IS_SHORT ? 8_000 : 30_000

/** Time limit of recovery, in ms: the store is skipped for 5 s, and then used at the next refresh. */
const RECOVERY = 120_000

/** Shortest rest of a period, in ms, in which to request its table. */
const TIME_TO_ASK = 700

// Needs an idle machine: each server must respond twice within a period of the common clock.
describe.skipIf(REDIS_IS_MISSING)('a Redis fault (skipped without redis-server)', () => {
  it.concurrent.for(CLIENTS)('is invisible to clients with %s', async (client, context) => {
    const { redis, settings, clock } = await startScenario(client, context)
    const server = await startedServer(settings, context)
    const record = await startedLoad(server, context)
    for (const fault of redisFaults({ short: SHORT, long: LONG })) {
      const { name, lasts } = fault
      const calm = record.latencies(Date.now() - SHORT, SHORT).count
      const before = await server.report()
      const newcomer = await startedServer(settings, context)
      const begunAt = Date.now()
      await fault.begin(redis)
      const response = await firstResponseOf(newcomer)
      expect(response.status, `${name}: a cold server's response`).toBe(200)
      expect(response.calls, `${name}: a cold server's calls`).toBeLessThanOrEqual(1)
      await newcomer.kill()
      await sleep(lasts)
      const { count } = record.latencies(begunAt, lasts)
      expect(count, `${name}: responses`).toBeGreaterThan((ANSWERED * calm * lasts) / SHORT)
      const during = await server.report()
      await fault.end(redis)
      expect(failuresOf(during), `${name}: felt`).toBeGreaterThan(failuresOf(before))
      const cold = await startedServer(settings, context)
      await untilStoredInPeriod(redis, clock, context)
      expect(await firstResponseOf(cold), `${name}: over`).toEqual({ status: 200, calls: 0 })
      await cold.kill()
    }
    expect(record.wrong).toEqual([])
    expectFewCalls(await server.report(), clock)
  })

  it.for(CLIENTS)(
    'with swapped replies causes no wrong response with %s',
    async (client, context) => {
      const { redis, settings, clock } = await startScenario(client, context)
      const writer = await startedServer(settings, context)
      await startedLoad(writer, context)
      await untilStoredInPeriod(redis, clock, context)
      const proxy = await startSwappingProxy(redis.server)
      context.onTestFinished(proxy.close)
      const server = await startedServer({ ...settings, redis: proxy.url }, context)
      const { wrong } = await startedLoad(server, context)
      // Both data sets at the cold start, and the table each time it was due.
      const refused = async (): Promise<number> => (await server.report()).refused
      await expect.poll(refused, { timeout: 60_000, interval: 200 }).toBeGreaterThanOrEqual(3)
      expect(wrong).toEqual([])
      expectFewCalls(await server.report(), clock)
    },
  )
})

async function startScenario(client: ClientName, { onTestFinished }: TestContext) {
  const redis = { server: await startRedis() }
  onTestFinished(() => redis.server.kill())
  const clock = { origin: Date.now(), period: PERIOD_MS }
  const settings = { client, redis: redis.server.url, clock }
  return { redis, settings, clock: createPublicationClock(clock) }
}

async function startedServer(settings: ServerSettings, { onTestFinished }: TestContext) {
  const server = await startServer(settings)
  onTestFinished(server.kill)
  return server
}

async function startedLoad({ url }: StartedServer, { expect, onTestFinished }: TestContext) {
  const record = createLoadRecord()
  const load = startLoad({ urls: [url], rate: RATE }, record.add)
  onTestFinished(load.kill)
  await expect.poll(() => record.responseCount(), { timeout: 120_000 }).toBeGreaterThan(RATE)
  return record
}

/** Expects one call per period for the table, and one for history, which is never due again. */
function expectFewCalls({ calls, unhandled }: ServerReport, clock: PublicationClock): void {
  expect(unhandled).toEqual([])
  expect(calls.latest).toBeGreaterThan(0)
  expect(calls.latest).toBeLessThanOrEqual(clock.period() + 1)
  expect(calls.history).toBe(1)
}

function failuresOf({ storeFailures: { get, set, claim } }: ServerReport): number {
  return get + set + claim
}

/** Resolves when the store has this period's table, with enough time left to request it. */
async function untilStoredInPeriod(
  { server }: RedisHandle,
  clock: PublicationClock,
  { expect, onTestFinished }: TestContext,
): Promise<void> {
  const client = new Redis(server.url)
  onTestFinished(() => client.disconnect())
  const isStored = async (): Promise<boolean> => {
    const text = await client.get('rates:v1:latest')
    const { savedAt }: { savedAt: number } = JSON.parse(text ?? '{"savedAt":0}')
    return savedAt >= clock.periodStart() && clock.sincePeriodStart() < PERIOD_MS - TIME_TO_ASK
  }
  await expect.poll(isStored, { interval: 20, timeout: RECOVERY }).toBe(true)
  client.disconnect()
}

async function firstResponseOf(server: StartedServer) {
  const { statusCode: status, body } = await request(`${server.url}/api/v1/latest?base=EUR`)
  await body.dump()
  const { calls } = await server.report()
  return { status, calls: calls.latest + calls.history }
}
