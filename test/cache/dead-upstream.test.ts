import { describe, expect, it } from 'vitest'

import { createHandlerOn } from '../../src/handler.ts'
import type { RatesEvent, RatesHandler, RatesHandlerOptions } from '../../src/index.ts'
import type { Runtime } from '../../src/runtime.ts'
import { createSyntheticMarket } from '../../src/testing/synthetic-market.ts'
import { requireDaily } from '../daily-data-set.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { settled } from '../virtual-runtime.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND
const DAY = 24 * HOUR

/** Shortly before the publications of a Wednesday, from which on what is held is overdue. */
const START = Date.UTC(2026, 10, 18, 14, 40)
const PUBLICATION = Date.UTC(2026, 10, 18, 15)

/** Of a day for each data set. Were they few, nobody would notice soon that upstream is back. */
const MOST_ATTEMPTS = 300
const FEWEST_ATTEMPTS = 200

const LONGEST_PAUSE = 300 * SECOND

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

describe('an upstream that is dead for 24 hours', { timeout: 120_000 }, () => {
  it.each([
    { how: 'fails', dead: failing, burst: 1_000 },
    { how: 'hangs', dead: hanging, burst: 100 },
  ])('is asked 300 times at most when it $how, and no answer is 5xx', async (row) => {
    const world = await startWorld(row)
    await world.pass(PUBLICATION + DAY + HOUR, row.dead)
    for (const dataSet of DATA_SETS) {
      expectPatience(world.seen[dataSet])
      expect([...world.seen[dataSet].answers.keys()], dataSet).toEqual([200])
    }
    expect(world.waiting()).toBe(0)
  })

  it.each([
    { how: 'fails', dead: failing },
    { how: 'hangs', dead: hanging },
  ])('is asked no more often when it $how and only 502 is left to answer', async ({ dead }) => {
    const maxStale = { latest: 6 * HOUR, history: 6 * HOUR }
    const world = await startWorld({ burst: 10, maxStale })
    const { nextUpdateAt } = await world.handler.rates.latest()
    const ends = { latest: nextUpdateAt + 6 * HOUR, history: PUBLICATION + 6 * HOUR }
    await world.pass(PUBLICATION + DAY + HOUR, dead)
    for (const dataSet of DATA_SETS) {
      const { answers, pauses } = world.seen[dataSet]
      expectPatience(world.seen[dataSet])
      expect([...answers.keys()], dataSet).toEqual([200, 502])
      // Of the questions, which come every other second, the last in time and the first too late.
      const [good, bad] = [answers.get(200), answers.get(502)]
      expect(good?.last, dataSet).toBeLessThanOrEqual(ends[dataSet])
      expect(good?.last, dataSet).toBeGreaterThan(ends[dataSet] - 2 * SECOND)
      expect(bad?.first, dataSet).toBeLessThanOrEqual(ends[dataSet] + 2 * SECOND)
      for (const pause of pauses) expect(pause).toMatch(/^([1-9]|[1-9]\d|[12]\d\d|300)$/)
    }
    await world.pass(world.now() + LONGEST_PAUSE, answering, settled)
    for (const dataSet of DATA_SETS) {
      const { answers } = world.seen[dataSet]
      expect(answers.get(200)?.last, dataSet).toBeGreaterThanOrEqual(world.now() - SECOND)
    }
    expect(world.waiting()).toBe(0)
  })
})

/** What was seen of a data set; instants in ms since the Unix epoch. */
interface Seen {
  /** When upstream was asked for it while it was dead. */
  attempts: number[]
  /** By status, when the questions came that were answered so. */
  answers: Map<number, { first: number; last: number }>
  /** Every `Retry-After`. */
  pauses: Set<string>
}

interface WorldOptions {
  /** How many ask at once for latest rates when upstream may be asked again; for history it is a tenth of that. */
  burst: number
  maxStale?: RatesHandlerOptions['maxStale']
}

interface World {
  handler: RatesHandler
  seen: Record<DataSet, Seen>
  now(): number
  /** Lets time pass until `instant`, with a question a second, for the data sets in turns, beside the bursts. */
  pass(instant: number, upstream: Upstream, goOn?: () => Promise<void>): Promise<void>
  /** How many questions without an answer and timers there are. */
  waiting(): number
}

/** A handler over the built-in providers that has loaded both data sets. */
async function startWorld({ burst, maxStale }: WorldOptions): Promise<World> {
  let now = START
  let upstream = answering
  let unanswered = 0
  const timers = new Map<object, { at: number; callback: () => void }>()
  const bursts = new Map<DataSet, number>()
  const seen: World['seen'] = { latest: nothingSeen(), history: nothingSeen() }

  const machine: Runtime = {
    now: () => now,
    monotonic: () => now - START,
    // Every other number would mean fewer attempts.
    random: () => 0,
    startTimer(callback, delay) {
      const timer = { at: now + delay, callback }
      timers.set(timer, timer)
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

  /** Whatever happens next, but no later than at `second`. */
  async function step(second: number, goOn: () => Promise<void>): Promise<void> {
    now = Math.min(second, ...[...timers.values()].map(({ at }) => at), ...bursts.values())
    for (const timer of timers.values()) {
      if (timer.at > now) continue
      timers.delete(timer)
      timer.callback()
    }
    for (const [dataSet, at] of bursts) {
      if (at > now) continue
      bursts.delete(dataSet)
      const size = dataSet === 'latest' ? burst : burst / 10
      for (let count = 0; count < size; count += 1) void ask(dataSet)
    }
    if (now === second) void ask((second / SECOND) % 2 === 0 ? 'latest' : 'history')
    await goOn()
  }

  await handler.refresh()
  return {
    handler,
    seen,
    now: machine.now,
    async pass(instant, as, goOn = drain) {
      upstream = as
      while (now < instant) {
        const second = now + SECOND - (now % SECOND)
        do await step(second, goOn)
        while (now < second)
      }
    },
    waiting: () => unanswered + timers.size,
  }
}

/** Lets everything go on that waits only for promises; to wait for real timers a hundred thousand times takes too long. */
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
  expect(ofOneDay.length).toBeLessThanOrEqual(MOST_ATTEMPTS)
  expect(ofOneDay.length).toBeGreaterThan(FEWEST_ATTEMPTS)
}
