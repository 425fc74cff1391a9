// npm install ratesmith ioredis
// REDIS_URL=redis://127.0.0.1:6379 npx ratesmith serve serve-fleet.ts, on any number of machines
import { Redis } from 'ioredis'
import type { RatesHandlerOptions, ServerOptions } from 'ratesmith'
import { createAccess } from 'ratesmith/access'
import { createFileKeyStore } from 'ratesmith/access/file'
import { createRedisCounters } from 'ratesmith/access/redis'
import { createRedisStore } from 'ratesmith/stores/redis'

const redis = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
redis.on('error', (error: Error) => console.error(error.message))

export default {
  // One server requests upstream, and all serve its rates.
  store: createRedisStore(redis),
  access: createAccess({
    plans: { public: '60/min', pro: '600/min, 100000/month' },
    anonymous: 'public',
    keys: createFileKeyStore(process.env['RATESMITH_KEYS'] ?? 'keys.json'),
    // All servers count together.
    counters: createRedisCounters(redis),
  }),
} satisfies RatesHandlerOptions

export const server: ServerOptions = { metrics: true, accessLog: true }
