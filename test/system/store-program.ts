// Runs the store contract in any runtime, and prints the number of cases and the failed ones: `store-program.ts <store>
// <url>`, where the store is a Redis client (`ioredis`, `redis` or `bun`), `upstash` or `cache-api`.
import type { CacheStore } from 'ratesmith'
import { createCacheApiStore } from 'ratesmith/stores/cache-api'
import { createRedisStore } from 'ratesmith/stores/redis'
import type { RedisClient } from 'ratesmith/stores/redis'
import { createUpstashStore } from 'ratesmith/stores/upstash'
import { storeContract } from 'ratesmith/testing'

const { argv, exit, stdout } = process
const [, , name = '', url = ''] = argv

const STORES: Record<string, () => CacheStore | Promise<CacheStore>> = {
  async ioredis() {
    const { Redis } = await import('ioredis')
    return createRedisStore(new Redis(url), { prefix: 'ioredis:' })
  },
  async redis() {
    const { createClient } = await import('redis')
    return createRedisStore(await createClient({ url }).connect(), { prefix: 'redis:' })
  },
  bun() {
    const { RedisClient }: { RedisClient: new (url: string) => RedisClient } = Reflect.get(
      globalThis,
      'Bun',
    )
    return createRedisStore(new RedisClient(url), { prefix: 'bun:' })
  },
  upstash: () => createUpstashStore({ url, token: 'AX8sASQgN2M5' }),
  'cache-api': () => createCacheApiStore(),
}

const store = await STORES[name]?.()
if (!store) throw new Error(`unknown store "${name}"`)
const failed: string[] = []
const cases = storeContract(() => store)
for (const { name, run } of cases) {
  await run().catch((error: Error) => failed.push(`${name}: ${error.message}`))
}
stdout.write(JSON.stringify({ cases: cases.length, failed }), () => exit())
