// Sends many distinct requests, most of them hostile, to one handler, and prints a `MemoryReport`: what they leave in
// this process. Needs `--expose-gc`.
import { getEventListeners } from 'node:events'
import { setImmediate as nextLoopTurn } from 'node:timers/promises'

import { createRatesHandler } from '../../src/index.ts'
import type { RatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { NOW, entries, expand } from '../catalogue/catalogue.ts'
import { codes } from '../fixtures/codes.ts'
import { reportToParent, settingsFromParent } from './child.ts'
import { collectGarbage } from './collect-garbage.ts'
import { pick } from './pick.ts'

export interface MemorySettings {
  /** Number of distinct requests. */
  requestCount: number
}

export type MemoryReport = typeof report

interface TestRequest {
  method: string
  target: string
  tag?: string
}

const WAITING_CLIENTS = 1_000
const WARM_UP = 50_000
/** The heap is measured before each part of the requests, so that memory of the warm-up can be freed during them. */
const PARTS = 10
const REQUEST_EVERY = 50
/** Limit of event-loop iterations while waiting for a condition or a garbage collection. */
const MAX_LOOP_TURNS = 200
/** Longer targets of the catalogue would take too much time. */
const MAX_TARGET_LENGTH = 2_000

const { requestCount }: MemorySettings = JSON.parse(settingsFromParent())
const CODES = codes(17_500)
const known = Object.keys((await fakeProviders().latest.fetchLatest(anyContext())).rates)
const hostile = entries.filter(({ target }) => expand(target).length < MAX_TARGET_LENGTH)

let calls = 0
const statuses: Record<string, number> = {}

const handler = createHandler()
await handler.refresh()
await sendAll(0, WARM_UP)
let lowest = Infinity
for (let part = 0; part < PARTS; part += 1) {
  lowest = Math.min(lowest, heapInUse())
  const from = WARM_UP + part * (requestCount / PARTS)
  await sendAll(from, from + requestCount / PARTS)
}
const growth = heapInUse() - lowest
const listeners = await countLeakedListeners()
const uncollected = await countLeakedRequests()
const report = {
  /** Growth of the heap above its lowest level since the warm-up, in bytes, each measured after a collection. */
  growth,
  statuses,
  /** Upstream calls for the latest table, of all handlers. */
  calls,
  timers: process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length,
  listeners,
  /** Requests and responses, of `WAITING_CLIENTS` each, that cannot be collected. */
  uncollected,
}
reportToParent(report)

function createHandler(gate: Promise<void> = Promise.resolve()): RatesHandler {
  const { latest, history } = fakeProviders({ seed: 1 })
  const providers = {
    latest: {
      ...latest,
      async fetchLatest(context: Parameters<typeof latest.fetchLatest>[0]) {
        calls += 1
        await gate
        return latest.fetchLatest(context)
      },
    },
    history,
  }
  return createRatesHandler({ now: () => NOW, providers, store: new Map() })
}

async function sendAll(from: number, to: number): Promise<void> {
  for (let number = from; number < to; number += 1) {
    const request = requestOf(number)
    const status = await statusOf(request, number)
    statuses[status] = (statuses[status] ?? 0) + 1
  }
}

async function statusOf({ method, target, tag }: TestRequest, number: number): Promise<number> {
  if (number % REQUEST_EVERY === 0) {
    const response = await handler(new Request(`http://localhost${target}`))
    await response.text()
    return response.status
  }
  const header = (name: string): string | undefined => (name === 'if-none-match' ? tag : undefined)
  return (await handler.answer({ method, target, header })).status
}

function requestOf(number: number): TestRequest {
  const one = pick(known, number)
  const two = pick(known, number * 7 + 1)
  const three = pick(known, number * 11 + 2)
  const { method, target } = pick(hostile, number)
  return pick<TestRequest>(
    [
      get(`/api/v1/convert?from=${one}&to=${two}&unknown${number}=1`),
      get(`/api/v1/convert?from=${one}&to=${two}&amount=${number}`),
      get(`/api/v1/latest?base=${one}&symbols=${two},${three},${one}&_n=${number}`),
      get(`/api/v1/latest?base=${pick(CODES, number)}${number}`),
      get(`/api/v1/${number}/latest`),
      get(`/api/convert?from=${one}&to=${'X'.repeat(760)}${number}`),
      get(`/api/v1/history?from=EUR&to=USD&period=1W&_n=${number}`),
      { ...get(`/api/v1/convert?from=EUR&to=USD&_n=${number}`), tag: `"${number}"` },
      get(`/${number}`),
      { method, target: `${expand(target)}${target.includes('?') ? '&' : '?'}_n=${number}` },
    ],
    number,
  )
}

/**
 * Sends requests with signals that wait for a load, aborts half of them, and counts the remaining listeners on the
 * signals.
 */
async function countLeakedListeners(): Promise<number> {
  const { promise, resolve: open } = Promise.withResolvers<void>()
  const cold = createHandler(promise)
  const controllers = Array.from({ length: WAITING_CLIENTS }, () => new AbortController())
  const waiting = controllers.map(async ({ signal }) =>
    cold.answer({ method: 'GET', target: '/api/v1/latest', header: () => undefined, signal }),
  )
  await loopUntil(() => countListeners(controllers) === WAITING_CLIENTS)
  for (const controller of controllers.slice(WAITING_CLIENTS / 2)) controller.abort()
  await loopUntil(() => countListeners(controllers) === WAITING_CLIENTS / 2)
  open()
  await Promise.all(waiting)
  return countListeners(controllers)
}

function countListeners(controllers: AbortController[]): number {
  return controllers.reduce((sum, { signal }) => sum + getEventListeners(signal, 'abort').length, 0)
}

/** Sends requests of which half wait for a load, and counts those that cannot be collected afterwards. */
async function countLeakedRequests() {
  const { promise, resolve: open } = Promise.withResolvers<void>()
  const cold = createHandler(promise)
  const callsBefore = calls
  const requests: WeakRef<Request>[] = []
  const responses: WeakRef<Response>[] = []

  async function send(target: RatesHandler, number: number): Promise<void> {
    const request = new Request(`http://localhost/api/v1/latest?_n=${number}`)
    requests.push(new WeakRef(request))
    const response = await target(request)
    responses.push(new WeakRef(response))
    // Some hosts drop the response of a disconnected client.
    if (number % 4 < 2) await response.text()
  }

  const waiting = Array.from({ length: WAITING_CLIENTS }, (_, number) =>
    send(number % 2 === 0 ? handler : cold, number),
  )
  await loopUntil(() => requests.length === WAITING_CLIENTS && calls > callsBefore)
  open()
  await Promise.all(waiting)
  const left = (references: WeakRef<object>[]): number =>
    references.filter((reference) => reference.deref()).length
  for (let turn = 0; turn < MAX_LOOP_TURNS && left(requests) > 0; turn += 1) {
    await nextLoopTurn()
    heapInUse()
  }
  return { requests: left(requests), responses: left(responses) }
}

async function loopUntil(hasHappened: () => boolean): Promise<void> {
  for (let turn = 0; !hasHappened(); turn += 1) {
    if (turn === MAX_LOOP_TURNS)
      throw new Error(`not within ${MAX_LOOP_TURNS} event-loop iterations: ${String(hasHappened)}`)
    await nextLoopTurn()
  }
}

function heapInUse(): number {
  if (!globalThis.gc) throw new Error('needs --expose-gc')
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function get(target: string): TestRequest {
  return { method: 'GET', target }
}

function anyContext(): Parameters<ReturnType<typeof fakeProviders>['latest']['fetchLatest']>[0] {
  return { fetch, signal: new AbortController().signal, now: () => NOW }
}
