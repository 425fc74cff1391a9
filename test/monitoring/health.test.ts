import { describe, expect, it, vi } from 'vitest'

import { createHealth } from '../../src/monitoring/index.ts'
import { fragileMarket, market, openService } from '../fixtures/service.ts'
import { settled } from '../virtual-runtime.ts'

async function read(response: Response) {
  const { status, headers } = response
  return { status, retryAfter: headers.get('retry-after'), body: await response.json() }
}

const LOADED = { latest: 'ready', history: 'ready' }
const COLD = { latest: 'loading', history: 'loading' }

const ready = (about: object) => ({
  status: 200,
  retryAfter: null,
  body: { status: 'ready', ...about },
})
const unready = (status: string, about: object) => ({
  status: 503,
  retryAfter: '5',
  body: { status, ...about },
})

describe('the liveness probe', () => {
  it('gets a 200 at all times', async () => {
    const { handler } = openService()
    const health = createHealth(handler)
    const alive = { status: 200, retryAfter: null, body: { status: 'alive' } }
    expect(await read(health.live())).toEqual(alive)
    health.drain()
    handler.close()
    expect(await read(health.live())).toEqual(alive)
    expect(health.live().headers.get('cache-control')).toBe('no-store')
    expect(health.live().headers.get('content-type')).toMatch(/^application\/json/)
  })
})

describe('the readiness probe', () => {
  it('gets a 503, loads rates, and then gets a 200', async () => {
    const { handler } = openService()
    const health = createHealth(handler)
    const first = health.ready()
    expect(first.headers.get('cache-control')).toBe('no-store')
    expect(await read(first)).toEqual(unready('loading', COLD))
    await vi.waitFor(async () => expect(await read(health.ready())).toEqual(ready(LOADED)))
  })

  it('gets a 503 while draining, and starts no load then', async () => {
    const { handler, events } = openService()
    const health = createHealth(handler)
    health.drain()
    expect(await read(health.ready())).toEqual(unready('draining', COLD))
    expect(events).toEqual([])
    await handler.refresh()
    expect(await read(health.ready())).toEqual(unready('draining', LOADED))
  })

  it('calls a failing upstream once per backoff interval', async () => {
    const { upstream, providers } = fragileMarket()
    upstream.isUp = false
    const { handler, eventsOf, runtime } = openService({ providers })
    const health = createHealth(handler)
    for (let probe = 0; probe < 100; probe += 1) {
      expect(health.ready().status).toBe(503)
      await runtime.advance(5)
    }
    expect(eventsOf('upstream_request')).toHaveLength(2)
    expect(eventsOf('refresh_failed')).toHaveLength(2)
    upstream.isUp = true
    await runtime.advance(600_000)
    health.ready()
    await vi.waitFor(() => expect(health.ready().status).toBe(200))
  })

  it('starts one load at a time', async () => {
    const { handler } = openService()
    const loads: (() => void)[] = []
    const refresh = vi.fn<typeof handler.refresh>(
      () => new Promise((resolve) => void loads.push(resolve)),
    )
    const health = createHealth({ inspect: handler.inspect, refresh })
    for (let probe = 0; probe < 5; probe += 1) health.ready()
    expect(refresh).toHaveBeenCalledTimes(1)
    loads[0]?.()
    await settled()
    health.ready()
    expect(refresh).toHaveBeenCalledTimes(2)
  })

  it('gets a 503 while one data set is not loaded, unless it is not required', async () => {
    const { upstream, providers } = fragileMarket()
    upstream.isUp = false
    const { handler } = openService({ providers: { ...providers, latest: market.latest } })
    await handler.refresh()
    const about = { latest: 'ready', history: 'loading' }
    expect(await read(createHealth(handler).ready())).toEqual(unready('loading', about))
    const latest = createHealth(handler, { require: ['latest'] })
    expect(await read(latest.ready())).toEqual(ready(about))
  })

  it('needs no disabled data set', async () => {
    const { latest } = fragileMarket().providers
    const { handler } = openService({ providers: { latest, history: false } })
    await handler.refresh()
    const about = { latest: 'ready', history: 'disabled' }
    expect(await read(createHealth(handler).ready())).toEqual(ready(about))
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

it.each([[[]], [['rates']], ['latest'], [null]])(
  'throws a TypeError for require: %j',
  (require) => {
    const { handler } = openService()
    // @ts-expect-error the option must list data sets
    expect(() => createHealth(handler, { require })).toThrow(/^require must be/)
  },
)
