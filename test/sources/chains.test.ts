import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { createHandlerOn } from '../../src/handler.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { DataSet, RatesEvent } from '../../src/index.ts'
import { listenersLeftBy, settled, virtualRuntime } from '../virtual-runtime.ts'
import { CONDITIONS, HOUR, SECOND, START, startChain, yenOf } from './chain.ts'
import type { Chain, ChainAnswer, Condition } from './chain.ts'

/** Every chain of three. */
const CHAINS: readonly Condition[][] = CONDITIONS.flatMap((a) =>
  CONDITIONS.flatMap((b) => CONDITIONS.map((c) => [a, b, c])),
)

const LATEST = '/v1/latest'
const HISTORY = '/v1/history?from=EUR&to=USD&period=1W'

const NAMES = ['A', 'B', 'C']

/**
 * Who is to answer a cold question: the first healthy one, else the first slow one. Only two that are stuck leave one that
 * takes 3 s no time to answer within 5 s.
 */
function expectedOf(chain: readonly Condition[]): string | undefined {
  const index = chain.includes('healthy') ? chain.indexOf('healthy') : chain.indexOf('slow')
  const isTooLate = chain.join() === 'stuck,stuck,slow'
  return isTooLate ? undefined : NAMES[index]
}

/** Whose answer it must be, and how soon: at once, after two head starts of 1.25 s, or at all. */
async function expectAnswerOf(
  name: string,
  conditions: readonly Condition[],
  { response, waited }: ChainAnswer,
): Promise<void> {
  expect(response.status).toBe(200)
  const { source, rates, points } = await response.json()
  expect(source).toEqual({ name, url: `https://${name.toLowerCase()}.example` })
  expect(rates?.EUR ?? points[0].r).toBe(NAMES.indexOf(name) + 1)
  const isHealthy = conditions.includes('healthy')
  const longest = conditions[0] === 'healthy' ? 0 : isHealthy ? 2_500 : 5_000
  expect(waited).toBeLessThanOrEqual(longest)
}

function expectNoAnswer({ response, waited }: ChainAnswer): void {
  expect(response.status).toBe(502)
  expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d{0,2}$/)
  expect(waited).toBeLessThanOrEqual(5 * SECOND)
}

/** Expects one call of each provider with one outcome, and no timer. */
function expectNothingLeft({ runtime, events, calls }: Chain, dataSet: DataSet): void {
  const asked = events.flatMap((event) =>
    event.type === 'upstream_request' && event.dataSet === dataSet ? [event.provider] : [],
  )
  expect(asked).toEqual(calls)
  const types = (provider: string): string[] =>
    events.flatMap((event) => {
      const isOf = 'provider' in event && event.provider === provider && event.dataSet === dataSet
      return isOf ? [event.type] : []
    })
  for (const name of calls) expect(types(name)).toEqual(['upstream_request', expect.any(String)])
  expect(runtime.timers()).toBe(0)
}

describe.each([
  { dataSet: 'latest', target: LATEST },
  { dataSet: 'history', target: HISTORY },
] as const)('a chain of three for $dataSet', ({ dataSet, target }) => {
  it.each(CHAINS)('answers from the best when they are %s, %s and %s', async (...conditions) => {
    const expected = expectedOf(conditions)
    const chain = startChain(conditions)
    const left = await listenersLeftBy(async () => {
      const answer = await chain.ask(target)
      if (expected === undefined) {
        expectNoAnswer(answer)
      } else {
        await expectAnswerOf(expected, conditions, answer)
      }
      await chain.runtime.advance(20 * SECOND)
    })
    expect(left).toBe(0)
    expectNothingLeft(chain, dataSet)
    const failed = chain.events.filter(({ type }) => type === 'refresh_failed')
    const isAnswered = conditions.some((each) => each === 'healthy' || each === 'slow')
    expect(failed).toHaveLength(isAnswered ? 0 : 1)
  })
})

describe('a chain of providers', () => {
  it('gives the next its turn when one has not answered within its head start', async () => {
    const { ask, events } = startChain(['stuck', 'slow', 'healthy'])
    expect((await ask(LATEST)).waited).toBe(2_500)
    await settled()
    const ends = events.flatMap((event) =>
      'elapsed' in event ? [`${event.provider} ${event.elapsed}`] : [],
    )
    expect(ends).toEqual(['C 0', 'A 2500', 'B 1250'])
  })

  it('ends the calls of the others, which get no pause', async () => {
    const { ask, events, runtime, conditions, calls } = startChain(['stuck', 'dead', 'healthy'])
    await ask(LATEST)
    const reason = 'another provider answered first'
    const ended = { type: 'upstream_failed', provider: 'A', elapsed: 1_250, reason }
    expect(events).toContainEqual(expect.objectContaining(ended))
    conditions[0] = 'healthy'
    await runtime.advance(25 * HOUR)
    await ask(LATEST)
    await settled()
    expect(calls).toEqual(['A', 'B', 'C', 'A'])
  })

  it('keeps to its order while no caller waits, for as long as a call may take', async () => {
    const { ask, runtime, conditions, calls } = startChain(['healthy', 'healthy', 'healthy'])
    await ask(LATEST)
    conditions[0] = 'slow'
    await runtime.advance(25 * HOUR)
    expect((await ask(LATEST)).waited).toBe(0)
    await runtime.advance(4 * SECOND)
    expect(calls).toEqual(['A', 'A'])
    conditions[0] = 'stuck'
    await runtime.advance(25 * HOUR)
    expect((await ask(LATEST)).waited).toBe(0)
    await runtime.advance(4_900)
    expect(calls).toEqual(['A', 'A', 'A'])
    await runtime.advance(200)
    expect(calls).toEqual(['A', 'A', 'A', 'B'])
    expect((await (await ask(LATEST)).response.json()).source.name).toBe('B')
  })

  it('says of every provider why there is nothing, and never in an answer', async () => {
    const { ask, events, handler } = startChain(['dead', 'lying', 'stuck'])
    const { response } = await ask(LATEST)
    expect(await response.text()).not.toMatch(/is down|updatedAt|5000/)
    const reason =
      'no provider has a good answer: A: A is down; B: updatedAt is not a time in ms; C: timed out after 5000 ms'
    const failed = { type: 'refresh_failed', dataSet: 'latest', reason }
    expect(events).toContainEqual(expect.objectContaining(failed))
    handler.close()
  })

  it('names every provider in a reason of at most 300 characters', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `Provider ${index}`)
    let reason = ''
    const latest = names.map((name) => ({
      attribution: { name, url: 'https://rates.example' },
      fetchLatest: () => Promise.reject(new Error('x'.repeat(1_000))),
    }))
    const onEvent = (event: RatesEvent) => void ('reason' in event && (reason = event.reason))
    await createRatesHandler({ providers: { latest }, onEvent, fetch: () => Promise.reject() })
      .rates.latest()
      .catch(() => {})
    expect(reason.length).toBeLessThanOrEqual(300)
    expect(names.filter((name) => !reason.includes(`${name}: xxx`))).toEqual([])
  })

  it('passes over a provider that asks for a pause, and reports it', async () => {
    const refused = Object.assign(new Error('too many questions'), { retryAfterMs: 12 * 60_000 })
    const runtime = virtualRuntime(START)
    const reasons: string[] = []
    let isRefused = true
    const providers = ['A', 'B'].map((name) => ({
      attribution: { name, url: 'https://rates.example' },
      async fetchLatest() {
        if (name === 'B') throw new Error('B is down')
        throw isRefused ? refused : new Error('must not be asked')
      },
    }))
    const handler = createHandlerOn(() => runtime, {
      now: runtime.now,
      providers: { latest: providers },
      onEvent: (event) => void (event.type === 'refresh_failed' && reasons.push(event.reason)),
    })
    await expect(handler.rates.latest()).rejects.toMatchObject({ retryAfter: 1 })
    isRefused = false
    await runtime.advance(2 * SECOND)
    await expect(handler.rates.latest()).rejects.toMatchObject({ code: 'provider_unavailable' })
    expect(reasons).toEqual([
      'no provider has a good answer: A: too many questions; B: B is down',
      'no provider has a good answer: A: left alone for 12 min; B: B is down',
    ])
  })

  it.each(NAMES)('names %s everywhere when that is the one that answered', async (name) => {
    const conditions = NAMES.map((each): Condition => (each === name ? 'healthy' : 'dead'))
    const { ask } = startChain(conditions)
    const url = `https://${name.toLowerCase()}.example`
    const source = { name, url }
    const read = async (target: string): Promise<unknown> => (await ask(target)).response.json()
    for (const target of [LATEST, '/v1/convert?from=USD&to=EUR', HISTORY]) {
      expect(await read(target), target).toMatchObject({ source })
    }
    expect(await read('/v1/status')).toMatchObject({ latest: { source }, history: { source } })
    for (const target of ['/rates', '/convert?from=USD&to=EUR']) {
      expect(await read(target), target).toMatchObject({ provider: `${name} (${url})` })
    }
    for (const target of [`${LATEST}?format=csv`, '/rates?format=csv', `${HISTORY}&format=csv`]) {
      const { response } = await ask(target)
      expect(response.headers.get('link'), target).toContain(`<${url}/>`)
      expect(await response.text(), target).toContain(name)
    }
  })
})

/** Latest rates that show whose publication they are: see `startChain`. */
async function expectOnePublication(answer: ChainAnswer): Promise<number> {
  const { source, updatedAt, rates } = await answer.response.json()
  const index = NAMES.indexOf(source.name)
  expect(rates).toEqual({ USD: 1, EUR: index + 1, JPY: yenOf(index, updatedAt) })
  return updatedAt
}

/** Latest rates whose yen may be from an earlier publication of the same provider, or missing. */
async function readPublication({ response }: ChainAnswer, mostAhead: number) {
  const { source, updatedAt, rates, older = {} } = await response.json()
  const index = NAMES.indexOf(source.name)
  const hasYen = 'JPY' in rates
  const { JPY: statedAt = updatedAt } = older
  const yenAt = hasYen ? Math.round((rates.JPY % 1e10) * SECOND) : statedAt
  expect(rates).toEqual({ USD: 1, EUR: index + 1, ...(hasYen && { JPY: yenOf(index, yenAt) }) })
  // No rate is stated to be newer than its publication, nor older, unless that was dated ahead.
  expect(statedAt).toBeLessThanOrEqual(Math.min(updatedAt, yenAt))
  expect(statedAt).toBeGreaterThanOrEqual(yenAt - mostAhead)
  const lastModified = Date.parse(response.headers.get('last-modified') ?? '')
  return { name: String(source.name), updatedAt: Number(updatedAt), lastModified, hasYen, statedAt }
}

describe('a chain that holds a table', () => {
  it.each(CHAINS)('goes on from it when they are %s, %s and %s', async (...conditions) => {
    const chain = startChain(['healthy', 'healthy', 'healthy'])
    expect(await expectOnePublication(await chain.ask(LATEST))).toBe(START)
    await chain.runtime.advance(25 * HOUR)
    chain.conditions.splice(0, 3, ...conditions)
    // The second has nothing that is as new as what is held.
    chain.published.splice(0, 3, START + 24 * HOUR, START - HOUR, START + 23 * HOUR)
    chain.calls.length = 0
    const [held, meanwhile] = [await chain.ask(LATEST), await chain.ask(LATEST)]
    for (const answer of [held, meanwhile]) {
      expect(answer.waited).toBe(0)
      const { source, updatedAt } = await answer.response.clone().json()
      const isHeld = updatedAt === START && source.name === 'A'
      expect(isHeld || updatedAt > START).toBe(true)
      await expectOnePublication(answer)
    }
    await chain.runtime.advance(20 * SECOND)
    expect(chain.calls.toSorted()).toEqual([...new Set(chain.calls)].toSorted())
    const isUp = (index: number): boolean => /healthy|slow/.test(conditions[index] ?? '')
    const newest = isUp(0) ? START + 24 * HOUR : isUp(2) ? START + 23 * HOUR : START
    expect(await expectOnePublication(await chain.ask(LATEST))).toBe(newest)
    // All is well again: the next refresh brings what the first has.
    chain.conditions.fill('healthy')
    chain.published[0] = START + 48 * HOUR
    await chain.runtime.advance(25 * HOUR)
    await chain.ask(LATEST)
    await settled()
    expect(await expectOnePublication(await chain.ask(LATEST))).toBe(START + 48 * HOUR)
    expect(chain.runtime.timers()).toBe(0)
  })

  // Publications are in the order of their times, those dated ahead in the order of their acceptance.
  it.each([0, 30])(
    'never goes back in time nor mixes providers, in any order of responses dated up to %d h ahead',
    async (hoursAhead) => {
      const each = <Value>(value: fc.Arbitrary<Value>) => fc.tuple(...NAMES.map(() => value))
      const step = fc.record({
        conditions: each(fc.constantFrom(...CONDITIONS)),
        published: each(fc.integer({ min: -30, max: hoursAhead })),
        lacksYen: each(fc.boolean()),
        pause: fc.constantFrom(1_250, 3_000, 6_000, 600_000, 25 * HOUR),
      })
      const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const chain = startChain(['healthy', 'healthy', 'healthy'])
        async function read() {
          const askedAt = chain.runtime.now()
          const answer = await chain.ask(LATEST)
          expect(answer.waited).toBe(0)
          return { ...(await readPublication(answer, hoursAhead * HOUR)), askedAt }
        }
        let last = await read()
        for (const { conditions, published, lacksYen, pause } of steps) {
          chain.conditions.splice(0, 3, ...conditions)
          const now = chain.runtime.now()
          chain.published.splice(0, 3, ...published.map((hours) => now + hours * HOUR))
          chain.lacksYen.splice(0, 3, ...lacksYen)
          const next = await read()
          const isOfSame = next.name === last.name
          // Another publication was accepted after the last question. The header has whole seconds.
          const isSame = isOfSame && next.updatedAt === last.updatedAt
          const earliest = isSame ? 0 : Math.min(next.updatedAt, last.askedAt) - SECOND + 1
          expect(next.lastModified).toBeGreaterThanOrEqual(Math.max(last.lastModified, earliest))
          expect(next.lastModified).toBeLessThanOrEqual(Math.min(next.updatedAt, now))
          const keepsYen = isOfSame && last.hasYen && now <= last.statedAt + 8 * 24 * HOUR
          expect(keepsYen && !next.hasYen).toBe(false)
          last = next
          await chain.runtime.advance(pause)
        }
        await chain.runtime.advance(20 * SECOND)
        expect(chain.runtime.timers()).toBe(0)
      })
      await fc.assert(property, { numRuns: 100 })
    },
  )
})
