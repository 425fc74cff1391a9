import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { HistoryProvider, LatestProvider } from '../../src/index.ts'
import { toDay } from '../fixtures/dates.ts'
import { HOUR, SECOND, listenersLeftBy, settled, virtualRuntime } from '../virtual-runtime.ts'
import { EVENING as START, openWorld } from './world.ts'

/** Returns the rate of the yen that the provider at `index` of a chain publishes at `updatedAt`. */
const yenOf = (index: number, updatedAt: number): number => index * 1e10 + updatedAt / SECOND

/** Conditions of a provider: `slow` responds after 3 s, `stuck` never, even if its signal aborts. */
const CONDITIONS = ['healthy', 'dead', 'lying', 'slow', 'stuck'] as const

type Condition = (typeof CONDITIONS)[number]

const NAMES = ['A', 'B', 'C']

/** Starts a chain of latest and one of history providers, `A`, `B`, `C` in order; tests change their conditions. */
function startChain(given: readonly Condition[]) {
  const runtime = virtualRuntime(START)
  const conditions = [...given]
  const published = conditions.map(() => START)
  const lacksYen = conditions.map(() => false)
  const calls: string[] = []
  const attributionOf = (name = '') => ({ name, url: `https://${name.toLowerCase()}.example` })

  /** Ends a call of the provider at `index`: with the result of `make`, or according to its condition. */
  async function act<Data>(index: number, make: () => Data, lie: Data): Promise<Data> {
    const [name = '', condition] = [NAMES[index], conditions[index]]
    calls.push(name)
    if (condition === 'dead') throw new Error(`${name} is down`)
    if (condition === 'stuck') return new Promise(() => {})
    const data = condition === 'lying' ? lie : make()
    if (condition === 'slow') {
      await new Promise<void>((resolve) => void runtime.startTimer(resolve, 3 * SECOND))
    }
    return data
  }

  const latest = conditions.map((_, index): LatestProvider => {
    const tableAt = (updatedAt: number) => ({
      base: 'USD',
      updatedAt,
      nextUpdateAt: updatedAt + 24 * HOUR,
      // Different for every provider and publication.
      rates: { USD: 1, EUR: index + 1, ...(!lacksYen[index] && { JPY: yenOf(index, updatedAt) }) },
    })
    return {
      attribution: attributionOf(NAMES[index]),
      fetchLatest: () => act(index, () => tableAt(published[index] ?? NaN), tableAt(NaN)),
    }
  })
  const history = conditions.map((_, index): HistoryProvider => {
    const daysOf = (date: string) => ({ base: 'EUR', days: [{ date, rates: { USD: index + 1 } }] })
    return {
      attribution: attributionOf(NAMES[index]),
      fetchHistory(_range, { now }) {
        const day = (): string => toDay(Math.min(now(), published[index] ?? NaN))
        return act(index, () => daysOf(day()), daysOf('today'))
      },
    }
  })
  const recorded = openWorld(runtime, { providers: { latest, history } })

  /** Returns the response to `target` below `/api` as soon as it arrives, and how long that took in ms. */
  async function request(target: string) {
    const sentAt = runtime.monotonic()
    const waited = (response: Response) => ({ response, waited: runtime.monotonic() - sentAt })
    const timed = recorded.get(target).then(waited)
    const wait = { isOver: false }
    void timed.finally(() => (wait.isOver = true))
    await settled()
    while (!wait.isOver) await runtime.advance(50)
    return timed
  }

  return { ...recorded, conditions, published, lacksYen, calls, request }
}

type TimedResponse = Awaited<ReturnType<ReturnType<typeof startChain>['request']>>

const CHAINS: readonly Condition[][] = CONDITIONS.flatMap((a) =>
  CONDITIONS.flatMap((b) => CONDITIONS.map((c) => [a, b, c])),
)

const LATEST = '/v1/latest'
const HISTORY = '/v1/history?from=EUR&to=USD&period=1W'

/**
 * Returns the provider that serves a cold request: the first healthy one, else the first slow one. Only after two stuck
 * ones, a slow one cannot respond within 5 s.
 */
function expectedOf(chain: readonly Condition[]): string | undefined {
  const index = chain.includes('healthy') ? chain.indexOf('healthy') : chain.indexOf('slow')
  const isTooLate = chain.join() === 'stuck,stuck,slow'
  return isTooLate ? undefined : NAMES[index]
}

describe.each([
  { dataSet: 'latest', target: LATEST },
  { dataSet: 'history', target: HISTORY },
] as const)('a chain of three for $dataSet', ({ dataSet, target }) => {
  it.each(CHAINS)('serves the best provider when they are %s, %s and %s', async (...conditions) => {
    const expected = expectedOf(conditions)
    const { request, runtime, events, calls } = startChain(conditions)
    const left = await listenersLeftBy(async () => {
      const { response, waited } = await request(target)
      const { source, rates, points } = await response.json()
      const [rate, retryAfter] = [rates?.EUR ?? points?.[0].r, response.headers.get('retry-after')]
      expect([response.status, source?.name, rate]).toEqual(
        expected === undefined
          ? [502, undefined, undefined]
          : [200, expected, NAMES.indexOf(expected) + 1],
      )
      expect(retryAfter ?? '').toMatch(expected === undefined ? /^[1-9]\d{0,2}$/ : /^$/)
      // At once, after two hedging delays of 1.25 s, or within 5 s.
      const longest = conditions.includes('healthy') ? 2_500 : 5_000
      expect(waited).toBeLessThanOrEqual(conditions[0] === 'healthy' ? 0 : longest)
      await runtime.advance(20 * SECOND)
    })
    // One call of each provider with one outcome.
    const ofSet = events.filter((event) => 'dataSet' in event && event.dataSet === dataSet)
    const requested = ofSet.filter(({ type }) => type === 'upstream_request')
    expect(requested).toMatchObject(calls.map((provider) => ({ provider })))
    for (const name of calls) {
      const own = ofSet.filter((event) => 'provider' in event && event.provider === name)
      const types = own.map(({ type }) => type).filter((type) => type !== 'rates_updated')
      expect(types).toEqual(['upstream_request', expect.any(String)])
    }
    expect([left, runtime.timers()]).toEqual([0, 0])
    const failed = events.filter(({ type }) => type === 'refresh_failed')
    const isServed = conditions.some((each) => each === 'healthy' || each === 'slow')
    expect(failed).toHaveLength(isServed ? 0 : 1)
  })
})

describe('a chain of providers', () => {
  it('calls the next provider when one has not responded within the hedging delay', async () => {
    const { request, events } = startChain(['stuck', 'slow', 'healthy'])
    expect((await request(LATEST)).waited).toBe(2_500)
    await settled()
    const ended = events.filter((event) => 'elapsed' in event)
    const ends = ended.map(({ provider, elapsed }) => `${provider} ${elapsed}`)
    expect(ends).toEqual(['C 0', 'A 2500', 'B 1250'])
  })

  it('aborts the calls of the others, without a backoff', async () => {
    const { request, events, runtime, conditions, calls } = startChain(['stuck', 'dead', 'healthy'])
    await request(LATEST)
    const reason = expect.stringContaining('another provider')
    const ended = { type: 'upstream_failed', provider: 'A', elapsed: 1_250, reason }
    expect(events).toContainEqual(expect.objectContaining(ended))
    conditions[0] = 'healthy'
    await runtime.advance(25 * HOUR)
    await request(LATEST)
    await settled()
    expect(calls).toEqual(['A', 'B', 'C', 'A'])
  })

  it('keeps to its order while no caller waits, for as long as a call may take', async () => {
    const { request, runtime, conditions, calls } = startChain(['healthy', 'healthy', 'healthy'])
    await request(LATEST)
    conditions[0] = 'slow'
    await runtime.advance(25 * HOUR)
    expect((await request(LATEST)).waited).toBe(0)
    await runtime.advance(4 * SECOND)
    expect(calls).toEqual(['A', 'A'])
    conditions[0] = 'stuck'
    await runtime.advance(25 * HOUR)
    expect((await request(LATEST)).waited).toBe(0)
    await runtime.advance(4_900)
    expect(calls).toEqual(['A', 'A', 'A'])
    await runtime.advance(200)
    expect(calls).toEqual(['A', 'A', 'A', 'B'])
    expect((await (await request(LATEST)).response.json()).source.name).toBe('B')
  })

  it('reports the reason of every provider in an event, and never in a response', async () => {
    const { request, events, handler } = startChain(['dead', 'lying', 'stuck'])
    const { response } = await request(LATEST)
    expect(await response.text()).not.toMatch(/is down|updatedAt|5000/)
    const reason = expect.stringMatching(/: A: A is down; B: updatedAt .*; C: .*5000 ms$/)
    const failed = { type: 'refresh_failed', dataSet: 'latest', reason }
    expect(events).toContainEqual(expect.objectContaining(failed))
    handler.close()
  })

  /** Opens a handler over providers that all fail with the error of `errorOf`. */
  function openFailing(names: readonly string[], errorOf: (name: string) => Error) {
    const latest = names.map((name) => ({
      attribution: { name, url: 'https://rates.example' },
      fetchLatest: () => Promise.reject(errorOf(name)),
    }))
    return openWorld(virtualRuntime(START), { providers: { latest } })
  }

  it('names every provider in a reason of at most 300 characters', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `Provider ${index}`)
    const { read, eventsOf } = openFailing(names, () => new Error('x'.repeat(1_000)))
    await read(LATEST)
    const reason = eventsOf('refresh_failed')[0]?.reason ?? ''
    expect(reason.length).toBeLessThanOrEqual(300)
    expect(names.filter((name) => !reason.includes(`${name}: xxx`))).toEqual([])
  })

  it('skips a provider that requests a delay, and reports it', async () => {
    let message = 'too many requests'
    const retryAfterMs = 12 * 60_000
    const { handler, eventsOf, runtime } = openFailing(['A', 'B'], (name) =>
      name === 'B' ? new Error('B is down') : Object.assign(new Error(message), { retryAfterMs }),
    )
    await expect(handler.rates.latest()).rejects.toMatchObject({ retryAfter: 1 })
    message = 'must not be called'
    await runtime.advance(2 * SECOND)
    await expect(handler.rates.latest()).rejects.toMatchObject({ code: 'provider_unavailable' })
    expect(eventsOf('refresh_failed').map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/: A: too many requests; B: B is down$/),
      expect.stringMatching(/: A: .*backoff.* 12 min; B: B is down$/),
    ])
  })
})

async function expectOnePublication(timed: TimedResponse): Promise<number> {
  const { source, updatedAt, rates } = await timed.response.json()
  const index = NAMES.indexOf(source.name)
  expect(rates).toEqual({ USD: 1, EUR: index + 1, JPY: yenOf(index, updatedAt) })
  return updatedAt
}

/** Expects latest rates whose yen may be missing or from an earlier publication of the same provider. */
async function readPublication({ response }: TimedResponse, mostAhead: number) {
  const { source, updatedAt, rates, older = {} } = await response.json()
  const index = NAMES.indexOf(source.name)
  const hasYen = 'JPY' in rates
  const { JPY: statedAt = updatedAt } = older
  const yenAt = hasYen ? Math.round((rates.JPY % 1e10) * SECOND) : statedAt
  expect(rates).toEqual({ USD: 1, EUR: index + 1, ...(hasYen && { JPY: yenOf(index, yenAt) }) })
  // The stated time of a rate is that of its publication, or earlier where that was dated ahead.
  expect(statedAt).toBeLessThanOrEqual(Math.min(updatedAt, yenAt))
  expect(statedAt).toBeGreaterThanOrEqual(yenAt - mostAhead)
  const lastModified = Date.parse(response.headers.get('last-modified') ?? '')
  return { name: String(source.name), updatedAt: Number(updatedAt), lastModified, hasYen, statedAt }
}

describe('a chain with a cached table', () => {
  it.each(CHAINS)('serves and replaces it when they are %s, %s and %s', async (...conditions) => {
    const chain = startChain(['healthy', 'healthy', 'healthy'])
    expect(await expectOnePublication(await chain.request(LATEST))).toBe(START)
    await chain.runtime.advance(25 * HOUR)
    chain.conditions.splice(0, 3, ...conditions)
    // The second one has nothing as new as the cached table.
    chain.published.splice(0, 3, START + 24 * HOUR, START - HOUR, START + 23 * HOUR)
    chain.calls.length = 0
    const [first, second] = [await chain.request(LATEST), await chain.request(LATEST)]
    for (const timed of [first, second]) {
      expect(timed.waited).toBe(0)
      const { source, updatedAt } = await timed.response.clone().json()
      const isCached = updatedAt === START && source.name === 'A'
      expect(isCached || updatedAt > START).toBe(true)
      await expectOnePublication(timed)
    }
    await chain.runtime.advance(20 * SECOND)
    expect(chain.calls.toSorted()).toEqual([...new Set(chain.calls)].toSorted())
    const isUp = (index: number): boolean => /healthy|slow/.test(conditions[index] ?? '')
    const newest = isUp(0) ? START + 24 * HOUR : isUp(2) ? START + 23 * HOUR : START
    expect(await expectOnePublication(await chain.request(LATEST))).toBe(newest)
    // After recovery the next refresh loads from the first provider.
    chain.conditions.fill('healthy')
    chain.published[0] = START + 48 * HOUR
    await chain.runtime.advance(25 * HOUR)
    await chain.request(LATEST)
    await settled()
    expect(await expectOnePublication(await chain.request(LATEST))).toBe(START + 48 * HOUR)
    expect(chain.runtime.timers()).toBe(0)
  })

  // Publications are in the order of their times, those dated ahead in the order of their acceptance.
  it.each([0, 30])('never goes back nor mixes providers, up to %d h ahead', async (hoursAhead) => {
    const each = <Value>(value: fc.Arbitrary<Value>) => fc.tuple(...NAMES.map(() => value))
    const step = fc.record({
      conditions: each(fc.constantFrom(...CONDITIONS)),
      published: each(fc.integer({ min: -30, max: hoursAhead })),
      lacksYen: each(fc.boolean()),
      delay: fc.constantFrom(1_250, 3_000, 6_000, 600_000, 25 * HOUR),
    })
    const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const chain = startChain(['healthy', 'healthy', 'healthy'])
      async function read() {
        const sentAt = chain.runtime.now()
        const timed = await chain.request(LATEST)
        expect(timed.waited).toBe(0)
        return { ...(await readPublication(timed, hoursAhead * HOUR)), sentAt }
      }
      let last = await read()
      for (const { conditions, published, lacksYen, delay } of steps) {
        chain.conditions.splice(0, 3, ...conditions)
        const now = chain.runtime.now()
        chain.published.splice(0, 3, ...published.map((hours) => now + hours * HOUR))
        chain.lacksYen.splice(0, 3, ...lacksYen)
        const next = await read()
        const isOfSame = next.name === last.name
        // Another publication was accepted after the last request. The header has whole seconds.
        const isSame = isOfSame && next.updatedAt === last.updatedAt
        const earliest = isSame ? 0 : Math.min(next.updatedAt, last.sentAt) - SECOND + 1
        expect(next.lastModified).toBeGreaterThanOrEqual(Math.max(last.lastModified, earliest))
        expect(next.lastModified).toBeLessThanOrEqual(Math.min(next.updatedAt, now))
        const keepsYen = isOfSame && last.hasYen && now <= last.statedAt + 8 * 24 * HOUR
        expect(keepsYen && !next.hasYen).toBe(false)
        last = next
        await chain.runtime.advance(delay)
      }
      await chain.runtime.advance(20 * SECOND)
      expect(chain.runtime.timers()).toBe(0)
    })
    await fc.assert(property, { numRuns: 60 })
  })
})
