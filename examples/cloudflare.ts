// npm install ratesmith
// npx wrangler dev cloudflare.ts --test-scheduled
//
// A Worker whose visitors never wait for an upstream. It needs a KV namespace and a cron trigger in wrangler.jsonc:
//
//   "compatibility_date": "2026-07-01",
//   "kv_namespaces": [{ "binding": "RATES", "id": "(what `npx wrangler kv namespace create RATES` says)" }],
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
