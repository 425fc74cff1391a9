import { describe, expect, it } from 'vitest'

import { RatesError } from '../../src/errors.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { Access, HistoryProvider, Route } from '../../src/index.ts'
import { overlay, pegged } from '../../src/providers/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { createBank } from '../fixtures/bank.ts'
import { NOW, openMarket } from '../fixtures/hand-written-market.ts'
import { SERVICES } from './services.ts'

const routes = SERVICES.map(({ routes: create }) => create())
const now = (): number => NOW

describe('a rate that is not in the publication of its source', () => {
  const { latest, history } = fakeProviders({ now })
  const own = {
    rates: { base: 'EUR', rates: { GBP: 0.9 } },
    name: 'Own',
    url: 'https://own.example',
  }
  const overlaid = { latest: overlay(latest, own), history: overlay(history, own) }
  const handler = createRatesHandler({ providers: overlaid, now, routes })
  const RANGE = 'start_date=2026-11-02&end_date=2026-11-20'
  const NOT_FOUND = { message: 'not found' }
  const failed = (code: number) => ({ success: false, error: { code } })

  async function ask(path: string) {
    const response = await handler(new Request(`http://localhost${path}`))
    return Object(await response.json())
  }

  it.each([
    '/v1/latest?base=EUR',
    '/v1/2026-11-02..2026-11-20?base=EUR',
    '/latest?base=EUR',
    '/live?source=EUR',
    `/timeframe?source=EUR&${RANGE}`,
    `/change?source=EUR&${RANGE}`,
    '/api/latest.json?base=EUR',
    '/api/time-series.json?base=EUR&start=2026-11-02&end=2026-11-20',
  ])('is not in a table: %s', async (path) => {
    const text = JSON.stringify(await ask(path))
    expect(text).toContain('USD"')
    expect(text).not.toContain('GBP"')
  })

  it.each<[path: string, error: object]>([
    ['/v1/latest?base=GBP', NOT_FOUND],
    ['/v1/latest?symbols=GBP', NOT_FOUND],
    ['/v1/2026-11-02..2026-11-20?base=GBP', NOT_FOUND],
    ['/v1/2026-11-02..2026-11-20?symbols=GBP', NOT_FOUND],
    ['/latest?base=GBP', NOT_FOUND],
    ['/live?source=GBP', failed(201)],
    ['/live?currencies=GBP', failed(202)],
    ['/historical?source=GBP&date=2026-11-20', failed(201)],
    ['/convert?from=GBP&to=USD', failed(401)],
    ['/convert?from=USD&to=GBP', failed(402)],
    ['/convert?from=GBP&to=USD&date=2026-11-20', failed(401)],
    [`/timeseries?base=GBP&symbols=USD&${RANGE}`, failed(201)],
    [`/timeframe?source=GBP&${RANGE}`, failed(201)],
    [`/fluctuation?base=GBP&${RANGE}`, failed(201)],
    ['/api/latest.json?base=GBP', { message: 'invalid_base' }],
    ['/api/convert/1/GBP/USD', { message: 'invalid_currency' }],
    ['/api/time-series.json?base=GBP&start=2026-11-02&end=2026-11-20', { message: 'invalid_base' }],
  ])('is an unknown currency: %s', async (path, error) => {
    expect(await ask(path)).toMatchObject(error)
  })

  it('may be that of an official peg', async () => {
    const { latest: open, history: bank } = fakeProviders({ now })
    const providers = { latest: pegged(open), history: pegged(bank) }
    const peg = createRatesHandler({ providers, now, routes })
    const response = await peg(new Request('http://localhost/v1/2026-11-20?base=XOF'))
    expect([response.status, await response.json()]).toEqual([404, NOT_FOUND])
  })
})

describe('the cost of a request', () => {
  async function costOf(path: string): Promise<number | undefined> {
    const costs: number[] = []
    const access: Access = {
      createGuard: () => ({
        admit({ cost }) {
          costs.push(cost)
          return { refusal: new RatesError('rate_limited', ''), finish: (response) => response }
        },
        close() {},
      }),
    }
    const { handler } = openMarket({ routes, access })
    await handler(new Request(`http://localhost${path}`))
    return costs[0]
  }

  it.each<[path: string, cost: number]>([
    ['/v1/latest', 1],
    ['/v1/1999-01-04?symbols=USD,JPY', 1],
    ['/v1/1999-01-04..2026-11-20', 10],
    ['/v1/1999-01-04..2026-11-20?symbols=USD', 6],
    ['/v1/2020-01-01..2026-11-20?to=USD&symbols=USD,JPY', 2],
    ['/v1/2026-11-02..2026-11-20?symbols=USD,JPY,USD', 2],
    ['/v1/2026-11-02..2026-11-20', 10],
    ['/history?start_at=2020-01-01&end_at=2026-11-20&symbols=USD', 2],
    ['/timeseries?start_date=2026-01-01&end_date=2026-11-20&symbols=USD,JPY', 2],
    ['/timeframe?start_date=2026-01-01&end_date=2026-11-20', 10],
    ['/change?start_date=1999-01-04&end_date=2026-11-20&currencies=USD', 6],
    ['/change?start_date=x&end_date=2026-11-20&currencies=USD', 1],
    ['/api/time-series.json?start=1999-01-04&end=2026-11-20&symbols=EUR,JPY', 10],
    ['/convert?from=USD&to=EUR&date=2026-11-20', 1],
  ])('%s is %d', async (path, cost) => {
    expect(await costOf(path)).toBe(cost)
  })

  it('counts an open range to the current day', async () => {
    expect(await costOf('/v1/1999-01-04..?symbols=USD')).toBeGreaterThan(5)
  })
})

it('a range that waits for its provider does not delay other expensive work', async () => {
  const bank = createBank({ codes: ['USD', 'JPY', 'GBP'], now, maxDays: 366, hasSeries: false })
  const asked: unknown[] = []
  const history: HistoryProvider = {
    ...bank,
    fetchHistory: (range, context) =>
      range.end < '2025-01-01' || range.start >= '2026-01-01'
        ? bank.fetchHistory(range, context)
        : new Promise<never>(() => asked.push(range)),
  }
  const own: Route = { path: '/own', get: (_request, _rates, { run }) => run(() => ({ done: 1 })) }
  const providers = { latest: fakeProviders({ now }).latest, history }
  const handler = createRatesHandler({ providers, now, routes: [...routes, own] })
  const ask = (path: string) => handler(new Request(`http://localhost${path}`))
  const waiting = ['USD', 'JPY', 'GBP'].map((code) =>
    ask(`/v1/2024-06-10..2026-11-20?symbols=${code}`),
  )
  await expect.poll(() => asked.length).toBeGreaterThan(0)
  expect(await (await ask('/own')).json()).toEqual({ done: 1 })
  handler.close()
  await Promise.all(waiting)
})
