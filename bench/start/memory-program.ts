// Loads a part of the library behind a Node server, and prints its memory as a `Memory`. Needs `--expose-gc`.
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { reportToParent, settingsFromParent } from '../../test/system/child.ts'
import { collectGarbage } from '../../test/system/collect-garbage.ts'

/** What is loaded: nothing but the server, the handler, or the handler with data. */
export type Loaded = 'bare' | 'handler' | 'latest' | 'five years' | 'all years'

/** In bytes. */
export interface Memory {
  /** JavaScript objects, and what they own outside the heap, after a collection. */
  used: number
  rss: number
}

const REQUESTS: Record<Loaded, string[]> = {
  bare: [],
  handler: [],
  latest: ['convert?from=USD&to=EUR', 'latest?base=EUR'],
  'five years': ['convert?from=USD&to=EUR', 'latest?base=EUR', 'history?from=USD&to=EUR&period=5Y'],
  'all years': [
    'convert?from=USD&to=EUR',
    'latest?base=EUR',
    'history?from=USD&to=EUR&period=5Y',
    'history?from=USD&to=EUR&start=1999-01-04',
  ],
}

/** Number and interval (ms) of samples: closed resources exist for some turns of the event loop. */
const SAMPLES = 10
const SAMPLE_INTERVAL_MS = 20

const loaded: Loaded = JSON.parse(settingsFromParent())
const server = createServer(
  loaded === 'bare' ? (_request, response) => response.end() : await load(),
)
server.listen(0, '127.0.0.1')

let least: Memory = { used: Infinity, rss: Infinity }
for (let sample = 0; sample < SAMPLES; sample += 1) {
  await sleep(SAMPLE_INTERVAL_MS)
  collectGarbage()
  const { heapUsed, external, rss } = process.memoryUsage()
  least = { used: Math.min(least.used, heapUsed + external), rss: Math.min(least.rss, rss) }
}
reportToParent(least)

async function load() {
  const { SEED } = await import('../wire/peer.ts')
  const { createRatesHandler } = await import('ratesmith')
  const { toNodeHandler } = await import('ratesmith/node')
  const { fakeProviders } = await import('ratesmith/testing')
  const handler = createRatesHandler({ providers: fakeProviders({ seed: SEED }) })
  for (const request of REQUESTS[loaded]) {
    const target = `/api/v1/${request}`
    const { status } = await handler.answer({ method: 'GET', target, header: () => undefined })
    if (status !== 200) throw new Error(`${target} has the status ${status}`)
  }
  return toNodeHandler(handler)
}
