// npm install ratesmith ioredis && npm pkg set type=module
// REDIS_URL=redis://127.0.0.1:6379 node redis-fleet.ts
//
// Shares one Redis between five apps, as five servers would: one of them calls the upstream, and all get its rates.
import { Redis } from 'ioredis'
import { createRates } from 'ratesmith'
import { createRedisStore } from 'ratesmith/stores/redis'
import { fakeProviders } from 'ratesmith/testing'

const { REDIS_URL = 'redis://127.0.0.1:6379' } = process.env

const redis = new Redis(REDIS_URL)
// Rates skip the store until it is connected.
await redis.ping()

const store = createRedisStore(redis, { prefix: 'example:' })
let calls = 0
const servers = ['one', 'two', 'three', 'four', 'five'].map((name) => ({
  name,
  rates: createRates({
    store,
    providers: fakeProviders(),
    onEvent({ type }) {
      if (type === 'upstream_request') calls += 1
    },
  }),
}))

await Promise.all(
  servers.map(async ({ name, rates }) => {
    const { rate } = await rates.convert({ from: 'USD', to: 'EUR' })
    console.log(`${name}: 1 USD = ${rate} EUR`)
  }),
)
console.log(`upstream calls: ${calls}`)
redis.disconnect()
