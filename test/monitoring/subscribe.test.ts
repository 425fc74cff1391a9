import { describe, expect, it } from 'vitest'

import type { RatesEvent, ResponseSummary } from '../../src/index.ts'
import { openService, requestsTo } from '../fixtures/service.ts'

describe('a subscription', () => {
  it('receives every event, besides the option onEvent', async () => {
    const { handler, events } = openService()
    const received: RatesEvent[] = []
    handler.subscribe({ onEvent: (event) => received.push(event) })
    await handler.refresh()
    expect(received.length).toBeGreaterThan(3)
    expect(received).toEqual(events)
  })

  it('receives a summary of each response to a path of the API', async () => {
    const { handler, runtime } = openService({ explorer: true })
    const { get } = requestsTo(handler)
    const summaries: ResponseSummary[] = []
    await handler.refresh()
    handler.subscribe({ onResponse: (summary) => summaries.push(summary) })
    await get('/api/v1/latest')
    await get('/api/v1/latest', { method: 'HEAD' })
    const others = ['/api/v1/convert', '/api/rates', '/api/', '/api/v1/nothing', '/other']
    for (const target of others) await get(target)
    expect(summaries.map(({ route, method, status }) => [route, method, status])).toEqual([
      ['/v1/latest', 'GET', 200],
      ['/v1/latest', 'HEAD', 200],
      ['/v1/convert', 'GET', 400],
      ['/rates', 'GET', 200],
      ['', 'GET', 200],
    ])
    expect(summaries.map(({ elapsed }) => elapsed)).toEqual([0, 0, 0, 0, 0])
    expect(summaries[0]?.request.target).toBe('http://localhost/api/v1/latest')
    expect(runtime.timers()).toBe(0)
  })

  it('may fail without an effect on responses and other subscriptions', async () => {
    const { handler } = openService()
    const { get } = requestsTo(handler)
    const statuses: number[] = []
    handler.subscribe({
      onEvent: () => Promise.reject(new Error('a')),
      onResponse: () => {
        throw new Error('b')
      },
    })
    handler.subscribe({ onResponse: ({ status }) => statuses.push(status) })
    expect((await get('/api/v1/latest')).status).toBe(200)
    expect(statuses).toEqual([200])
  })

  it('ends alone', async () => {
    const { handler } = openService()
    const { get } = requestsTo(handler)
    const counts = { first: 0, second: 0 }
    const onResponse = (): void => void (counts.first += 1)
    const end = handler.subscribe({ onResponse })
    handler.subscribe({ onResponse })
    handler.subscribe({ onResponse: () => void (counts.second += 1) })
    await get('/api/v1/latest')
    expect(counts).toEqual({ first: 2, second: 1 })
    end()
    end()
    await get('/api/v1/latest')
    expect(counts).toEqual({ first: 3, second: 2 })
  })
})

describe('inspect()', () => {
  it('starts no load, and has the status of the endpoint and the size of the response caches', async () => {
    const { handler, events } = openService()
    const { get, json } = requestsTo(handler, '/api/v1')
    const cold = { ready: false, latest: { ready: false }, history: { ready: false } }
    expect(handler.inspect()).toMatchObject({ status: cold, responseCacheBytes: 0, waiting: 0 })
    expect(events).toEqual([])
    await handler.refresh()
    await get('/latest')
    await get('/latest')
    const { status, responseCacheBytes } = handler.inspect()
    const sent = await json('/status')
    expect(JSON.parse(JSON.stringify(status))).toEqual(sent)
    expect(responseCacheBytes).toBeGreaterThan(1_000)
    await get('/history?from=USD&to=EUR')
    expect(handler.inspect().responseCacheBytes).toBeGreaterThan(responseCacheBytes)
  })
})
