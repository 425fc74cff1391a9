import { expect, it } from 'vitest'

import type { RatesHandlerOptions, ServiceStatus } from '../../src/index.ts'
import { fragileMarket, market, openService } from '../fixtures/service.ts'
import { DAY, HOUR, settled } from '../virtual-runtime.ts'

/** Friday, one hour after the publication of the synthetic market. */
const NOW = Date.UTC(2026, 10, 20, 16)
const PUBLISHED = NOW - HOUR

const SOURCE = market.latest.attribution

function service(options: RatesHandlerOptions = {}) {
  const { upstream, providers } = fragileMarket()
  const opened = openService({ start: NOW, providers, ...options })
  async function status(): Promise<ServiceStatus> {
    const { status, headers, ...response } = await opened.get('/api/v1/status').then(read)
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    return response.body
  }
  return { ...opened, upstream, status }
}

async function read(response: Response) {
  return { status: response.status, headers: response.headers, body: await response.json() }
}

it('the status is immediate on a cold handler, and starts its first load', async () => {
  const works: Promise<unknown>[] = []
  const { status } = service({ waitUntil: (work) => works.push(work) })
  const empty = { ready: false, stale: false, source: null, age: null }
  const cold = { ...empty, lastAttempt: { at: NOW, outcome: 'running' }, nextAttemptAt: NOW }
  expect(await status()).toEqual({
    ready: false,
    latest: { ...cold, updatedAt: null },
    history: { ...cold, lastDay: null },
  })
  await Promise.all(works)
  await settled()
  const warm = { ready: true, stale: false, source: SOURCE, age: HOUR }
  const lastAttempt = { at: NOW, outcome: 'loaded' }
  const next = await status()
  expect(next).toEqual({
    ready: true,
    latest: { ...warm, lastAttempt, updatedAt: PUBLISHED, nextAttemptAt: expect.any(Number) },
    history: {
      ...warm,
      lastAttempt,
      lastDay: '2026-11-20',
      nextAttemptAt: PUBLISHED + 3 * DAY + 3e4,
    },
  })
  expect(next.latest?.nextAttemptAt).toBeGreaterThan(PUBLISHED + DAY)
})

it('the status shows overdue data, expired data, the failed attempt and the next one', async () => {
  const { status, runtime, handler, upstream } = service()
  await handler.refresh()
  upstream.isUp = false
  await runtime.advance(4 * DAY)
  await status()
  await settled()
  const at = NOW + 4 * DAY
  const lastAttempt = { at, outcome: 'failed' }
  const overdue = { ready: true, stale: true, lastAttempt, nextAttemptAt: at + 1_000 }
  const text = JSON.stringify(await status())
  expect(JSON.parse(text)).toMatchObject({
    ready: true,
    latest: { ...overdue, age: 4 * DAY + HOUR },
    history: { ...overdue, age: 4 * DAY + HOUR, lastDay: '2026-11-20' },
  })
  expect(text).not.toContain('secret')
  // Latest rates are now too old to serve.
  await runtime.advance(6 * DAY)
  expect(await status()).toMatchObject({
    ready: false,
    latest: { ready: false, updatedAt: null },
    history: { ready: true, stale: true },
  })
})

it('the status shows that the data came from the store', async () => {
  const store = new Map<string, string>()
  await service({ store }).handler.refresh()
  await settled()
  const { status } = service({ store })
  await status()
  await settled()
  const restored = { source: SOURCE, lastAttempt: { outcome: 'restored' } }
  expect(await status()).toMatchObject({ ready: true, latest: restored, history: restored })
})

it('the status has no negative age if the clock is set back, and no fractions of a ms', async () => {
  const { status, runtime, handler, upstream } = service()
  await handler.refresh()
  runtime.setClock(PUBLISHED - 1)
  expect(await status()).toMatchObject({ latest: { age: 0 }, history: { age: 0 } })
  const other = service()
  other.upstream.isUp = upstream.isUp = false
  await other.runtime.advance(0.25)
  await other.status()
  await settled()
  const nextAttemptAt = NOW + 1_001
  expect(await other.status()).toMatchObject({
    latest: { nextAttemptAt },
    history: { nextAttemptAt },
  })
})
