import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { fixer } from '../../src/compat/fixer.ts'
import { frankfurter } from '../../src/compat/frankfurter.ts'
import { openExchangeRates } from '../../src/compat/open-exchange-rates.ts'
import { RatesError, createRatesHandler } from '../../src/index.ts'
import type { Access, HistoryProvider, Route } from '../../src/index.ts'
import { overlay, pegged } from '../../src/providers/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { expand } from '../catalogue/catalogue.ts'
import { createBank } from '../fixtures/bank.ts'
import { NOW, openMarket } from '../fixtures/hand-written-market.ts'
import { rowsOf } from '../fixtures/rows.ts'

const MOUNTS = { frankfurter, fixer, openExchangeRates }

const routes = Object.values(MOUNTS).map((mount) => mount())
const now = (): number => NOW
const { latest, history } = fakeProviders({ now })

/** Markets with rates that are not in the publication of their source, which are unknown there. */
const OWN = { rates: { base: 'EUR', rates: { GBP: 0.9 } }, name: 'Own', url: 'https://own.example' }
const MARKETS = {
  overlaid: { latest: overlay(latest, OWN), history: overlay(history, OWN) },
  pegged: { latest: pegged(latest), history: pegged(history) },
}

/** A response of a service over the hand-written market, or another; `<string>` is any text. */
interface ServiceResponse {
  service: keyof typeof MOUNTS
  market?: keyof typeof MARKETS
  path: string
  status: number
  body: unknown
}

const RESPONSES = readFileSync(new URL('responses.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line): ServiceResponse =>
    JSON.parse(line, (_, value) => (value === '<string>' ? expect.any(String) : value)),
  )

async function ask(mount: typeof fixer, path: string, market?: keyof typeof MARKETS) {
  const options = { routes: mount(), ...(market && { providers: MARKETS[market] }) }
  const { handler } = openMarket(options)
  // A request waits 5 s at most, which a busy machine may take to make these markets.
  if (market) await handler.refresh()
  const response = await handler(new Request(`http://localhost${expand(path)}`))
  return { status: response.status, body: await response.json() }
}

describe('a compat route', () => {
  it.each(RESPONSES)('of $service has for $path the status $status', async (row) => {
    const { service, path, status, body, market } = row
    expect(await ask(MOUNTS[service], path, market)).toEqual({ status, body })
  })

  it.each([
    '/v1/latest?base=EUR',
    '/v1/2026-11-02..2026-11-20?base=EUR',
    '/latest?base=EUR',
    '/live?source=EUR',
    '/timeframe?source=EUR&start_date=2026-11-02&end_date=2026-11-20',
    '/change?source=EUR&start_date=2026-11-02&end_date=2026-11-20',
    '/api/latest.json?base=EUR',
    '/api/time-series.json?base=EUR&start=2026-11-02&end=2026-11-20',
  ])('has no rate in a table that its source does not publish: %s', async (path) => {
    const { handler } = openMarket({ routes, providers: MARKETS.overlaid })
    const text = await (await handler(new Request(`http://localhost${path}`))).text()
    expect(text).toContain('USD"')
    expect(text).not.toContain('GBP"')
  })

  it('of Frankfurter serves only paths below /v1 with unprefixed: false', async () => {
    const mount = () => frankfurter({ unprefixed: false })
    expect((await ask(mount, '/v1/latest')).status).toBe(200)
    for (const path of ['/latest', '/history?start_at=2026-11-20', '/2026-11-20']) {
      expect(await ask(mount, path)).toMatchObject({ body: { error: { code: 'not_found' } } })
    }
  })

  it.each<[ServiceResponse['service'], string]>([
    ['frankfurter', '/v1/2026-11-13..2026-11-20'],
    ['fixer', '/timeframe?source=EUR&start_date=2026-11-13&end_date=2026-11-20'],
    ['fixer', '/change?source=EUR&start_date=2026-11-13&end_date=2026-11-20'],
    ['openExchangeRates', '/api/time-series.json?start=2026-11-13&end=2026-11-20&base=EUR'],
  ])('of %s has in a range each currency quoted on one of its days: %s', async (service, path) => {
    const bank = createBank({
      codes: ['AED', 'USD'],
      now,
      maxDays: 366,
      hasSeries: false,
      change({ base, days }) {
        const ratesOn = (day: string): object =>
          /-1[78]$/.test(day) ? { AED: 4, USD: 1 } : { USD: 1 }
        return { base, days: days.map(({ date }) => ({ date, rates: { ...ratesOn(date) } })) }
      },
    })
    const providers = { latest: false, history: bank } as const
    const handler = createRatesHandler({ providers, now, routes: MOUNTS[service]() })
    const response = await handler(new Request(`http://localhost${path}`))
    expect((await response.text()).match(/"(?:EUR)?AED":/g)).toHaveLength(
      path.startsWith('/change') ? 1 : 2,
    )
  })
})

const COSTS = `
  1 /v1/latest | 1 /v1/1999-01-04?symbols=USD,JPY | 10 /v1/1999-01-04..2026-11-20
  6 /v1/1999-01-04..2026-11-20?symbols=USD | 2 /v1/2020-01-01..2026-11-20?to=USD&symbols=USD,JPY
  2 /v1/2026-11-02..2026-11-20?symbols=USD,JPY,USD | 10 /v1/2026-11-02..2026-11-20
  6 /v1/1999-01-04..?symbols=USD | 2 /history?start_at=2020-01-01&end_at=2026-11-20&symbols=USD
  2 /timeseries?start_date=2026-01-01&end_date=2026-11-20&symbols=USD,JPY
  10 /timeframe?start_date=2026-01-01&end_date=2026-11-20
  6 /change?start_date=1999-01-04&end_date=2026-11-20&currencies=USD
  1 /change?start_date=x&end_date=2026-11-20&currencies=USD
  10 /api/time-series.json?start=1999-01-04&end=2026-11-20&symbols=EUR,JPY
  1 /convert?from=USD&to=EUR&date=2026-11-20`

it.each(rowsOf(COSTS))('a request costs %s: %s', async (expected, path) => {
  const costs: string[] = []
  const access: Access = {
    createGuard: () => ({
      admit({ cost }) {
        costs.push(String(cost))
        return { refusal: new RatesError('rate_limited', ''), finish: (response) => response }
      },
      close() {},
    }),
  }
  const { handler } = openMarket({ routes, access })
  await handler(new Request(`http://localhost${path}`))
  expect(costs).toEqual([expected])
})

it('a range that waits for its provider does not delay other expensive work', async () => {
  const bank = createBank({ codes: ['USD', 'JPY', 'GBP'], now, maxDays: 366, hasSeries: false })
  const asked: unknown[] = []
  const slow: HistoryProvider = {
    ...bank,
    fetchHistory: (range, context) =>
      range.end < '2025-01-01' || range.start >= '2026-01-01'
        ? bank.fetchHistory(range, context)
        : new Promise<never>(() => asked.push(range)),
  }
  const own: Route = { path: '/own', get: (_request, _rates, { run }) => run(() => ({ done: 1 })) }
  const providers = { latest, history: slow }
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
