// Asks one handler a number of distinct queries in process and prints a `QueriesReport`. Needs `--expose-gc`.
import { setTimeout as sleep } from 'node:timers/promises'

import { createRatesHandler } from 'ratesmith'
import type { RatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

import { settingsFromParent, tellParent } from '../../test/system/child.ts'
import { collectGarbage } from '../../test/system/collect-garbage.ts'
import { SEED } from '../wire/peer.ts'

/** What makes queries distinct. */
export type QueryKind = 'amounts' | 'junk' | 'symbols'

/** What to ask. */
export interface QueriesSettings {
  kind: QueryKind
  /** How many queries differ from each other. */
  distinct: number
  /** How many are asked, each of them in turn. */
  answers: number
}

/** What it took. */
export interface QueriesReport {
  /** Of an answer, in ns. */
  nanoseconds: number
  /** Growth of heap and external memory, in bytes, after a collection. */
  heap: number
  /** Growth of resident memory, in bytes. */
  rss: number
}

/** Answers of another handler beforehand, so that no growth is that of compiled code. */
const WARM_UP = 20_000
/** So many targets are made outside the time that is measured. */
const BATCH = 1_000
/** How often memory is looked at, and how many ms lie between two looks. */
const LOOKS = 10
const PAUSE = 20

const { kind, distinct, answers }: QueriesSettings = JSON.parse(settingsFromParent())
const CODES = await codesOfMarket()
const TARGETS: Record<QueryKind, (number: number) => string> = {
  amounts: (number) => `/api/v1/convert?from=USD&to=EUR&amount=${number + 1}`,
  junk: (number) => `/api/v1/latest?base=EUR&n=${number}`,
  symbols: (number) =>
    `/api/v1/latest?symbols=${codeOf(number)},${codeOf(number / CODES.length)},${codeOf(number / CODES.length ** 2)}`,
}

await warmUp()
const handler = await createHandler()
await ask(handler, 1)
const before = await memory()
const nanoseconds = (await ask(handler, answers)) / answers
const after = await memory()
tellParent({
  nanoseconds,
  heap: after.heap - before.heap,
  rss: after.rss - before.rss,
} satisfies QueriesReport)
handler.close()

async function warmUp(): Promise<void> {
  const another = await createHandler()
  await ask(another, Math.min(WARM_UP, answers))
  another.close()
}

async function createHandler(): Promise<RatesHandler> {
  const created = createRatesHandler({ providers: fakeProviders({ seed: SEED }) })
  await created.refresh()
  return created
}

/** Asks so many questions, and resolves with the time that the answers took, in ns. */
async function ask(asked: RatesHandler, count: number): Promise<number> {
  const header = (): undefined => undefined
  let took = 0n
  for (let from = 0; from < count; from += BATCH) {
    const targets = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) =>
      TARGETS[kind]((from + index) % distinct),
    )
    const begunAt = process.hrtime.bigint()
    for (const target of targets) {
      const { status } = await asked.answer({ method: 'GET', target, header })
      if (status !== 200) throw new Error(`${target} has the status ${status}`)
    }
    took += process.hrtime.bigint() - begunAt
  }
  return Number(took)
}

/** What is in use once nothing more can be collected. */
async function memory(): Promise<{ heap: number; rss: number }> {
  if (!globalThis.gc) throw new Error('to be run with --expose-gc')
  let lowest = { heap: Infinity, rss: Infinity }
  for (let look = 0; look < LOOKS; look += 1) {
    // What has been closed may still have a turn of the loop to live.
    await sleep(PAUSE)
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
