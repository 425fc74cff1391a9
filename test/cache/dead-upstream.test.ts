import { describe, expect, it } from 'vitest'

import { createHandlerOn } from '../../src/handler.ts'
import type { RatesEvent, RatesHandler, RatesHandlerOptions } from '../../src/index.ts'
import type { Runtime } from '../../src/runtime.ts'
import { createSyntheticMarket } from '../../src/testing/synthetic-market.ts'
import { requireDaily } from '../daily-data-set.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { settled } from '../virtual-runtime.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Shortly before the publications of a Wednesday, from which on what is held is overdue. */
const START = Date.UTC(2026, 10, 18, 14, 40)
const PUBLICATION = Date.UTC(2026, 10, 18, 15)

/** Of a day for each data set. With fewer attempts a recovery would be noticed late. */
const MAX_ATTEMPTS = 300
const MIN_ATTEMPTS = 200

const LONGEST_PAUSE = 5 * MINUTE

/** How many requests for each data set come at once when the upstream may be called again. */
const BURST = 20

/** More promises than stand one behind another anywhere. */
const LONGEST_CHAIN = 50

type DataSet = 'latest' | 'history'

const DATA_SETS: readonly DataSet[] = ['latest', 'history']

const TARGETS: Record<DataSet, string> = {
  latest: '/api/v1/convert?from=USD&to=EUR&amount=2',
  history: '/api/v1/history?from=USD&to=EUR&period=1W',
}

/** What an upstream does with a call. */
type Upstream = (url: string, signal?: AbortSignal | null) => Promise<Response>

const market = createSyntheticMarket(1)

const answering: Upstream = async (url) => {
  const [, start, end] = /v1\/(.*)\.\.(.*)$/.exec(url) ?? []
  if (start === undefined || end === undefined) {
    return new Response(openErApiPayload({ now: START, market }))
  }
  return new Response(frankfurterPayload({ start, end, now: START, market }))
}

/** No connection for history, and 503 for latest rates. */
const failing: Upstream = (url) =>
  dataSetOf(url) === 'history'
    ? Promise.reject(new TypeError('fetch failed'))
    : Promise.resolve(new Response(null, { status: 503 }))

const hanging: Upstream = (_, signal) =>
  new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(new Error('given up')))
  })

describe('an upstream that is dead for 24 hours', { timeout: 60_000 }, () => {
  it.each([
    { how: 'fails', dead: failing },
    { how: 'hangs', dead: hanging },
  ])('gets at most 300 calls when it $how, and no response is 5xx', async ({ dead }) => {
    const world = await startWorld()
    await world.pass(PUBLICATION + DAY + HOUR, dead)
    for (const dataSet of DATA_SETS) {
      expectPatience(world.seen[dataSet])
      expect([...world.seen[dataSet].answers.keys()], dataSet).toEqual([200])
    }
    expect(world.waiting()).toBe(0)
  })

  it.each([
    { how: 'fails', dead: failing },
    { how: 'hangs', dead: hanging },
  ])('gets no more calls when it $how and only 502 is left to return', async ({ dead }) => {
    const world = await startWorld({ latest: 6 * HOUR, history: 6 * HOUR })
    const { nextUpdateAt } = await world.handler.rates.latest()
    const ends = { latest: nextUpdateAt + 6 * HOUR, history: PUBLICATION + 6 * HOUR }
    for (const dataSet of DATA_SETS) world.ask(dataSet, ends[dataSet], ends[dataSet] + 1)
    await world.pass(PUBLICATION + DAY + HOUR, dead)
    for (const dataSet of DATA_SETS) {
      const { answers, pauses } = world.seen[dataSet]
      expectPatience(world.seen[dataSet])
      expect([...answers.keys()], dataSet).toEqual([200, 502])
      expect(answers.get(200)?.last, dataSet).toBe(ends[dataSet])
      expect(answers.get(502)?.first, dataSet).toBe(ends[dataSet] + 1)
      expect(pauses.size, dataSet).toBeGreaterThan(0)
      for (const pause of pauses) expect(pause).toMatch(/^([1-9]|[1-9]\d|[12]\d\d|300)$/)
    }
    const recovered = world.now() + LONGEST_PAUSE
    for (const dataSet of DATA_SETS) world.ask(dataSet, recovered - MINUTE, recovered)
    await world.pass(recovered, answering, settled)
    for (const dataSet of DATA_SETS) {
      expect(world.seen[dataSet].answers.get(200)?.last, dataSet).toBe(recovered)
    }
    expect(world.waiting()).toBe(0)
  })
})

/** What was seen of a data set; instants in ms since the Unix epoch. */
interface Seen {
  /** When the upstream was called for it while it was dead. */
  attempts: number[]
  /** By status, when the requests came that got it. */
  answers: Map<number, { first: number; last: number }>
  /** Every `Retry-After`. */
  pauses: Set<string>
}

interface World {
  handler: RatesHandler
  seen: Record<DataSet, Seen>
  now(): number
  /** Plans a request for `dataSet` at each of `instants`. */
  ask(dataSet: DataSet, ...instants: number[]): void
  /** Lets time pass until `instant`, with a request a minute for each data set, and a burst when a refresh may start. */
  pass(instant: number, upstream: Upstream, goOn?: () => Promise<void>): Promise<void>
  /** How many requests without a response and timers there are. */
  waiting(): number
}

/** A handler over the built-in providers that has loaded both data sets. */
async function startWorld(maxStale?: RatesHandlerOptions['maxStale']): Promise<World> {
  let now = START
  let upstream = answering
  let unanswered = 0
  const timers = new Set<{ at: number; callback: () => void }>()
  const bursts = new Map<DataSet, number>()
  const planned = new Set<{ dataSet: DataSet; at: number }>()
  const seen: World['seen'] = { latest: nothingSeen(), history: nothingSeen() }

  const machine: Runtime = {
    now: () => now,
    monotonic: () => now - START,
    // Every other number would mean fewer attempts.
    random: () => 0,
    startTimer(callback, delay) {
      const timer = { at: now + delay, callback }
      timers.add(timer)
      return () => timers.delete(timer)
    },
  }

  const handler = createHandlerOn(() => machine, {
    now: machine.now,
    maxStale,
    fetch(input, init) {
      const url = String(input instanceof Request ? input.url : input)
      if (upstream !== answering) seen[dataSetOf(url)].attempts.push(now)
      return upstream(url, init?.signal)
    },
    onEvent(event: RatesEvent) {
      // The whole ms before may still be too soon.
      if (event.type === 'refresh_scheduled')
        bursts.set(requireDaily(event.dataSet), Math.ceil(event.at))
    },
  })

  async function ask(dataSet: DataSet): Promise<void> {
    const askedAt = now
    const target = TARGETS[dataSet]
    unanswered += 1
    const answer = await handler.answer({ method: 'GET', target, header: () => undefined })
    unanswered -= 1
    const { answers, pauses } = seen[dataSet]
    const first = answers.get(answer.status)?.first ?? askedAt
    answers.set(answer.status, { first, last: askedAt })
    const [, pause] = answer.headers.find(([name]) => name === 'retry-after') ?? []
    if (pause !== undefined) pauses.add(pause)
  }

  /** Whatever is next, but no later than at `minute`. */
  async function step(minute: number, goOn: () => Promise<void>): Promise<void> {
    const plans = [...timers, ...planned].map(({ at }) => at)
    now = Math.min(minute, ...plans, ...bursts.values())
    for (const timer of timers) {
      if (timer.at > now) continue
      timers.delete(timer)
      timer.callback()
    }
    for (const [dataSet, at] of bursts) {
      if (at > now) continue
      bursts.delete(dataSet)
      for (let count = 0; count < BURST; count += 1) void ask(dataSet)
    }
    for (const plan of planned) {
      if (plan.at > now) continue
      planned.delete(plan)
      void ask(plan.dataSet)
    }
    if (now === minute) for (const dataSet of DATA_SETS) void ask(dataSet)
    await goOn()
  }

  await handler.refresh()
  return {
    handler,
    seen,
    now: machine.now,
    ask(dataSet, ...instants) {
      for (const at of instants) planned.add({ dataSet, at })
    },
    async pass(instant, as, goOn = drain) {
      upstream = as
      while (now < instant) {
        const minute = now + MINUTE - (now % MINUTE)
        do await step(minute, goOn)
        while (now < minute)
      }
    },
    waiting: () => unanswered + timers.size,
  }
}

/** Runs everything that waits only for promises; real timers would take too long, so often. */
async function drain(): Promise<void> {
  for (let turn = 0; turn < LONGEST_CHAIN; turn += 1) await Promise.resolve()
}

function dataSetOf(url: string): DataSet {
  return url.includes('frankfurter') ? 'history' : 'latest'
}

function nothingSeen(): Seen {
  return { attempts: [], answers: new Map(), pauses: new Set() }
}

function expectPatience({ attempts }: Seen): void {
  const [first = NaN] = attempts
  const ofOneDay = attempts.filter((at) => at < first + DAY)
  expect(ofOneDay.length).toBeLessThanOrEqual(MAX_ATTEMPTS)
  expect(ofOneDay.length).toBeGreaterThan(MIN_ATTEMPTS)
}
