// Requests distinct queries from one handler in process and prints a `QueriesReport`. Needs `--expose-gc`.
import { setTimeout as sleep } from 'node:timers/promises'

import { createRatesHandler } from 'ratesmith'
import type { RatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

import { reportToParent, settingsFromParent } from '../../test/system/child.ts'
import { collectGarbage } from '../../test/system/collect-garbage.ts'
import { SEED } from '../wire/peer.ts'

/** The parameter that makes queries distinct. */
export type QueryKind = 'amounts' | 'junk' | 'symbols'

export interface QueriesSettings {
  kind: QueryKind
  /** Number of distinct queries. */
  distinct: number
  /** Number of requests, with the distinct queries one after another. */
  responses: number
}

export interface QueriesReport {
  /** Per response. */
  nanoseconds: number
  /** Growth of heap and external memory, in bytes, after a collection. */
  heap: number
  /** Growth of resident memory, in bytes. */
  rss: number
}

/** Requests to another handler before the measurement, so that compiled code does not count as growth. */
const WARM_UP = 20_000
/** Targets created at a time, outside the measured time. */
const BATCH = 1_000
/** Number and interval (ms) of memory samples. */
const SAMPLES = 10
const SAMPLE_INTERVAL_MS = 20

const { kind, distinct, responses }: QueriesSettings = JSON.parse(settingsFromParent())
const CODES = await codesOfMarket()
const TARGETS: Record<QueryKind, (number: number) => string> = {
  amounts: (number) => `/api/v1/convert?from=USD&to=EUR&amount=${number + 1}`,
  junk: (number) => `/api/v1/latest?base=EUR&n=${number}`,
  symbols: (number) =>
    `/api/v1/latest?symbols=${codeOf(number)},${codeOf(number / CODES.length)},${codeOf(number / CODES.length ** 2)}`,
}

await warmUp()
const handler = await createHandler()
await send(handler, 1)
const before = await memory()
const nanoseconds = (await send(handler, responses)) / responses
const after = await memory()
reportToParent({
  nanoseconds,
  heap: after.heap - before.heap,
  rss: after.rss - before.rss,
} satisfies QueriesReport)
handler.close()

async function warmUp(): Promise<void> {
  const another = await createHandler()
  await send(another, Math.min(WARM_UP, responses))
  another.close()
}

async function createHandler(): Promise<RatesHandler> {
  const created = createRatesHandler({ providers: fakeProviders({ seed: SEED }) })
  await created.refresh()
  return created
}

/** Sends requests and returns the time of the responses, in ns. */
async function send(receiver: RatesHandler, count: number): Promise<number> {
  const header = (): undefined => undefined
  let took = 0n
  for (let from = 0; from < count; from += BATCH) {
    const targets = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) =>
      TARGETS[kind]((from + index) % distinct),
    )
    const begunAt = process.hrtime.bigint()
    for (const target of targets) {
      const { status } = await receiver.answer({ method: 'GET', target, header })
      if (status !== 200) throw new Error(`${target} has the status ${status}`)
    }
    took += process.hrtime.bigint() - begunAt
  }
  return Number(took)
}

async function memory(): Promise<{ heap: number; rss: number }> {
  if (!globalThis.gc) throw new Error('needs --expose-gc')
  let lowest = { heap: Infinity, rss: Infinity }
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    // Closed resources may exist for one more iteration of the event loop.
    await sleep(SAMPLE_INTERVAL_MS)
    collectGarbage()
    const { heapUsed, external, rss } = process.memoryUsage()
    if (heapUsed + external < lowest.heap) lowest = { heap: heapUsed + external, rss }
  }
  return lowest
}

async function codesOfMarket(): Promise<string[]> {
  const context = { fetch, now: Date.now, signal: new AbortController().signal }
  return Object.keys((await fakeProviders({ seed: SEED }).latest.fetchLatest(context)).rates)
}

function codeOf(number: number): string {
  return CODES[Math.floor(number) % CODES.length] ?? ''
}
