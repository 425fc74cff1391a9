import { describe, expect, it } from 'vitest'

import { frankfurter } from '../../src/compat/frankfurter.ts'
import { openExchangeRates } from '../../src/compat/open-exchange-rates.ts'
import { createAccess } from '../../src/access/index.ts'
import type { HandlerListeners, RatesEvent, RatesHandler } from '../../src/index.ts'
import { createMetrics } from '../../src/monitoring/index.ts'
import { fragileMarket, market, openService, requestsTo } from '../fixtures/service.ts'

const SCRAPE = new Request('http://localhost/metrics')

function samplesIn(text: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    lines.map((line) => {
      const end = line.lastIndexOf(' ')
      return [line.slice(0, end), Number(line.slice(end + 1))]
    }),
  )
}

function open(options: Parameters<typeof openService>[0] = {}) {
  const service = openService(options)
  const metrics = createMetrics(service.handler)
  return { ...service, metrics, samples: () => samplesIn(metrics.text()) }
}

function withEvents() {
  const all: HandlerListeners[] = []
  const { handler } = openService()
  const subscribe: RatesHandler['subscribe'] = (listeners) => {
    all.push(listeners)
    return () => void all.splice(all.indexOf(listeners), 1)
  }
  const metrics = createMetrics({ inspect: handler.inspect, subscribe })
  return {
    metrics,
    emit: (event: RatesEvent) => all.forEach(({ onEvent }) => onEvent?.(event)),
    samples: () => samplesIn(metrics.text()),
  }
}

describe('the metrics', () => {
  it('count responses by route, method and status', async () => {
    const { handler, samples } = open({ explorer: true })
    const { get } = requestsTo(handler, '/api')
    // Not the paths of others.
    for (const target of ['', '/v1/nothing', '/../other']) await get(target)
    await get('/v1/latest')
    await get('/v1/latest?base=USD')
    await get('/v1/latest', { method: 'HEAD' })
    await get('/v1/latest', { method: 'PURGE' })
    await get('/v1/convert?from=USD&to=XXX')
    await get('/convert?from=USD&to=EUR')
    const counts = {
      '{route="page",method="GET",status="200"}': 1,
      '{route="/v1/latest",method="GET",status="200"}': 2,
      '{route="/v1/latest",method="HEAD",status="200"}': 1,
      '{route="/v1/latest",method="other",status="405"}': 1,
      '{route="/v1/convert",method="GET",status="400"}': 1,
      '{route="/convert",method="GET",status="200"}': 1,
    }
    const name = 'ratesmith_requests_total'
    const counted = Object.entries(samples()).filter(([sample]) => sample.startsWith(name))
    const found = counted.map(([sample, count]) => [sample.slice(name.length), count])
    expect(Object.fromEntries(found)).toEqual(counts)
  })

  it('measure the time of a response in cumulative buckets', async () => {
    const { handler, runtime, samples } = open({
      providers: {
        latest: {
          attribution: { name: 'Slow', url: 'https://slow.example' },
          async fetchLatest() {
            await runtime.advance(500)
            const updatedAt = runtime.now()
            return {
              base: 'EUR',
              updatedAt,
              nextUpdateAt: updatedAt + 86_400_000,
              rates: { EUR: 1, USD: 1.1 },
            }
          },
        },
        history: false,
      },
    })
    const { get } = requestsTo(handler, '/api')
    for (const _ of [1, 2, 3]) await get('/v1/latest')
    const about = (part: string): number | undefined =>
      samples()[`ratesmith_request_duration_seconds_${part}`]
    const bucket = (bound: string) => about(`bucket{route="/v1/latest",le="${bound}"}`)
    // A time that equals a bound is in its bucket.
    expect(['0.0001', '0.25', '0.5', '5.0', '+Inf'].map(bucket)).toEqual([2, 2, 3, 3, 3])
    expect(about('count{route="/v1/latest"}')).toBe(3)
    expect(about('sum{route="/v1/latest"}')).toBeCloseTo(0.5)
  })

  it('count responses of routes by their patterns', async () => {
    const { handler } = openService({ routes: [openExchangeRates(), frankfurter()] })
    const metrics = createMetrics(handler)
    const { get } = requestsTo(handler)
    await get('/api/historical/2026-11-13.json')
    await get('/v1/2026-11-13..2026-11-20?symbols=USD')
    await get('/api/v1/latest')
    const samples = samplesIn(metrics.text())
    const name = 'ratesmith_requests_total'
    const countOf = (route: string) =>
      samples[`${name}{route="${route}",method="GET",status="200"}`]
    const routes = ['/api/historical/:date.json', '/v1/:start..:end?', '/v1/latest']
    expect(routes.map(countOf)).toEqual([1, 1, 1])
  })

  it('count upstream calls, failures and their time by data set and provider', async () => {
    const { upstream, providers } = fragileMarket()
    upstream.isUp = false
    const { handler, runtime, samples } = open({ providers })
    const { get } = requestsTo(handler, '/api')
    await get('/v1/latest')
    upstream.isUp = true
    await runtime.advance(600_000)
    await get('/v1/latest')
    const labels = '{data_set="latest",provider="Synthetic rates (ratesmith)"}'
    expect(samples()).toMatchObject({
      [`ratesmith_upstream_requests_total${labels}`]: 2,
      [`ratesmith_upstream_failures_total${labels}`]: 1,
      [`ratesmith_upstream_duration_seconds_count${labels}`]: 2,
      'ratesmith_refresh_failures_total{data_set="latest"}': 1,
      'ratesmith_refresh_failures_total{data_set="history"}': 0,
    })
  })

  it('have the state of each enabled data set', async () => {
    const { handler, runtime, samples } = open()
    expect(samples()).toMatchObject({
      'ratesmith_data_ready{data_set="latest"}': 0,
      'ratesmith_data_ready{data_set="history"}': 0,
    })
    expect(Object.keys(samples()).join()).not.toContain('data_age')
    await handler.refresh()
    const age = 'ratesmith_data_age_seconds{data_set="latest"}'
    const { [age]: before = NaN } = samples()
    await runtime.advance(5_000)
    const later = samples()
    expect(later[age]).toBeCloseTo(before + 5)
    expect(later).toMatchObject({
      'ratesmith_data_ready{data_set="latest"}': 1,
      'ratesmith_data_stale{data_set="history"}': 0,
      ratesmith_waiting_requests: 0,
    })
    // Cached at its second request.
    await handler(new Request('http://localhost/api/v1/latest'))
    await handler(new Request('http://localhost/api/v1/latest'))
    expect(samples()['ratesmith_response_cache_bytes']).toBeGreaterThan(1_000)
  })

  it('omit a disabled data set', () => {
    const { metrics } = open({ providers: { ...market, history: false } })
    expect(metrics.text()).toContain('ratesmith_data_ready{data_set="latest"}')
    expect(metrics.text()).not.toContain('ratesmith_data_ready{data_set="history"}')
  })

  it('count stale responses', async () => {
    const { upstream, providers } = fragileMarket()
    const { handler, runtime, samples } = open({ providers })
    await handler.refresh()
    upstream.isUp = false
    await runtime.advance(3 * 86_400_000)
    await handler(new Request('http://localhost/api/v1/latest'))
    expect(samples()).toMatchObject({
      'ratesmith_stale_responses_total{data_set="latest"}': 1,
      'ratesmith_data_stale{data_set="latest"}': 1,
    })
  })

  it('count refused requests and reached limits', async () => {
    const access = createAccess({
      plans: { free: '2/min' },
      anonymous: 'free',
      keys: { find: () => undefined },
      client: () => '192.0.2.1',
    })
    const { handler, samples } = open({ access })
    const { get } = requestsTo(handler, '/api/v1')
    await get('/latest', { headers: { 'x-api-key': 'rsk_wrong' } })
    await get('/latest')
    await get('/latest')
    expect(samples()).toMatchObject({
      'ratesmith_limits_reached_total{plan="free",limit="burst"}': 1,
      'ratesmith_access_refused_total{reason="malformed_key"}': 1,
      'ratesmith_access_refused_total{reason="unknown_key"}': 0,
    })
  })

  it('count all other events', () => {
    const { emit, samples } = withEvents()
    const error = new Error('a')
    emit({ type: 'internal_error', error })
    emit({ type: 'overloaded', waiting: 1 })
    emit({ type: 'overloaded', waiting: 2 })
    emit({ type: 'store_failed', operation: 'set', key: 'k', error })
    emit({ type: 'counters_failed', operation: 'find_key', reason: 'a', error })
    emit({ type: 'rates_quarantined', dataSet: 'latest', provider: 'A', codes: ['USD'] })
    expect(samples()).toMatchObject({
      ratesmith_internal_errors_total: 1,
      ratesmith_overloaded_responses_total: 2,
      'ratesmith_store_failures_total{operation="set"}': 1,
      'ratesmith_store_failures_total{operation="get"}': 0,
      'ratesmith_counters_failures_total{operation="find_key"}': 1,
      'ratesmith_data_events_total{event="rates_quarantined",data_set="latest"}': 1,
      'ratesmith_data_events_total{event="rates_late",data_set="history"}': 0,
    })
  })

  it('have at most 50 providers and 100 limits, and count the rest as other', () => {
    const { emit, samples } = withEvents()
    for (let number = 0; number < 1_000; number += 1) {
      emit({ type: 'upstream_request', dataSet: 'latest', provider: `P${number}` })
      emit({ type: 'upstream_request', dataSet: 'history', provider: `P${number}` })
      emit({ type: 'limit_reached', plan: `plan ${number}`, limit: 'burst' })
    }
    const found = samples()
    const names = (prefix: string) => Object.keys(found).filter((name) => name.startsWith(prefix))
    expect(names('ratesmith_upstream_requests_total{data_set="latest"')).toHaveLength(51)
    expect(names('ratesmith_limits_reached_total')).toHaveLength(101)
    expect(found).toMatchObject({
      'ratesmith_upstream_requests_total{data_set="latest",provider="P49"}': 1,
      'ratesmith_upstream_requests_total{data_set="latest",provider="other"}': 950,
      'ratesmith_upstream_requests_total{data_set="history",provider="other"}': 950,
      'ratesmith_limits_reached_total{plan="other",limit="other"}': 900,
    })
  })

  it('end when they are closed', async () => {
    const { handler, metrics, samples } = open()
    const { get } = requestsTo(handler, '/api')
    await get('/v1/latest')
    samples()
    metrics.close()
    await get('/v1/latest')
    expect(samples()).toMatchObject({
      'ratesmith_requests_total{route="/v1/latest",method="GET",status="200"}': 1,
    })
  })
})

describe('the response', () => {
  const { metrics } = open()

  it('is OpenMetrics text, which may not be cached', async () => {
    const response = metrics.fetch(SCRAPE)
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toEqual({
      'cache-control': 'no-store',
      'content-type': 'application/openmetrics-text; version=1.0.0; charset=utf-8',
      'x-content-type-options': 'nosniff',
    })
    expect(await response.text()).toMatch(/^# TYPE ratesmith_requests counter\n[^]*\n# EOF\n$/)
  })

  it('to HEAD has no body', async () => {
    const response = metrics.fetch(new Request(SCRAPE, { method: 'HEAD' }))
    expect([response.status, await response.text()]).toEqual([200, ''])
  })

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('to %s is a 405', (method) => {
    const response = metrics.fetch(new Request(SCRAPE, { method }))
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })
})
