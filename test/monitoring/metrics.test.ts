import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { createAccess } from '../../src/access/index.ts'
import { frankfurter } from '../../src/compat/frankfurter.ts'
import { openExchangeRates } from '../../src/compat/open-exchange-rates.ts'
import type { HandlerListeners, RatesEvent, RatesHandler } from '../../src/index.ts'
import { createMetrics } from '../../src/monitoring/index.ts'
import { fragileMarket, market, openService, requestsTo } from '../fixtures/service.ts'

const SCRAPE = new Request('http://localhost/metrics')

function withEvents() {
  const all: HandlerListeners[] = []
  const { handler } = openService()
  const subscribe: RatesHandler['subscribe'] = (listeners) => {
    all.push(listeners)
    return () => void all.splice(all.indexOf(listeners), 1)
  }
  const metrics = createMetrics({ inspect: handler.inspect, subscribe })
  const emit = (event: RatesEvent): void => all.forEach(({ onEvent }) => onEvent?.(event))
  return { metrics, emit, lines: () => metrics.text().split('\n') }
}

/** Serves three upstream calls of 500 ms, one of which fails, to requests of all kinds. */
async function serve() {
  const { upstream, providers } = fragileMarket()
  upstream.isUp = false
  const { latest } = providers
  const slow = {
    ...latest,
    async fetchLatest(...given: Parameters<typeof latest.fetchLatest>) {
      await runtime.advance(500)
      return latest.fetchLatest(...given)
    },
  }
  const access = createAccess({
    plans: { free: '17/day' },
    anonymous: 'free',
    keys: { find: () => undefined },
    client: () => '192.0.2.1',
  })
  const { handler, runtime } = openService({
    providers: { ...providers, latest: slow },
    routes: [openExchangeRates({ basePath: '/compat' }), frankfurter({ basePath: '/compat' })],
    explorer: true,
    access,
  })
  const metrics = createMetrics(handler)
  const { get } = requestsTo(handler, '/api')
  await get('/v1/latest')
  upstream.isUp = true
  await runtime.advance(600_000)
  // Not the paths of others.
  for (const target of ['', '/v1/nothing', '/../other']) await get(target)
  for (const method of ['GET', 'GET', 'GET', 'HEAD', 'PURGE']) await get('/v1/latest', { method })
  await get('/v1/convert?from=USD&to=XXX')
  await get('/convert?from=USD&to=EUR')
  await get('/v1/latest', { headers: { 'x-api-key': 'rsk_wrong' } })
  await get('/../compat/api/historical/2026-11-13.json')
  await get('/../compat/v1/2026-11-13..2026-11-20?symbols=USD')
  upstream.isUp = false
  await runtime.advance(3 * 86_400_000)
  for (let time = 0; time < 20; time += 1) await get('/v1/latest')
  return metrics.text().replace(/(?<=_cache_bytes )\d{4,6}$/m, 'SIZE')
}

describe('the metrics', () => {
  it('are those of the recorded text', async () => {
    const text = readFileSync(new URL('metrics.txt', import.meta.url), 'utf8')
    expect(await serve()).toBe(text)
  })

  it('have the state of each enabled data set', async () => {
    const { handler } = openService({ providers: { ...market, history: false } })
    const metrics = createMetrics(handler)
    const states = () => metrics.text().match(/^ratesmith_data_[^e]\w+\{data_set.*$/gm)
    const [ready, stale] = ['ready', 'stale'].map((n) => `ratesmith_data_${n}{data_set="latest"}`)
    expect(states()).toEqual([`${ready} 0`, `${stale} 0`])
    await handler.refresh()
    expect(states()?.[0]).toBe(`${ready} 1`)
    expect(metrics.text()).toMatch(/^ratesmith_data_age_seconds\{data_set="latest"\} \d+$/m)
  })

  it('count all other events, with labels on one line', () => {
    const { emit, lines } = withEvents()
    const error = new Error('a')
    emit({ type: 'internal_error', error })
    emit({ type: 'overloaded', waiting: 1 })
    emit({ type: 'overloaded', waiting: 2 })
    emit({ type: 'store_failed', operation: 'set', key: 'k', error })
    emit({ type: 'counters_failed', operation: 'find_key', reason: 'a', error })
    emit({ type: 'rates_quarantined', dataSet: 'latest', provider: 'A', codes: ['USD'] })
    emit({ type: 'upstream_request', dataSet: 'latest', provider: `"a"\\b\n${'c'.repeat(100)}` })
    expect(lines()).toEqual(
      expect.arrayContaining([
        'ratesmith_internal_errors_total 1',
        'ratesmith_overloaded_responses_total 2',
        'ratesmith_store_failures_total{operation="set"} 1',
        'ratesmith_counters_failures_total{operation="find_key"} 1',
        'ratesmith_data_events_total{event="rates_quarantined",data_set="latest"} 1',
        `ratesmith_upstream_requests_total{data_set="latest",provider="\\"a\\"\\\\b ${'c'.repeat(93)}…"} 1`,
      ]),
    )
  })

  it('have at most 50 providers and 100 limits, and count the rest as other', () => {
    const { emit, lines } = withEvents()
    for (let number = 0; number < 1_000; number += 1) {
      emit({ type: 'upstream_request', dataSet: 'latest', provider: `P${number}` })
      emit({ type: 'upstream_request', dataSet: 'history', provider: `P${number}` })
      emit({ type: 'limit_reached', plan: `plan ${number}`, limit: 'burst' })
    }
    const [calls, limits] = ['ratesmith_upstream_requests_total', 'ratesmith_limits_reached_total']
    const starting = (start: string) => lines().filter((line) => line.startsWith(start))
    expect(starting(`${calls}{data_set="latest"`)).toHaveLength(51)
    expect(starting(`${limits}{`)).toHaveLength(101)
    expect(lines()).toEqual(
      expect.arrayContaining([
        `${calls}{data_set="latest",provider="P49"} 1`,
        `${calls}{data_set="latest",provider="other"} 950`,
        `${calls}{data_set="history",provider="other"} 950`,
        `${limits}{plan="other",limit="other"} 900`,
      ]),
    )
  })

  it('end when they are closed', () => {
    const { metrics, emit } = withEvents()
    const text = metrics.text()
    metrics.close()
    emit({ type: 'overloaded', waiting: 1 })
    expect(metrics.text()).toBe(text)
  })
})

describe('the response', () => {
  const { metrics } = withEvents()

  it('is OpenMetrics text, which may not be cached', async () => {
    const response = metrics.fetch(SCRAPE)
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toEqual({
      'cache-control': 'no-store',
      'content-type': 'application/openmetrics-text; version=1.0.0; charset=utf-8',
      'x-content-type-options': 'nosniff',
    })
    expect(await response.text()).toBe(metrics.text())
    const head = metrics.fetch(new Request(SCRAPE, { method: 'HEAD' }))
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('to %s is a 405', (method) => {
    const response = metrics.fetch(new Request(SCRAPE, { method }))
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })
})
