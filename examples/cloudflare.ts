// npm install ratesmith
// npx wrangler dev cloudflare.ts --test-scheduled
//
// A Worker that refreshes rates on a schedule, so that visitors do not wait for an upstream. wrangler.jsonc needs a KV
// namespace and a cron trigger:
//
//   "compatibility_date": "2026-07-01",
//   "kv_namespaces": [{ "binding": "RATES", "id": "(printed by `npx wrangler kv namespace create RATES`)" }],
//   "triggers": { "crons": ["*/15 * * * *"] }
import { waitUntil } from 'cloudflare:workers'
import { consoleLogger, createRatesHandler } from 'ratesmith'
import { toWorker } from 'ratesmith/cloudflare'
import { createKvStore } from 'ratesmith/stores/cloudflare-kv'
import type { KvNamespace } from 'ratesmith/stores/cloudflare-kv'

interface Env {
  RATES: KvNamespace
}

export default toWorker(({ RATES }: Env) =>
  createRatesHandler({ store: createKvStore(RATES), waitUntil, onEvent: consoleLogger() }),
)
