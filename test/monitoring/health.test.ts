import { describe, expect, it, vi } from 'vitest'

import { createHealth } from '../../src/monitoring/index.ts'
import { fragileMarket, market, openService } from '../fixtures/service.ts'
import { settled } from '../virtual-runtime.ts'

async function probe(response: Response) {
  const { status, headers } = response
  const others = ['cache-control', 'x-content-type-options', 'content-type']
  expect(others.map((name) => headers.get(name))).toEqual([
    'no-store',
    'nosniff',
    // Bun adds the charset.
    expect.stringMatching(/^application\/json\b/),
  ])
  return [status, headers.get('retry-after'), await response.json()]
}

const COLD = { latest: 'loading', history: 'loading' }
const LOADED = { latest: 'ready', history: 'ready' }
const ready = (about: object) => [200, null, { status: 'ready', ...about }]
const unready = (status: string, about: object) => [503, '5', { status, ...about }]

it('the liveness probe gets a 200 at all times', async () => {
  const { handler } = openService()
  const health = createHealth(handler)
  expect(await probe(health.live())).toEqual([200, null, { status: 'alive' }])
  health.drain()
  handler.close()
  expect(await probe(health.live())).toEqual([200, null, { status: 'alive' }])
})

describe('the readiness probe', () => {
  it('gets a 503, loads rates, gets a 200, and a 503 while draining', async () => {
    const { handler } = openService()
    const health = createHealth(handler)
    expect(await probe(health.ready())).toEqual(unready('loading', COLD))
    await vi.waitFor(async () => expect(await probe(health.ready())).toEqual(ready(LOADED)))
    health.drain()
    expect(await probe(health.ready())).toEqual(unready('draining', LOADED))
  })

  it('starts no load while draining', async () => {
    const { handler, events } = openService()
    const health = createHealth(handler)
    health.drain()
    expect(await probe(health.ready())).toEqual(unready('draining', COLD))
    expect(events).toEqual([])
  })

  it('calls a failing upstream once per backoff interval', async () => {
    const { upstream, providers } = fragileMarket()
    upstream.isUp = false
    const { handler, eventsOf, runtime } = openService({ providers })
    const health = createHealth(handler)
    for (let time = 0; time < 100; time += 1) {
      expect(health.ready().status).toBe(503)
      await runtime.advance(5)
    }
    expect(eventsOf('upstream_request')).toHaveLength(2)
    upstream.isUp = true
    await runtime.advance(600_000)
    health.ready()
    await vi.waitFor(() => expect(health.ready().status).toBe(200))
  })

  it('starts one load at a time', async () => {
    const { inspect } = openService().handler
    const loads: (() => void)[] = []
    const refresh = vi.fn<() => Promise<void>>(() => new Promise((resolve) => loads.push(resolve)))
    const health = createHealth({ inspect, refresh })
    for (let time = 0; time < 5; time += 1) health.ready()
    expect(refresh).toHaveBeenCalledTimes(1)
    loads[0]?.()
    await settled()
    health.ready()
    expect(refresh).toHaveBeenCalledTimes(2)
  })

  it('needs each data set that is not disabled, or those required', async () => {
    const { upstream, providers } = fragileMarket()
    upstream.isUp = false
    const { handler } = openService({ providers: { ...providers, latest: market.latest } })
    await handler.refresh()
    const about = { latest: 'ready', history: 'loading' }
    expect(await probe(createHealth(handler).ready())).toEqual(unready('loading', about))
    const latest = createHealth(handler, { require: ['latest'] })
    expect(await probe(latest.ready())).toEqual(ready(about))
    const disabled = openService({ providers: { latest: market.latest, history: false } }).handler
    await disabled.refresh()
    const without = { latest: 'ready', history: 'disabled' }
    expect(await probe(createHealth(disabled).ready())).toEqual(ready(without))
  })

  it('gets a 503 again when the last rates are too old to serve', async () => {
    const { upstream, providers } = fragileMarket()
    const { handler, runtime } = openService({ providers, maxStale: { latest: 3_600_000 } })
    const health = createHealth(handler)
    await handler.refresh()
    expect(health.ready().status).toBe(200)
    upstream.isUp = false
    await runtime.advance(10 * 86_400_000)
    expect(health.ready().status).toBe(503)
  })
})

it.each([[[]], [['rates']], ['latest'], [null]])('require must not be %j', (require) => {
  // @ts-expect-error the option must list data sets
  expect(() => createHealth(openService().handler, { require })).toThrow(/^require must be/)
})
