import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../src/index.ts'
import type { RatesHandler, RatesHandlerOptions, RawResponse } from '../src/index.ts'
import { addDays, toDay } from './fixtures/dates.ts'
import { market, openService } from './fixtures/service.ts'
import { DAY } from './virtual-runtime.ts'
import { bodyInOnePart, wholeBody } from './whole-body.ts'

const START = Date.UTC(2026, 10, 18, 18)

const WHOLE = '/api/v1/latest?base=EUR'
const EARLIER = '/api/rates?base=EUR'
const PAIR = '/api/v1/history?from=USD&to=JPY'
const HISTORY = `${PAIR}&period=5Y`
const WEEKS = `${PAIR}&interval=week`
const FILLED = `${PAIR}&fill=previous`
const LIST = `${PAIR},EUR&start=2026-10-20&end=2026-11-30&fill=previous`
const RANGE = `${PAIR}&start=2024-01-01`
const DATED = `${WHOLE}&date=2024-02-29`
const CONVERSION = '/api/v1/convert?from=USD&to=JPY&amount=5'

/** Creates a handler with the data of the synthetic market. */
async function warmHandler(options: RatesHandlerOptions = {}, start = START) {
  const { handler, runtime } = openService({ start, ...options })
  await handler.refresh()
  return { handler, runtime }
}

async function request(
  { answer }: RatesHandler,
  target: string,
  method = 'GET',
  ifNoneMatch = '',
): Promise<RawResponse> {
  const header = (name: string) => (name === 'if-none-match' ? ifNoneMatch : undefined)
  return answer({ method, target, header })
}

function headerOf({ headers }: RawResponse, wanted: string): string | undefined {
  return headers.find(([name]) => name === wanted)?.[1]
}

function textOf({ body }: RawResponse): Promise<string> {
  return wholeBody(body)
}

const CODES =
  'AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF IDR ILS INR JPY KRW MXN NOK NZD PLN RON SEK SGD THB USD ZAR'

const BASES = CODES.split(' ').map((code) => `/api/v1/latest?base=${code}`)

const PAIRS = ['EUR', 'USD', 'JPY'].flatMap((from) =>
  CODES.split(' ').map((to) => `/api/v1/history?from=${from}&to=${to}`),
)

/** Returns a list of codes, another set of them for each number. */
function listOf(index: number): string {
  return CODES.split(' ')
    .filter((_, bit) => ((index + 1) >> bit) & 1)
    .join()
}

describe('a cached response', () => {
  it.each([WHOLE, HISTORY, CONVERSION])('needs no promise: %s', async (target) => {
    const { handler } = await warmHandler()
    const first = await request(handler, target)
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
    const { handler } = await warmHandler()
    // Bodies of which clients can request any number are cached at their second request.
    await request(handler, target)
    const first = await request(handler, target)
    for (const other of [target, ...others]) {
      const again = await request(handler, other)
      expect(again.body, other).toBe(first.body)
      expect(again.headers, other).toBe(first.headers)
    }
  })

  it('is not used for other requests', async () => {
    const { handler } = await warmHandler()
    const ends = (start: string, texts: string) => texts.split(' ').map((end) => start + end)
    const days = ['01', '04', '01&symbols=USD', '01&format=csv'].map((end) => `2024-03-${end}`)
    const targets = [
      ...ends('/api/v1/latest', ' ?base=EUR&symbols=USD ?base=USD&symbols=EUR ?date=2024-03-01'),
      ...ends(`${WHOLE}&date=2024-06-30&rule=`, 'next period-end on-or-before'),
      ...ends(WHOLE, ' &date=2004-03-04'),
      '/api/rates',
      EARLIER,
      ...days.map((day) => `${WHOLE}&date=${day}`),
      ...ends('/api/v1/history?from=', 'JPY&to=USD&period=5Y USD&to=EUR USD&to=EUR,JPY'),
      ...ends(PAIR, ' , ,EUR ,EUR&period=3M ,EUR&fill=previous &period=5Y &value=last &format=csv'),
      ...ends(`${PAIR}&period=1Y`, ' &interval=day &interval=week'),
      ...ends(`${PAIR}&interval=`, 'day week quarter year day&value=last'),
      ...ends(`${WEEKS}&value=`, 'last average open high low'),
      ...ends(FILLED, ' &interval=day&value=last'),
      ...['', '&layout=wide'].flatMap((layout) => [
        `${PAIR}&fill=previous&format=csv${layout}`,
        `${PAIR},EUR&format=csv${layout}`,
        `${PAIR},EUR&format=csv&fill=previous${layout}`,
      ]),
      `${PAIR}&format=csv&layout=wide`,
      ...ends(RANGE, ' &interval=day &interval=month &interval=month&format=csv &end=2025-01-01'),
      `${PAIR}&start=2024-01-02`,
      ...ends(CONVERSION, ' 0 &reverse=true &round=minor &date=2024-03-01 &format=csv'),
      CONVERSION.replace('/v1', ''),
      CONVERSION.replace('JPY', 'EUR'),
      CONVERSION.replace('JPY', 'JPY,EUR'),
    ]
    for (let round = 0; round < 3; round += 1) {
      const responses = await Promise.all(targets.map((target) => request(handler, target)))
      const tags = responses.map((response) => headerOf(response, 'etag'))
      expect(new Set(responses.map(({ body }) => body)).size).toBe(targets.length)
      expect(new Set(tags).size).toBe(targets.length)
    }
  })

  it('does not change when others are cached', async () => {
    const { handler } = await warmHandler()
    const cached: [response: RawResponse, text: string][] = []
    for (const to of ['JPY', 'GBP', 'CHF', 'SEK', 'NOK', 'PLN', 'CZK', 'HUF']) {
      const response = await request(handler, HISTORY.replace('JPY', to))
      expect(response.body).toBeInstanceOf(Uint8Array)
      cached.push([response, await textOf(response)])
    }
    for (const [response, text] of cached) expect(await textOf(response)).toBe(text)
  })

  it('has the current ttl of its data', async () => {
    const { handler, runtime } = await warmHandler()
    const first = await request(handler, WHOLE)
    runtime.setClock(START + 90_000)
    const later = await request(handler, WHOLE)
    expect(later.body).toBe(first.body)
    const ttl = (response: RawResponse): number =>
      Number(/ttl=(\d+)/.exec(headerOf(response, 'cache-status') ?? '')?.[1])
    expect(ttl(first) - ttl(later)).toBe(90)
    const others = ({ headers }: RawResponse) => headers.filter(([name]) => name !== 'cache-status')
    expect(others(later)).toEqual(others(first))
  })

  it('is dropped when the data change', async () => {
    const { handler, runtime } = await warmHandler()
    const targets = [WHOLE, EARLIER, HISTORY, RANGE, LIST]
    const before = await Promise.all(targets.map((target) => request(handler, target)))
    runtime.setClock(START + DAY)
    await handler.refresh()
    const { handler: other } = await warmHandler({}, START + DAY)
    for (const [index, target] of targets.entries()) {
      const after = await request(handler, target)
      expect(after.body, target).not.toEqual(before[index]?.body)
      expect(await textOf(after), target).toBe(await textOf(await request(other, target)))
    }
  })

  it('ends today, even if later days are cached', async () => {
    const { latest, history } = market
    const [tomorrow, later] = [toDay(START + DAY), toDay(START + 2 * DAY)]
    const rates = { USD: 2, JPY: 300 }
    const ahead: typeof history = {
      ...history,
      async fetchHistory(range, context) {
        const { base, days } = await history.fetchHistory(range, context)
        return { base, days: [...days, ...[tomorrow, later].map((date) => ({ date, rates }))] }
      },
    }
    const none = RANGE.replace('2024-01-01', tomorrow)
    const beyond = `${RANGE}&end=2999-12-31`
    // With a handler for each: the cache is cleared by a request on another day.
    for (const target of [HISTORY, `${HISTORY}&interval=week`, RANGE, beyond, LIST, none]) {
      const { handler, runtime } = await warmHandler({ providers: { latest, history: ahead } })
      const ofLater = await request(handler, RANGE.replace('2024-01-01', later))
      expect(ofLater.status).toBe(404)
      const before = [await request(handler, target), await request(handler, target)]
      const status = target === none ? 404 : 200
      expect(before.map((response) => response.status)).toEqual([status, status])
      const texts = before.filter((response) => response.status === 200).map(textOf)
      expect((await Promise.all(texts)).join(), target).not.toContain(tomorrow)
      // Midnight in UTC, some hours before the next call of the provider.
      runtime.setClock(Date.parse(tomorrow))
      const after = await textOf(await request(handler, target))
      expect(after, target).toContain(tomorrow)
      expect(after, target).not.toContain(later)
    }
  })
})

describe('the response cache', () => {
  it('keeps nothing at a size of 0, and the responses are the same', async () => {
    const { handler } = await warmHandler({ responseCacheBytes: 0 })
    const { handler: other } = await warmHandler()
    for (const target of [WHOLE, EARLIER, HISTORY, RANGE, DATED]) {
      const first = await request(handler, target)
      const again = await request(handler, target)
      expect(again.headers).not.toBe(first.headers)
      expect(again).toEqual(first)
      expect(await textOf(again)).toBe(await textOf(await request(other, target)))
    }
  })

  it.each([
    ['latest rates', 1 / 32, BASES],
    ['days of the last five years', 1 / 16, PAIRS.map((pair) => `${pair}&start=2025-01-01`)],
    ['days of all years', 1 / 16, PAIRS.map((pair) => `${pair}&start=2004-01-01&interval=week`)],
    ['periods', 53 / 64, PAIRS.map((pair) => `${pair}&period=5Y`)],
  ])('limits responses about %s to a share of its bytes', async (_, share, targets) => {
    const responseCacheBytes = 2_097_152
    const { handler } = await warmHandler({ responseCacheBytes })
    // Each response counts as its body and 1 KiB.
    const made: { target: string; response: RawResponse; size: number }[] = []
    for (const target of targets) {
      await request(handler, target)
      const response = await request(handler, target)
      made.push({ target, response, size: (bodyInOnePart(response.body)?.length ?? 0) + 1_024 })
    }
    const largest = Math.max(...made.map(({ size }) => size))
    let kept = 0
    // Newest first: they are still cached, and the first miss would evict them.
    for (const { target, response, size } of made.toReversed()) {
      const again = await request(handler, target)
      expect(again).toEqual(response)
      if (again.headers !== response.headers) break
      kept += size
    }
    expect(kept).toBeLessThanOrEqual(responseCacheBytes * share)
    expect(kept).toBeGreaterThan(responseCacheBytes * share - largest)
  })

  it.each([
    ['amounts', (index: number) => CONVERSION + index],
    [
      'amounts of the unversioned endpoint',
      (index: number) => `/api/convert?from=USD&to=EUR&amount=${index}`,
    ],
    ['lists of symbols', (index: number) => `/api/v1/latest?symbols=${listOf(index)}`],
    ['days', (index: number) => `${WHOLE}&date=${addDays('2000-01-01', index)}`],
  ])('is not filled by %s that do not recur', async (_, targetOf) => {
    const { handler } = await warmHandler()
    await request(handler, targetOf(0))
    const before = handler.inspect().responseCacheBytes
    for (let index = 1; index < 2_000; index += 1) await request(handler, targetOf(index))
    expect(handler.inspect().responseCacheBytes).toBe(before)
    await request(handler, targetOf(2_000))
    await request(handler, targetOf(2_000))
    expect(handler.inspect().responseCacheBytes).toBeGreaterThan(before)
  })

  it('keeps periods and tables while clients request many days and ranges', async () => {
    const { handler } = await warmHandler({ responseCacheBytes: 1_048_576 })
    await request(handler, WHOLE)
    const [first, table] = [await request(handler, HISTORY), await request(handler, WHOLE)]
    for (let day = 0; day < 10_000; day += 100) {
      const start = addDays('1999-01-04', day)
      await request(handler, RANGE.replace('2024-01-01', start))
      await request(handler, `${WHOLE}&date=${start}`)
    }
    expect((await request(handler, HISTORY)).headers).toBe(first.headers)
    expect((await request(handler, WHOLE)).headers).toBe(table.headers)
  })

  it('keeps ranges of the last years while clients request earlier ones', async () => {
    const { handler } = await warmHandler()
    const early = RANGE.replace('2024', '2004')
    await request(handler, early)
    const [first, second] = [await request(handler, RANGE), await request(handler, early)]
    for (let round = 0; round < 3; round += 1) {
      expect((await request(handler, RANGE)).headers).toBe(first.headers)
      expect((await request(handler, early)).headers).toBe(second.headers)
      expect((await request(handler, DATED)).status).toBe(200)
    }
  })

  it('renders a response again whose bytes were transferred', async () => {
    const { handler } = await warmHandler()
    const first = await request(handler, HISTORY)
    const text = await textOf(first)
    const { buffer } = first.body instanceof Uint8Array ? first.body : new Uint8Array()
    structuredClone(buffer, { transfer: [buffer] })
    expect(first.body).toHaveLength(0)
    const again = await request(handler, HISTORY)
    expect(await textOf(again)).toBe(text)
    expect(headerOf(again, 'etag')).toBe(headerOf(first, 'etag'))
  })

  it.each([-1, NaN])('cannot have a size of %s', (responseCacheBytes) => {
    expect(() => createRatesHandler({ responseCacheBytes })).toThrow(
      new RegExp(`^responseCacheBytes .*bytes.* ${responseCacheBytes}$`),
    )
  })
})
