import type { RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'

import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'

import { createRedisStore } from 'ratesmith/stores/redis'
import { createUpstashStore } from 'ratesmith/stores/upstash'
import { storeContract } from 'ratesmith/testing'

import { fakeRedis } from '../stores/fake-redis.ts'
import { listen, run, temporaryFolder } from './processes.ts'
import { REDIS_IS_MISSING, startRedis } from './redis-server.ts'
import type { RedisServer } from './redis-server.ts'
import { describeRuntimes } from './require-program.ts'
import type { Runtime } from './runtimes.ts'

const TOKEN = 'AX8sASQgN2M5'

/** Expects a store of `store-program.ts` to pass every case of the contract. */
async function expectGoodStore(runtime: Runtime, store: string, url = ''): Promise<void> {
  const [, program, ...flags] = runtime
  // Deno keeps its caches there.
  const env = { DENO_DIR: temporaryFolder(), DENO_NO_UPDATE_CHECK: '1' }
  const args = [...flags, 'test/system/store-program.ts', store, url]
  const { stdout, stderr } = await run(program, args, { env })
  expect(stdout, stderr).toMatch(/^\{.+\}$/)
  const cases = storeContract(() => new Map()).length
  expect(JSON.parse(stdout)).toEqual({ cases, failed: [] })
}

/** A database like Upstash, whose response times vary from one request to the next. */
function database(): RequestListener {
  const redis = fakeRedis()
  return async (request, response) => {
    const body = await text(request)
    const isAllowed = request.headers.authorization === `Bearer ${TOKEN}`
    const answer = isAllowed ? { result: redis.run(JSON.parse(body)) } : { error: 'Unauthorized' }
    setTimeout(() => {
      response.writeHead(isAllowed ? 200 : 401, { 'Content-Type': 'application/json' })
      response.end(JSON.stringify(answer))
    }, redis.commands.length % 5)
  }
}

// In workerd stores are tried in workers.test.ts.
describeRuntimes('the store contract', (runtime) => {
  const [name] = runtime

  it('passes with Upstash', async () => {
    const { url } = await listen(database())
    await expectGoodStore(runtime, 'upstash', url)
  })

  it.runIf(name === 'Deno')('passes with the Cache API', async () => {
    await expectGoodStore(runtime, 'cache-api')
  })

  const clients = ['ioredis', 'redis', ...(name === 'Bun' ? ['bun'] : [])]
  it.skipIf(REDIS_IS_MISSING).each(clients)('passes with Redis through %s', async (client) => {
    const { url, kill } = await startRedis()
    onTestFinished(kill)
    await expectGoodStore(runtime, client, url)
  })
})

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

  it('grants one of many simultaneous claims, of clients of both kinds', async () => {
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

  it('gets GET and SET only, and no key that does not expire', async () => {
    const client = await connectNodeRedis()
    await client.flushAll()
    await client.configResetStat()
    const store = createRedisStore(client, { prefix: 'app:' })
    const now = Date.now()
    await store.set('rates:v1:latest', 'text', now + 600_000)
    await store.get('rates:v1:latest')
    await store.claim('rates:v1:latest', now + 200_000)
    const stats = await client.info('commandstats')
    const commands = [...stats.matchAll(/^cmdstat_([^:]+):/gm)].map(([, name = '']) => name)
    expect(commands.filter((name) => !/^config|^info$/.test(name)).sort()).toEqual(['get', 'set'])
    const keys = await client.keys('*')
    expect(keys.sort()).toEqual(['app:rates:v1:latest', 'app:rates:v1:latest:claim'])
    const lives = await Promise.all(keys.map((key) => client.pTTL(key)))
    expect(lives[0]).toSatisfy((life: number) => life > 500_000 && life <= 600_000)
    expect(lives[1]).toSatisfy((life: number) => life > 100_000 && life <= 200_000)
  })
})

describe('Upstash', () => {
  it('grants one of many simultaneous claims', async () => {
    const { url } = await listen(database())
    const stores = Array.from({ length: 50 }, () => createUpstashStore({ url, token: TOKEN }))
    const expiresAt = Date.now() + 20_000
    const answers = await Promise.all(stores.map((store) => store.claim('k', expiresAt)))
    expect(answers.filter(Boolean)).toHaveLength(1)
  })

  it('sends its token to no other host', async () => {
    const visits: unknown[] = []
    const elsewhere = await listen((request, response) => {
      visits.push(request.headers.authorization)
      response.end('{"result":"text"}')
    })
    const { url } = await listen((_, response) => {
      response.writeHead(307, { Location: elsewhere.url }).end()
    })
    const store = createUpstashStore({ url, token: TOKEN })
    await expect(store.get('k')).rejects.toThrow('Upstash answered 307')
    expect(visits).toEqual([])
  })

  it('rejects when the connection is refused, and when the response breaks off', async () => {
    const { url, close } = await listen((_, response) => {
      response.writeHead(200, { 'Content-Length': '100' })
      response.write('{"result":', () => response.destroy())
    })
    const store = createUpstashStore({ url, token: TOKEN })
    await expect(store.get('k')).rejects.toThrow('Upstash could not be reached')
    await close()
    await expect(store.get('k')).rejects.toThrow('Upstash could not be reached')
  })
})
