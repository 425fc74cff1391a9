import { setTimeout as sleep } from 'node:timers/promises'

import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'

import { COUNT_SCRIPT, argumentsOf, parseReply } from '../../src/access/count-script.ts'
import { createAccess } from '../../src/access/index.ts'
import { createRedisCounters } from '../../src/access/redis.ts'
import type { RedisClient } from '../../src/access/redis.ts'
import { count, termsOf } from '../../src/access/count.ts'
import type { Change, State, Terms } from '../../src/access/count.ts'
import { systemRuntime } from '../../src/async.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { RatesEvent } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { burst, month, wholeNumbersFrom } from '../access/fleet.ts'
import { REDIS_IS_MISSING, startRedis } from './redis-server.ts'
import type { RedisServer } from './redis-server.ts'

const MINUTE = 60_000
const runtime = systemRuntime(Date.now)

function connectTo(url: string, retryAfter = 1_000): Redis {
  const redis = new Redis(url, { retryStrategy: () => retryAfter })
  redis.on('error', () => undefined)
  onTestFinished(() => redis.disconnect())
  return redis
}

type OpenCounters = ReturnType<typeof openCounters>

function openCounters(client: RedisClient, prefix?: string) {
  return createRedisCounters(client, { prefix }).open({ runtime, emit: () => undefined })
}

describe.skipIf(REDIS_IS_MISSING)('counters in Redis (skipped without redis-server)', () => {
  let server: RedisServer

  beforeAll(async () => {
    server = await startRedis()
    return () => server.kill()
  })

  const connect = (): Redis => connectTo(server.url)

  it('count as in TypeScript, in 100 random sequences', async () => {
    const redis = connect()
    // Real time passes here, too: states must not expire.
    const script = COUNT_SCRIPT.replace("'PX', string.format('%.0f', keepFor)", "'KEEPTTL'")
    expect(script).toContain("since}), 'KEEPTTL')")
    for (let seed = 1; seed <= 100; seed += 1) {
      let state: State | undefined
      const key = `agreement:${seed}`
      for (const [step, { terms, change, now, replaced }] of sequence(seed).entries()) {
        const where = `seed ${seed}, step ${step}`
        if (replaced !== undefined) {
          await redis.set(key, replaced)
          state = parseState(replaced)
        }
        const expected = count(state, terms, change, now)
        const args = [...argumentsOf(terms, change), String(now)]
        const reply = await redis.eval(script, 1, key, ...args)
        expect(parseReply(reply, terms), where).toEqual(expected)
        if (change.cost === 0 && change.back === 0) continue
        state = expected
        const { level, drain, at, used, since } = state
        expect(await redis.get(key), where).toBe([level, drain, at, used, since].join(' '))
      }
    }
  })

  it('keep a state until its limits are whole, and with a month until its end', async () => {
    const redis = connect()
    const [first, second] = [openCounters(redis, 'kept:burst:'), openCounters(redis, 'kept:month:')]
    await first.take('key:a', [burst(60, 60_000)], 10)
    await second.take('key:a', [burst(60, 60_000), month(100)], 10)
    expect(await redis.pttl('kept:burst:limits:v2:key:a')).toBeLessThanOrEqual(10_000)
    expect(await redis.pttl('kept:burst:limits:v2:key:a')).toBeGreaterThan(5_000)
    const date = new Date()
    const end = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
    const left = await redis.pttl('kept:month:limits:v2:key:a')
    expect(Math.abs(left - Math.max(10_000, end - Date.now()))).toBeLessThan(10_000)
  })

  it('know the calendar of a century', async () => {
    const redis = connect()
    const terms = { unit: 0, drain: 0, capacity: 0, quota: 0, month: 10 }
    const change = { cost: 1, back: 0, takenAt: 0, known: 0, knownAt: 0 }
    const commands = redis.pipeline()
    const expected: unknown[] = []
    for (let index = 0; index < 1_224; index += 1) {
      const end = Date.UTC(2000, index + 1)
      for (const [at, now] of [
        [end - 1, end - 1],
        [end - 1, end],
      ] as const) {
        const text = `0 0 ${at} 5 ${at}`
        commands.set('calendar', text)
        commands.eval(COUNT_SCRIPT, 1, 'calendar', ...argumentsOf(terms, change), String(now))
        const { used } = count(parseState(text), terms, change, now)
        expected.push([used, now === end ? 1 : 6])
      }
    }
    const replies = (await commands.exec()) ?? []
    const used = replies.flatMap(([, reply], index) =>
      index % 2 === 1 ? [parseReply(reply, terms).used] : [],
    )
    expect(used.map((each) => [each, each])).toEqual(expected)
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
    expect(keys).toEqual([`${prefix}limits:v2:key:a`])
    expect(await connect().pttl(keys[0] ?? '')).toBeGreaterThan(59 * MINUTE)
  })

  it.each([
    ['a list', async (redis: Redis, key: string) => void (await redis.lpush(key, 'x'))],
    ['nonsense', async (redis: Redis, key: string) => void (await redis.set(key, 'x'.repeat(99)))],
    ['bytes', async (redis: Redis, key: string) => void (await redis.set(key, '\0 1 2 3 4'))],
  ])('replace %s in the key', async (name, write) => {
    const redis = connect()
    const prefix = `replaced:${name}:`
    await write(redis, `${prefix}limits:v2:key:a`)
    const counters = openCounters(redis, prefix)
    const limits = [{ name: 'burst', quota: 2, window: 60 * MINUTE }]
    expect(await counters.take('key:a', limits, 2)).toMatchObject({ granted: true })
    expect(await counters.take('key:a', limits, 1)).toMatchObject({ granted: false })
    expect(await redis.get(`${prefix}limits:v2:key:a`)).toMatch(/^\d+( \d+){4}$/)
  })
})

function parseState(text: string): State | undefined {
  if (!/^\d{1,16}( \d{1,16}){4}$/.test(text)) return undefined
  const [level = 0, drain = 0, at = 0, used = 0, since = 0] = text.split(' ').map(Number)
  return { level, drain, at, used, since }
}

interface Step {
  terms: Terms
  change: Change
  now: number
  /** A state to begin this step with. */
  replaced?: string
}

const MONTH_END = Date.UTC(2026, 11)

/** Returns random calls around the end of a month, on a clock that only the test moves. */
function sequence(seed: number): Step[] {
  const random = wholeNumbersFrom(seed)
  const pick = <Item>(items: readonly [Item, ...Item[]]): Item =>
    items[random(items.length)] ?? items[0]
  const createTerms = (): Terms => {
    const quota = pick([0, 1, 7, 60, 999_983, 100_000_000])
    const window = pick([1_000, 7_000, 60_000, 86_399_000, 86_400_000])
    const monthly = quota === 0 ? 50 : pick([0, 10, 1_000])
    const limits = [...(quota > 0 ? [burst(quota, window)] : []), month(monthly)]
    return termsOf(limits.filter((limit) => limit.quota > 0))
  }
  const [first, second] = [createTerms(), createTerms()]
  let now = MONTH_END - random(4_000)
  const around = (): number => now - random(pick([1, 100, 5_000])) + random(pick([1, 1, 50]))
  return Array.from({ length: 40 }, (): Step => {
    now += random(pick([1, 10, 1_000, 60_000])) - (random(20) === 0 ? random(100_000) : 0)
    const terms = random(8) === 0 ? second : first
    const change = {
      cost: pick([0, 1, 1, 3, 10]),
      back: pick([0, 0, 1, 12]),
      takenAt: around(),
      known: pick([0, 3, 500]),
      knownAt: pick([0, around(), now]),
    }
    const digits = (): number => random(10 ** pick([1, 3, 9]))
    const replaced = [
      Array.from({ length: 5 }, digits).join(' '),
      [random(1_000), 1, now - random(5_000), random(20), now - random(9_000)].join(' '),
      '9007199254740991 1 9007199254740991 9007199254740991 0',
      'nonsense',
      '1 2 3 4',
      '1 2 3 4 5 6',
      '-1 1 0 0 0',
      '1 2 3 4 12345678901234567',
    ][random(60)]
    return { terms, change, now, ...(replaced !== undefined && { replaced }) }
  })
}

describe.skipIf(REDIS_IS_MISSING)('processes with one Redis (skipped without redis-server)', () => {
  async function countersOn(url: string, count: number) {
    const clients = Array.from({ length: count }, () => connectTo(url, 20))
    await Promise.all(clients.map((redis) => redis.ping()))
    return clients.map((redis) => openCounters(redis))
  }

  it('admit never more than the limit, and at least 95 % of it', async () => {
    const server = await startRedis()
    onTestFinished(server.kill)
    const counters = await countersOn(server.url, 8)
    const [quota, window] = [200, 10_000]
    const duration = 2_000
    let admitted = 0
    const startedAt = performance.now()
    await Promise.all(
      counters.map(async (each) => {
        for (let isOver = false; !isOver;) {
          const sentAt = performance.now()
          const { granted } = await each.take('key:a', [burst(quota, window)], 1)
          if (granted) admitted += 1
          isOver = !granted && sentAt - startedAt > duration
          await sleep(10)
        }
      }),
    )
    const lasted = performance.now() - startedAt
    expect(admitted).toBeLessThanOrEqual(quota + (lasted * quota) / window)
    expect(admitted).toBeGreaterThan(0.95 * (quota + (duration * quota) / window))
  })

  it('get no second month from a Redis that was restarted without its data', async () => {
    const server = await startRedis()
    onTestFinished(server.kill)
    const both = await countersOn(server.url, 2)
    const take = (counters: OpenCounters) => counters.take('key:a', [month(40)], 1)
    for (let count = 0; count < 10; count += 1) for (const each of both) await take(each)
    await server.kill()
    const next = await startRedis(server.port)
    onTestFinished(next.kill)
    let granted = 0
    for (let count = 0; count < 20; count += 1) {
      for (const each of both) if ((await take(each)).granted) granted += 1
    }
    // At most the last request of the other process is unknown to the first.
    expect(granted).toBeGreaterThanOrEqual(20)
    expect(granted).toBeLessThanOrEqual(21)
  })
})

describe.skipIf(REDIS_IS_MISSING)('a handler whose Redis fails (skipped without it)', () => {
  it.each([
    ['local', 'hangs', 200],
    ['allow', 'is gone', 200],
    ['refuse', 'is gone', 503],
  ] as const)(
    'and whenCountersFail is %j, where it %s, recovers',
    async (policy, fault, status) => {
      const server = await startRedis()
      onTestFinished(server.kill)
      const redis = connectTo(server.url, 50)
      const events: RatesEvent[] = []
      const handler = createRatesHandler({
        providers: fakeProviders(),
        onEvent: (event) => events.push(event),
        access: createAccess({
          whenCountersFail: policy,
          anonymous: 'public',
          plans: { public: '600/min' },
          client: () => '203.0.113.9',
          counters: createRedisCounters(redis),
        }),
      })
      // The 400 of an invalid amount is a request that was served, and has the header fields of limits.
      const target = 'http://localhost/api/v1/convert?from=EUR&to=USD&amount=x'
      const get = async () => {
        const { status: got, headers } = await handler(new Request(target))
        return { status: got === 400 ? 200 : got, limited: headers.has('RateLimit') }
      }
      expect(await get()).toEqual({ status: 200, limited: true })
      if (fault === 'hangs') server.pause()
      else await server.kill()
      const during = []
      for (let count = 0; count < 30; count += 1) {
        during.push(await get())
        if (count < 10) await sleep(30)
      }
      // 200 before the fault is noticed.
      expect([200, status]).toEqual(expect.arrayContaining(during.map((each) => each.status)))
      expect(during.at(-1)).toEqual({ status, limited: policy === 'local' })
      expect(events.map(({ type }) => type)).toContain('counters_failed')
      expect(JSON.stringify(events)).not.toContain('203.0.113.9')
      if (fault === 'hangs') server.resume()
      else onTestFinished((await startRedis(server.port)).kill)
      const key = 'limits:v2:address:203.0.113.9'
      const isShared = async (): Promise<boolean> => {
        await redis.del(key).catch(() => 0)
        const { status: now } = await get()
        return now === 200 && (await redis.exists(key).catch(() => 0)) === 1
      }
      await expect.poll(isShared, { interval: 200, timeout: 60_000 }).toBe(true)
      expect(events.filter(({ type }) => type === 'internal_error')).toEqual([])
    },
  )
})
