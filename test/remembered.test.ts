import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../src/index.ts'
import type { Answer, RatesHandler, RatesHandlerOptions } from '../src/index.ts'
import { fakeProviders } from '../src/testing/index.ts'

const DAY = 86_400_000
const START = Date.UTC(2026, 10, 18, 18)

const WHOLE = '/api/v1/latest?base=EUR'
const EARLIER = '/api/rates?base=EUR'
const HISTORY = '/api/v1/history?from=USD&to=JPY&period=5Y'

/** A handler at a time that can be changed. */
async function handlerAt(options: RatesHandlerOptions = {}) {
  const clock = { now: START }
  const now = (): number => clock.now
  const handler = createRatesHandler({ providers: fakeProviders({ now }), now, ...options })
  await handler.refresh()
  return { handler, clock }
}

function ask(
  { answer }: Pick<RatesHandler, 'answer'>,
  target: string,
  { method = 'GET', ifNoneMatch }: { method?: string; ifNoneMatch?: string } = {},
): Promise<Answer> {
  const header = (name: string) => (name === 'if-none-match' ? ifNoneMatch : undefined)
  return answer({ method, target, header })
}

function headerOf({ headers }: Answer, wanted: string): string | undefined {
  return headers.find(([name]) => name === wanted)?.[1]
}

function textOf({ body }: Answer): Promise<string> {
  return new Response(body).text()
}

describe('a remembered answer', () => {
  it.each([
    [WHOLE, ['/api/v1/latest?base=eur', `${WHOLE}&junk=1`, '/api/v1/latest?symbols=&base=%45UR']],
    [EARLIER, ['/api/rates?base=eur', `${EARLIER}&junk=1`]],
    [HISTORY, ['/api/v1/history?period=5Y&to=jpy&from=usd', `${HISTORY}&_=5`]],
    ['/api/v1/latest', ['/api/v1/latest?base=USD', '/api/v1/latest?']],
    ['/api/v1/history?from=USD&to=JPY', ['/api/v1/history?from=USD&to=JPY&period=1M']],
    [
      '/api/v1/latest?symbols=EUR,JPY',
      ['/api/v1/latest?symbols=jpy,EUR,,eur', '/api/v1/latest?symbols=%20JPY,EUR&base=usd'],
    ],
  ])('is the same for every way to ask for %s', async (target, others) => {
    const { handler } = await handlerAt()
    const first = await ask(handler, target)
    for (const other of [target, ...others]) {
      const again = await ask(handler, other)
      expect(again.body, other).toBe(first.body)
      expect(again.headers, other).toBe(first.headers)
    }
  })

  it('is no answer to another question', async () => {
    const { handler } = await handlerAt()
    const targets = [
      WHOLE,
      EARLIER,
      HISTORY,
      '/api/v1/latest',
      '/api/rates',
      '/api/v1/latest?base=EUR&symbols=USD',
      '/api/v1/latest?base=USD&symbols=EUR',
      '/api/v1/history?from=JPY&to=USD&period=5Y',
      '/api/v1/history?from=USD&to=JPY&period=1Y',
    ]
    for (let round = 0; round < 2; round += 1) {
      const answers = await Promise.all(targets.map((target) => ask(handler, target)))
      expect(new Set(answers.map(({ body }) => body)).size).toBe(targets.length)
      expect(new Set(answers.map((answer) => headerOf(answer, 'etag'))).size).toBe(targets.length)
    }
  })

  it.each([WHOLE, HISTORY])('is used for HEAD and 304 of %s', async (target) => {
    const { handler } = await handlerAt()
    const whole = await ask(handler, target)
    expect(await ask(handler, target, { method: 'HEAD' })).toEqual({ ...whole, body: null })
    const ifNoneMatch = headerOf(whole, 'etag') ?? ''
    const known = await ask(handler, target, { ifNoneMatch })
    const headers = whole.headers.filter(([name]) => name !== 'content-length')
    expect(known).toEqual({ ...whole, headers, status: 304, body: null })
  })

  it('tells the age of its data anew', async () => {
    const { handler, clock } = await handlerAt()
    const first = await ask(handler, WHOLE)
    clock.now += 90_000
    const later = await ask(handler, WHOLE)
    expect(later.body).toBe(first.body)
    const ttl = (answer: Answer): number =>
      Number(/ttl=(\d+)/.exec(headerOf(answer, 'cache-status') ?? '')?.[1])
    expect(ttl(first) - ttl(later)).toBe(90)
    const others = ({ headers }: Answer) => headers.filter(([name]) => name !== 'cache-status')
    expect(others(later)).toEqual(others(first))
  })

  it('is forgotten when the data change', async () => {
    const { handler, clock } = await handlerAt()
    const before = await Promise.all(
      [WHOLE, EARLIER, HISTORY].map((target) => ask(handler, target)),
    )
    clock.now += DAY
    await handler.refresh()
    const { handler: other } = await handlerAt({ now: () => clock.now, providers: fakeProviders() })
    for (const [index, target] of [WHOLE, EARLIER, HISTORY].entries()) {
      const after = await ask(handler, target)
      expect(after.body, target).not.toEqual(before[index]?.body)
      expect(await textOf(after), target).toBe(await textOf(await ask(other, target)))
    }
  })

  it('ends today, whatever else is held', async () => {
    const { history } = fakeProviders()
    const tomorrow = new Date(START + DAY).toISOString().slice(0, 10)
    const ahead: typeof history = {
      ...history,
      async fetchHistory(range, context) {
        const { base, days } = await history.fetchHistory(range, context)
        return { base, days: [...days, { date: tomorrow, rates: { USD: 2, JPY: 300 } }] }
      },
    }
    const { latest } = fakeProviders()
    let now = START
    const { handler } = await handlerAt({ providers: { latest, history: ahead }, now: () => now })
    const today = await textOf(await ask(handler, HISTORY))
    expect(today).not.toContain(tomorrow)
    // Midnight in UTC, some hours before the provider is asked again.
    now = Date.parse(tomorrow)
    expect(await textOf(await ask(handler, HISTORY))).toContain(tomorrow)
  })
})

describe('the memory', () => {
  it('keeps no conversion, whose text is the record as JSON', async () => {
    const { handler } = await handlerAt()
    const target = '/api/v1/convert?from=USD&to=EUR&amount=12.5'
    const [one, other] = [await ask(handler, target), await ask(handler, target)]
    expect(other).toEqual(one)
    const record = await handler.rates.convert({ from: 'USD', to: 'EUR', amount: 12.5 })
    expect(one.body).toBe(JSON.stringify(record))
    expect(other.headers).not.toBe(one.headers)
  })

  it('keeps nothing where it may not, and answers the same', async () => {
    const { handler } = await handlerAt({ memory: 0 })
    const { handler: other } = await handlerAt()
    for (const target of [WHOLE, EARLIER, HISTORY]) {
      const first = await ask(handler, target)
      const again = await ask(handler, target)
      expect(again.headers).not.toBe(first.headers)
      expect(again).toEqual(first)
      expect(await textOf(again)).toBe(await textOf(await ask(other, target)))
    }
  })

  it('lets histories go for others, where it is small', async () => {
    const { handler } = await handlerAt({ memory: 300_000 })
    const first = await ask(handler, HISTORY)
    for (const to of ['GBP', 'CHF', 'SEK', 'NOK', 'PLN', 'CZK', 'HUF']) {
      await ask(handler, HISTORY.replace('JPY', to))
    }
    const again = await ask(handler, HISTORY)
    expect(again.headers).not.toBe(first.headers)
    expect(again).toEqual(first)
  })

  it('keeps whole tables, however many lists of symbols are asked for', async () => {
    const { handler } = await handlerAt({ memory: 1_048_576 })
    const codes = Object.keys((await handler.rates.latest()).rates)
    const first = await ask(handler, WHOLE)
    for (let index = 0; index < 5_000; index += 1) {
      const symbols = codes.filter((_, each) => (index * 7_919) & (1 << (each % 31))).join()
      await ask(handler, `/api/v1/latest?symbols=${symbols}`)
      if (index % 10 === 0) await ask(handler, WHOLE)
    }
    expect((await ask(handler, WHOLE)).headers).toBe(first.headers)
  })

  it('makes anew what somebody has taken the bytes from', async () => {
    const { handler } = await handlerAt()
    const first = await ask(handler, HISTORY)
    const text = await textOf(first)
    if (first.body instanceof Uint8Array)
      structuredClone(first.body, { transfer: [first.body.buffer] })
    expect(first.body).toHaveLength(0)
    const again = await ask(handler, HISTORY)
    expect(await textOf(again)).toBe(text)
    expect(headerOf(again, 'etag')).toBe(headerOf(first, 'etag'))
  })

  it.each([-1, NaN])('refuses %s', (memory) => {
    expect(() => createRatesHandler({ memory })).toThrow('memory must be a number of bytes')
  })
})
