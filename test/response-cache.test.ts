import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../src/index.ts'
import type { RatesHandlerOptions, RawResponse } from '../src/index.ts'
import { addDays, toDay } from './fixtures/dates.ts'
import { market, openService } from './fixtures/service.ts'
import { DAY } from './virtual-runtime.ts'
import { bodyInOnePart, wholeBody } from './whole-body.ts'

const START = Date.UTC(2026, 10, 18, 18)

const WHOLE = '/api/v1/latest?base=EUR'
const EARLIER = '/api/rates?base=EUR'
const PAIR = '/api/v1/history?from=USD&to=JPY'
const HISTORY = `${PAIR}&period=5Y`
const LIST = `${PAIR},EUR&start=2026-10-20&end=2026-11-30&fill=previous`
const RANGE = `${PAIR}&start=2024-01-01`
const DATED = `${WHOLE}&date=2024-02-29`
const CONVERSION = '/api/v1/convert?from=USD&to=JPY&amount=5'

async function warmHandler(options: RatesHandlerOptions = {}, start = START) {
  const { handler, runtime } = openService({ start, ...options })
  await handler.refresh()
  return {
    handler,
    runtime,
    ask: async (target: string): Promise<RawResponse> =>
      handler.answer({ method: 'GET', target, header: () => undefined }),
  }
}

function headerOf({ headers }: RawResponse, wanted: string): string | undefined {
  return headers.find(([name]) => name === wanted)?.[1]
}

const textOf = ({ body }: RawResponse): Promise<string> => wholeBody(body)

const CODES =
  'AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF IDR ILS INR JPY KRW MXN NOK NZD PLN RON SEK SGD THB USD ZAR'.split(
    ' ',
  )
const BASES = CODES.map((code) => `/api/v1/latest?base=${code}`)
const PAIRS = ['EUR', 'USD', 'JPY'].flatMap((from) =>
  CODES.map((to) => `/api/v1/history?from=${from}&to=${to}`),
)

describe('a cached response', () => {
  it.each([WHOLE, HISTORY, CONVERSION])('needs no promise: %s', async (target) => {
    const { handler, ask } = await warmHandler()
    const first = await ask(target)
    const cached = handler.answer({ method: 'GET', target, header: () => undefined })
    expect(cached).not.toBeInstanceOf(Promise)
    expect(cached).toEqual(first)
  })

  it.each([
    [WHOLE, ['/api/v1/latest?base=eur', `${WHOLE}&_=1`, '/api/v1/latest?&&base=%45UR']],
    [EARLIER, ['/api/rates?base=eur', `${EARLIER}&junk=1`]],
    [HISTORY, ['/api/v1/history?period=5Y&to=jpy&from=usd', `${HISTORY}&_=5`]],
    ['/api/v1/latest', ['/api/v1/latest?', '/api/v1/latest?utm_source=1']],
    [PAIR, ['/api/v1/history?from=%55SD&to=jpy&v=1']],
    [
      `${RANGE}&end=2024-03-01&interval=week`,
      ['/api/v1/history?interval=week&end=2024-03-01&to=jpy&from=usd&start=2024-01-01&ts=1'],
    ],
    [DATED, ['/api/v1/latest?date=2024-02-29&base=eur']],
    ['/api/v1/latest?symbols=EUR,JPY', ['/api/v1/latest?symbols=%20eur,,JPY%20']],
    [CONVERSION, ['/api/v1/convert?amount=5&to=jpy&from=usd', `${CONVERSION}&_=1`]],
    ['/api/convert?from=USD&to=JPY', ['/api/convert?to=JPY&from=usd&junk=1']],
  ])('is the same for every spelling of %s', async (target, others) => {
    const { ask } = await warmHandler()
    // Bodies of which clients can request any number are cached at their second request.
    await ask(target)
    const first = await ask(target)
    for (const other of [target, ...others]) {
      const again = await ask(other)
      expect(again.body, other).toBe(first.body)
      expect(again.headers, other).toBe(first.headers)
    }
  })

  it('does not change when others are cached', async () => {
    const { ask } = await warmHandler()
    const cached: [response: RawResponse, text: string][] = []
    for (const to of CODES.slice(0, 8)) {
      const response = await ask(HISTORY.replace('JPY', to))
      expect(response.body).toBeInstanceOf(Uint8Array)
      cached.push([response, await textOf(response)])
    }
    for (const [response, text] of cached) expect(await textOf(response)).toBe(text)
  })

  it('has the current ttl of its data', async () => {
    const { ask, runtime } = await warmHandler()
    const first = await ask(WHOLE)
    runtime.setClock(START + 90_000)
    const later = await ask(WHOLE)
    expect(later.body).toBe(first.body)
    const ttl = (response: RawResponse): number =>
      Number(/ttl=(\d+)/.exec(headerOf(response, 'cache-status') ?? '')?.[1])
    expect(ttl(first) - ttl(later)).toBe(90)
    const others = ({ headers }: RawResponse) => headers.filter(([name]) => name !== 'cache-status')
    expect(others(later)).toEqual(others(first))
  })

  it('is dropped when the data change', async () => {
    const { handler, ask, runtime } = await warmHandler()
    const targets = [WHOLE, EARLIER, HISTORY, RANGE, LIST]
    const before = await Promise.all(targets.map(ask))
    runtime.setClock(START + DAY)
    await handler.refresh()
    const other = await warmHandler({}, START + DAY)
    for (const [index, target] of targets.entries()) {
      const after = await ask(target)
      expect(after.body, target).not.toEqual(before[index]?.body)
      expect(await textOf(after), target).toBe(await textOf(await other.ask(target)))
    }
  })

  const [tomorrow, later] = [toDay(START + DAY), toDay(START + 2 * DAY)]
  const none = RANGE.replace('2024-01-01', tomorrow)
  it.each([
    ...[HISTORY, `${HISTORY}&interval=week`, RANGE, `${RANGE}&end=2999-12-31`, LIST].map(
      (target) => [target, 200] as const,
    ),
    [none, 404] as const,
  ])('ends today, even if later days are cached: %s', async (target, status) => {
    const { latest, history } = market
    const rates = { USD: 2, JPY: 300 }
    const ahead: typeof history = {
      ...history,
      async fetchHistory(range, context) {
        const { base, days } = await history.fetchHistory(range, context)
        return { base, days: [...days, ...[tomorrow, later].map((date) => ({ date, rates }))] }
      },
    }
    const { ask, runtime } = await warmHandler({ providers: { latest, history: ahead } })
    expect((await ask(RANGE.replace('2024-01-01', later))).status).toBe(404)
    for (const before of [await ask(target), await ask(target)]) {
      expect(before.status).toBe(status)
      expect(status === 404 ? '' : await textOf(before)).not.toContain(tomorrow)
    }
    // Midnight in UTC, some hours before the next call of the provider.
    runtime.setClock(Date.parse(tomorrow))
    const after = await textOf(await ask(target))
    expect(after).toContain(tomorrow)
    expect(after).not.toContain(later)
  })
})

describe('the response cache', () => {
  it('keeps nothing at a size of 0, and the responses are the same', async () => {
    const { ask } = await warmHandler({ responseCacheBytes: 0 })
    const other = await warmHandler()
    for (const target of [WHOLE, EARLIER, HISTORY, RANGE, DATED]) {
      const [first, again] = [await ask(target), await ask(target)]
      expect(again.headers).not.toBe(first.headers)
      expect(again).toEqual(first)
      expect(await textOf(again)).toBe(await textOf(await other.ask(target)))
    }
  })

  it.each([
    ['latest rates', 1 / 32, BASES],
    ['days of the last five years', 1 / 16, PAIRS.map((pair) => `${pair}&start=2025-01-01`)],
    ['days of all years', 1 / 16, PAIRS.map((pair) => `${pair}&start=2004-01-01&interval=week`)],
    ['periods', 53 / 64, PAIRS.map((pair) => `${pair}&period=5Y`)],
  ])('limits responses about %s to a share of its bytes', async (_, share, targets) => {
    const responseCacheBytes = 2_097_152
    const { ask } = await warmHandler({ responseCacheBytes })
    // Each response counts as its body and 1 KiB.
    const made: { target: string; response: RawResponse; size: number }[] = []
    for (const target of targets) {
      await ask(target)
      const response = await ask(target)
      made.push({ target, response, size: (bodyInOnePart(response.body)?.length ?? 0) + 1_024 })
    }
    const largest = Math.max(...made.map(({ size }) => size))
    let kept = 0
    // Newest first: they are still cached, and the first miss would evict them.
    for (const { target, response, size } of made.toReversed()) {
      const again = await ask(target)
      expect(again).toEqual(response)
      if (again.headers !== response.headers) break
      kept += size
    }
    expect(kept).toBeLessThanOrEqual(responseCacheBytes * share)
    expect(kept).toBeGreaterThan(responseCacheBytes * share - largest)
  })

  it.each([
    ['amounts', (index: number) => CONVERSION + index],
    ['unversioned amounts', (index: number) => `/api/convert?from=USD&to=EUR&amount=${index}`],
    [
      'lists of symbols',
      (index: number) =>
        `/api/v1/latest?symbols=${CODES.filter((_, bit) => ((index + 1) >> bit) & 1).join()}`,
    ],
    ['days', (index: number) => `${WHOLE}&date=${addDays('2000-01-01', index)}`],
  ])('is not filled by %s that do not recur', async (_, targetOf) => {
    const { handler, ask } = await warmHandler()
    await ask(targetOf(0))
    const before = handler.inspect().responseCacheBytes
    for (let index = 1; index < 2_000; index += 1) await ask(targetOf(index))
    expect(handler.inspect().responseCacheBytes).toBe(before)
    await ask(targetOf(2_000))
    await ask(targetOf(2_000))
    expect(handler.inspect().responseCacheBytes).toBeGreaterThan(before)
  })

  it('keeps periods, tables and recent ranges while clients request many earlier days', async () => {
    const { ask } = await warmHandler({ responseCacheBytes: 1_048_576 })
    const targets = [HISTORY, WHOLE]
    for (const target of targets) await ask(target)
    const kept = await Promise.all(targets.map(ask))
    for (let day = 0; day < 10_000; day += 100) {
      const start = addDays('1999-01-04', day)
      await ask(RANGE.replace('2024-01-01', start))
      await ask(`${WHOLE}&date=${start}`)
    }
    expect((await ask(HISTORY)).headers).toBe(kept[0]?.headers)
    expect((await ask(WHOLE)).headers).toBe(kept[1]?.headers)
    const early = RANGE.replace('2024', '2004')
    const other = await warmHandler()
    await other.ask(early)
    const [first, second] = [await other.ask(RANGE), await other.ask(early)]
    for (let round = 0; round < 3; round += 1) {
      expect((await other.ask(RANGE)).headers).toBe(first.headers)
      expect((await other.ask(early)).headers).toBe(second.headers)
      expect((await other.ask(DATED)).status).toBe(200)
    }
  })

  it('renders a response again whose bytes were transferred', async () => {
    const { ask } = await warmHandler()
    const first = await ask(HISTORY)
    const text = await textOf(first)
    const { buffer } = first.body instanceof Uint8Array ? first.body : new Uint8Array()
    structuredClone(buffer, { transfer: [buffer] })
    expect(first.body).toHaveLength(0)
    const again = await ask(HISTORY)
    expect(await textOf(again)).toBe(text)
    expect(headerOf(again, 'etag')).toBe(headerOf(first, 'etag'))
  })

  it.each([-1, NaN])('cannot have a size of %s', (responseCacheBytes) => {
    expect(() => createRatesHandler({ responseCacheBytes })).toThrow(
      new RegExp(`^responseCacheBytes .*bytes.* ${responseCacheBytes}$`),
    )
  })
})
