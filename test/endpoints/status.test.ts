import { describe, expect, it } from 'vitest'

import type { RatesHandlerOptions, ServiceStatus } from '../../src/index.ts'
import { fragileMarket, openService } from '../fixtures/service.ts'
import { DAY, HOUR, settled } from '../virtual-runtime.ts'

/** Friday, one hour after the publication of the synthetic market. */
const NOW = Date.UTC(2026, 10, 20, 16)
const PUBLISHED = NOW - HOUR

const SOURCE = {
  name: 'Synthetic rates (ratesmith)',
  url: 'https://www.npmjs.com/package/ratesmith',
}

/** Creates a handler whose providers fail while `upstream.isUp` is false. */
function service(options: RatesHandlerOptions = {}) {
  const { upstream, providers } = fragileMarket()
  const opened = openService({ start: NOW, providers, ...options })
  async function status(): Promise<ServiceStatus> {
    const response = await opened.get('/api/v1/status')
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('no-store')
    return response.json()
  }
  return { ...opened, upstream, status }
}

describe('GET /api/v1/status', () => {
  it('responds immediately on a cold handler, and starts its first load', async () => {
    const { status } = service()
    const cold = {
      ready: false,
      stale: false,
      source: null,
      age: null,
      lastAttempt: { at: NOW, outcome: 'running' },
      nextAttemptAt: NOW,
    }
    expect(await status()).toEqual({
      ready: false,
      latest: { ...cold, updatedAt: null },
      history: { ...cold, lastDay: null },
    })
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
        nextAttemptAt: PUBLISHED + 3 * DAY + 30_000,
      },
    })
    expect(next.latest?.nextAttemptAt).toBeGreaterThan(PUBLISHED + DAY)
  })

  it('passes the load to waitUntil', async () => {
    const works: Promise<unknown>[] = []
    const { status } = service({ waitUntil: (work) => works.push(work) })
    await status()
    await Promise.all(works)
    expect(await status()).toMatchObject({ ready: true })
  })

  it('shows overdue data, expired data, the failed attempt and the next one', async () => {
    const { status, runtime, handler, upstream } = service()
    await handler.refresh()
    upstream.isUp = false
    await runtime.advance(4 * DAY)
    await status()
    await settled()
    const at = NOW + 4 * DAY
    const overdue = {
      ready: true,
      stale: true,
      lastAttempt: { at, outcome: 'failed' },
      nextAttemptAt: at + 1_000,
    }
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

  it('shows that the data came from the store', async () => {
    const store = new Map<string, string>()
    await service({ store }).handler.refresh()
    await settled()
    const { status } = service({ store })
    await status()
    await settled()
    expect(await status()).toMatchObject({
      ready: true,
      latest: { source: SOURCE, lastAttempt: { outcome: 'restored' } },
      history: { source: SOURCE, lastAttempt: { outcome: 'restored' } },
    })
  })

  it('has no negative age if the clock is set back', async () => {
    const { status, runtime, handler } = service()
    await handler.refresh()
    runtime.setClock(PUBLISHED - 1)
    expect(await status()).toMatchObject({ latest: { age: 0 }, history: { age: 0 } })
  })

  it('has whole milliseconds even if the clock has fractions', async () => {
    const { status, runtime, upstream } = service()
    upstream.isUp = false
    await runtime.advance(0.25)
    await status()
    await settled()
    const nextAttemptAt = NOW + 1_001
    expect(await status()).toMatchObject({ latest: { nextAttemptAt }, history: { nextAttemptAt } })
  })
})
