import { setTimeout as sleep } from 'node:timers/promises'

import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'

import { COUNT_SCRIPT, argumentsOf, parseReply } from '../../src/access/count-script.ts'
import { createAccess } from '../../src/access/index.ts'
import type { AccessOptions } from '../../src/access/index.ts'
import { createRedisCounters } from '../../src/access/redis.ts'
import type { RedisClient } from '../../src/access/redis.ts'
import { count } from '../../src/access/shared-count.ts'
import type { SharedRequest } from '../../src/access/shared-count.ts'
import { systemRuntime } from '../../src/async.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { RatesEvent } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { randomFrom } from '../access/fleet.ts'
import { REDIS_IS_MISSING, startRedis } from './redis-server.ts'
import type { RedisServer } from './redis-server.ts'

const MINUTE = 60_000
const runtime = systemRuntime(Date.now)

describe.skipIf(REDIS_IS_MISSING)('counters in Redis (skipped without redis-server)', () => {
  let server: RedisServer

  beforeAll(async () => {
    server = await startRedis()
    return () => server.kill()
  })

  const connect = (options = {}): Redis => {
    const redis = new Redis(server.url, options)
    redis.on('error', () => undefined)
    onTestFinished(() => redis.disconnect())
    return redis
  }

  it('count as in TypeScript, in 200 random sequences', async () => {
    const redis = connect()
    // Real time passes here, too: states must not expire.
    const script = COUNT_SCRIPT.replace(
      "'PX', string.format('%.0f', ceil(keepFor / 1000))",
      "'KEEPTTL'",
    )
    expect(script).toContain("used}),\n  'KEEPTTL')")
    for (let seed = 1; seed <= 200; seed += 1) {
      let text: string | undefined
      const key = `agreement:${seed}`
      for (const [step, { request, now, replaced }] of sequence(seed).entries()) {
        if (replaced !== undefined) await redis.set(key, replaced)
        const expected = count(replaced ?? text, request, now)
        const reply = await redis.eval(script, 1, key, ...argumentsOf(request), String(now))
        expect(parseReply(reply), `seed ${seed}, step ${step}`).toEqual(expected.reply)
        expect(await redis.get(key), `seed ${seed}, step ${step}`).toBe(expected.text)
        text = expected.text
      }
    }
  })

  it('fail as in TypeScript when clocks are months apart', async () => {
    const redis = connect()
    const [{ request }] = sequence(2)
    for (const now of [Date.UTC(2026, 8, 30) * 1_000, Date.UTC(2027, 1, 2) * 1_000]) {
      const args = [...argumentsOf(request), String(now)]
      await expect(redis.eval(COUNT_SCRIPT, 1, 'apart', ...args)).rejects.toThrow('months apart')
      expect(() => count(undefined, request, now)).toThrow('months apart')
    }
  })

  const CLIENTS: Record<string, () => Promise<RedisClient>> = {
    ioredis: async () => connect(),
    async 'node-redis'() {
      const client = await createClient({ url: server.url }).connect()
      onTestFinished(() => client.destroy())
      return client
    },
    async 'send(), as Bun'() {
      const redis = connect()
      return { send: async (command, args) => redis.call(command, ...args) }
    },
  }

  it.each(Object.entries(CLIENTS))('are shared by two processes with %s', async (name, make) => {
    await connect().script('FLUSH')
    const prefix = `two:${name}:`
    const first = openCounters(await make(), prefix)
    const second = openCounters(await make(), prefix)
    const limits = [{ name: 'burst', quota: 3, window: 60 * MINUTE }]
    for (const counters of [first, second, first]) {
      expect(await counters.take('key:a', limits, 1)).toMatchObject({ granted: true })
    }
    for (const counters of [first, second]) {
      const refused = await counters.take('key:a', limits, 1)
      expect(refused).toMatchObject({ granted: false, states: [{ remaining: 0 }] })
      expect(refused.states[0]?.wait).toBeGreaterThan(19 * MINUTE)
      expect(refused.states[0]?.wait).toBeLessThanOrEqual(20 * MINUTE)
    }
    const keys = await connect().keys(`${prefix}*`)
    expect(keys).toEqual([`${prefix}limits:v1:key:a`])
    expect(await connect().pttl(keys[0] ?? '')).toBeGreaterThan(59 * MINUTE)
  })

  it.each([
    ['a list', async (redis: Redis, key: string) => void (await redis.lpush(key, 'x'))],
    ['nonsense', async (redis: Redis, key: string) => void (await redis.set(key, 'x'.repeat(99)))],
    ['bytes', async (redis: Redis, key: string) => void (await redis.set(key, '\0 1 2 3 4 5 6'))],
  ])('replace %s in the key', async (name, write) => {
    const redis = connect()
    const prefix = `replaced:${name}:`
    await write(redis, `${prefix}limits:v1:key:a`)
    const counters = openCounters(redis, prefix)
    const limits = [{ name: 'burst', quota: 2, window: 60 * MINUTE }]
    expect(await counters.take('key:a', limits, 2)).toMatchObject({ granted: true })
    expect(await counters.take('key:a', limits, 1)).toMatchObject({ granted: false })
    expect(await redis.get(`${prefix}limits:v1:key:a`)).toMatch(/^\d+( \d+){6}$/)
  })

  function openCounters(client: RedisClient, prefix: string) {
    return createRedisCounters(client, { prefix }).open({ runtime, emit: () => undefined })
  }
})

interface Step {
  request: SharedRequest
  now: number
  /** A state to begin this step with. */
  replaced?: string
}

/** Returns random calls, on a clock that only the test moves. */
function sequence(seed: number): [Step, ...Step[]] {
  const random = randomFrom(seed)
  const pick = (...values: number[]): number => values[Math.floor(random() * values.length)] ?? 0
  const quota = pick(0, 1, 7, 60, 600, 999_983, 1_000_000_000)
  const window = quota === 0 ? 0 : pick(1_000_000, 7_000_000, 60_000_000, 86_400_000_000)
  const life = quota === 0 ? 1_000_000 : Math.min(1_000_000, window / 20)
  const monthQuota = quota === 0 ? 50 : pick(0, 10, 1_000)
  let now = (Date.UTC(2026, 10, 30, 23, 59, 58) + Math.floor(random() * 2_000)) * 1_000
  const step = (): Step => {
    now += Math.floor(random() * pick(0, 10, life, 3 * life, window))
    const need = pick(0, 1, 1, 3, 10)
    const request: SharedRequest = {
      quota,
      window,
      life,
      monthQuota,
      months: [
        Date.UTC(2026, 9) * 1_000,
        Date.UTC(2026, 10) * 1_000,
        Date.UTC(2026, 11) * 1_000,
        Date.UTC(2027, 0) * 1_000,
      ],
      need,
      immediate: need + pick(0, 0, 5, 500),
      ahead: need === 0 ? 0 : pick(0, 1, 20, 500),
      unused: pick(0, 0, 1, 20),
      unusedAt: now - Math.floor(random() * 3 * life) + pick(0, 0, 0, 50),
      refund: pick(0, 0, 1, 12),
      refundAt: now - Math.floor(random() * 3 * life) + pick(0, 0, 0, 50),
    }
    const digits = (): number => Math.floor(random() * 10 ** pick(1, 3, 15, 16))
    const replaced = [
      Array.from({ length: 7 }, digits).join(' '),
      [now + life, now, Math.floor(now / (2 * life)) - 1, 5, 5, request.months[2], 3].join(' '),
      'nonsense',
      '1 2 3 4 5 6 12345678901234567',
    ][Math.floor(random() * 60)]
    return { request, now, ...(replaced !== undefined && { replaced }) }
  }
  return [step(), ...Array.from({ length: 40 }, step)]
}

describe.skipIf(REDIS_IS_MISSING)('a handler whose Redis fails (skipped without it)', () => {
  it.each([
    ['local', 200],
    ['allow', 200],
    ['refuse', 503],
  ] as const)('responds according to %j with %j, and recovers', async (policy, status) => {
    const server = await startRedis()
    onTestFinished(server.kill)
    const service = await startService(server.url, { whenCountersFail: policy })
    expect((await service.get()).status).toBe(200)
    expect((await service.get()).limited).toBe(true)

    server.pause()
    const during = await service.load(40)
    expectStatuses(during, status)
    expect(during.at(-1)?.limited).toBe(policy === 'local')
    expect(service.failures().length).toBeGreaterThan(0)
    expect(JSON.stringify(service.events)).not.toContain('203.0.113.9')
    server.resume()
    await untilShared(service)

    await server.kill()
    expectStatuses(await service.load(40), status)
    const next = await startRedis(server.port)
    onTestFinished(next.kill)
    await untilShared(service)
    expect(service.events.filter(({ type }) => type === 'internal_error')).toEqual([])
  })
})

/** Expects 200 from permits in hand, and `status` after them. */
function expectStatuses(responses: readonly { status: number }[], status: number): void {
  expect([200, status]).toEqual(expect.arrayContaining(responses.map((each) => each.status)))
  expect(responses.at(-1)?.status).toBe(status)
}

type Service = Awaited<ReturnType<typeof startService>>

/** Starts a handler that counts one client in Redis. */
async function startService(url: string, options: Pick<AccessOptions, 'whenCountersFail'>) {
  const redis = new Redis(url, { retryStrategy: () => 50 })
  redis.on('error', () => undefined)
  onTestFinished(() => redis.disconnect())
  const events: RatesEvent[] = []
  const handler = createRatesHandler({
    providers: fakeProviders(),
    onEvent: (event) => events.push(event),
    access: createAccess({
      ...options,
      anonymous: 'public',
      plans: { public: { burst: '600/min' } },
      client: () => '203.0.113.9',
      counters: createRedisCounters(redis),
    }),
  })
  const get = async () => {
    // Responses that are not public have the header fields of limits.
    const response = await handler(
      new Request('http://localhost/api/v1/convert?from=EUR&to=USD&amount=x'),
    )
    const limited = response.headers.has('RateLimit')
    return { status: toStatus(response.status), limited }
  }
  const service = {
    redis,
    events,
    get,
    failures: () => events.filter(({ type }) => type === 'counters_failed'),
    async load(requests: number) {
      const responses = []
      for (let count = 0; count < requests; count += 1) {
        responses.push(await get())
        // Permits in hand end.
        if (count < 10) await sleep(30)
      }
      return responses
    },
  }
  return service
}

/** The 400 of an invalid amount is a request that was served. */
function toStatus(status: number): number {
  return status === 400 ? 200 : status
}

/** Resolves when requests are counted in Redis. */
async function untilShared({ get, redis }: Service): Promise<void> {
  const key = 'limits:v1:address:203.0.113.9'
  const isShared = async (): Promise<boolean> => {
    await redis.del(key).catch(() => 0)
    const { status } = await get()
    return status === 200 && (await redis.exists(key).catch(() => 0)) === 1
  }
  await expect.poll(isShared, { interval: 200, timeout: 60_000 }).toBe(true)
}
