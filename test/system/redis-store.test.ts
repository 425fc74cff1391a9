import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { RatesEvent } from '../../src/index.ts'
import { createRedisStore } from '../../src/stores/redis.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { REDIS_IS_MISSING, startRedis } from './redis-server.ts'
import type { RedisServer } from './redis-server.ts'
import { expectGoodStore } from './store-trial.ts'

describe.skipIf(REDIS_IS_MISSING)('Redis (skipped where redis-server is missing)', () => {
  let server: RedisServer

  beforeAll(async () => {
    server = await startRedis()
    return server.kill
  })

  function connectIoredis(): Redis {
    const client = new Redis(server.url)
    onTestFinished(() => client.disconnect())
    return client
  }

  async function connectNodeRedis() {
    const client = await createClient({ url: server.url }).connect()
    onTestFinished(() => client.destroy())
    return client
  }

  it.each([
    ['ioredis', 'Node'],
    ['redis', 'Node'],
    ['ioredis', 'Bun'],
    ['redis', 'Bun'],
    ['bun', 'Bun'],
    ['ioredis', 'Deno'],
    ['redis', 'Deno'],
  ] as const)('is a good store through the client %s on %s', async (client, runtime) => {
    await expectGoodStore(runtime, client, server.url)
  })

  it('grants one claim to clients of both kinds that ask at once', async () => {
    const stores = [
      createRedisStore(connectIoredis()),
      createRedisStore(await connectNodeRedis()),
      createRedisStore(connectIoredis()),
    ]
    for (const key of ['race 1', 'race 2', 'race 3']) {
      const expiresAt = Date.now() + 20_000
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => stores.map((store) => store.claim(key, expiresAt))).flat(),
      )
      expect(answers.filter(Boolean)).toHaveLength(1)
    }
  })

  it('sends GET and SET only, and leaves nothing behind that does not expire', async () => {
    const client = await connectNodeRedis()
    await client.flushAll()
    await client.configResetStat()
    const store = createRedisStore(client, { prefix: 'app:' })
    await store.set('rates:v1:latest', 'text', Date.now() + 60_000)
    await store.get('rates:v1:latest')
    await store.claim('rates:v1:latest', Date.now() + 20_000)
    const stats = await client.info('commandstats')
    const commands = [...stats.matchAll(/^cmdstat_([^:]+):/gm)].map(([, name = '']) => name)
    expect(commands.filter((name) => !/^config|^info$/.test(name)).sort()).toEqual(['get', 'set'])
    const keys = await client.keys('*')
    expect(keys.sort()).toEqual(['app:rates:v1:latest', 'app:rates:v1:latest:claim'])
    const lives = await Promise.all(keys.map((key) => client.pTTL(key)))
    expect(lives[0]).toSatisfy((life: number) => life > 50_000 && life <= 60_000)
    expect(lives[1]).toSatisfy((life: number) => life > 10_000 && life <= 20_000)
  })

  it('shares rates between handlers, so that the second asks nobody', async () => {
    const client = connectIoredis()
    await client.flushall()
    const events: RatesEvent[][] = [[], []]
    const handlers = events.map((list) => {
      const store = createRedisStore(client)
      const onEvent = (event: RatesEvent): unknown => list.push(event)
      return createRatesHandler({ store, onEvent, providers: fakeProviders() })
    })
    const bodies: string[] = []
    for (const handler of handlers) {
      const response = await handler(new Request('http://localhost/api/v1/latest?base=EUR'))
      expect(response.status).toBe(200)
      bodies.push(await response.text())
      await expect.poll(() => client.get('rates:v1:latest')).not.toBeNull()
      handler.close()
    }
    expect(bodies[1]).toBe(bodies[0])
    expect(events.map((list) => list.some(({ type }) => type === 'upstream_asked'))).toEqual([
      true,
      false,
    ])
  })

  it('rejects, as the client does, where the server is no more', async () => {
    const ownServer = await startRedis()
    const client = new Redis(ownServer.url, { maxRetriesPerRequest: 0 })
    client.on('error', () => {})
    onTestFinished(() => client.disconnect())
    const store = createRedisStore(client)
    await store.set('k', 'text', Date.now() + 60_000)
    await ownServer.kill()
    await expect(store.get('k')).rejects.toThrow(/closed|retries/)
  })
})
