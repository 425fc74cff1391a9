import { describe, expect, it } from 'vitest'

import { createHandlerOn } from '../../src/handler.ts'
import type { HistoryProvider, RatesEvent, RatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { codes } from '../fixtures/codes.ts'
import { settled, virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

const HOUR = 3_600_000
const MINUTE = 60_000

interface Watched {
  handler: RatesHandler
  runtime: VirtualRuntime
  ranges: { start: string; end: string }[]
  /** Asks for history every `step` ms until `duration` ms have passed. */
  askEvery(step: number, duration: number): Promise<void>
}

/** A handler over the synthetic market, whose history provider's calls are written down. */
function watched(
  start: number,
  fetchHistory: HistoryProvider['fetchHistory'] = fakeProviders().history.fetchHistory,
): Watched {
  const runtime = virtualRuntime(start)
  const ranges: Watched['ranges'] = []
  const handler = createHandlerOn(() => runtime, {
    now: runtime.now,
    providers: {
      history: {
        attribution: { name: 'Watched', url: 'https://rates.example' },
        fetchHistory(range, context) {
          ranges.push(range)
          return fetchHistory(range, context)
        },
      },
    },
  })
  const ask = (): Promise<unknown> =>
    handler.rates.history({ from: 'USD', to: 'EUR' }).catch(() => undefined)
  return {
    handler,
    runtime,
    ranges,
    async askEvery(step, duration) {
      for (let passed = 0; passed < duration; passed += step) {
        await ask()
        await settled()
        await runtime.advance(step)
      }
    },
  }
}

describe('history', () => {
  it('is asked for five years once, and then for the days that are missing', async () => {
    const { ranges, askEvery } = watched(Date.UTC(2026, 10, 19, 18))
    await askEvery(HOUR, 6 * 24 * HOUR)
    expect(ranges).toEqual([
      { start: '2021-11-05', end: '2026-11-19' },
      { start: '2026-11-20', end: '2026-11-20' },
      { start: '2026-11-21', end: '2026-11-23' },
      { start: '2026-11-24', end: '2026-11-24' },
      { start: '2026-11-25', end: '2026-11-25' },
    ])
  })

  it('costs no call over Easter', async () => {
    const { ranges, askEvery } = watched(Date.UTC(2026, 3, 2, 15))
    await askEvery(HOUR, 4 * 24 * HOUR + 22 * HOUR)
    expect(ranges).toHaveLength(1)
    await askEvery(HOUR, 3 * HOUR)
    expect(ranges.slice(1)).toEqual([{ start: '2026-04-03', end: '2026-04-07' }])
  })

  it('is asked for again every ten minutes or so while a publication is late', async () => {
    const late = 2 * HOUR
    const { history } = fakeProviders({ now: () => runtime.now() - late })
    const { runtime, ranges, askEvery } = watched(Date.UTC(2026, 10, 20, 14), history.fetchHistory)
    await askEvery(MINUTE, 4 * HOUR)
    // One at first, then from 15:00 to 17:00 UTC one in ten and a half minutes, the last of which brings the day.
    expect(ranges.length).toBeGreaterThan(10)
    expect(ranges.length).toBeLessThanOrEqual(14)
    expect(ranges.at(-1)).toEqual({ start: '2026-11-20', end: '2026-11-20' })
  })

  it('costs no call at night and at the weekend when a publication does not come at all', async () => {
    const { history } = fakeProviders({ now: () => Math.min(runtime.now(), stuckAt) })
    const stuckAt = Date.UTC(2026, 10, 20, 14)
    const { runtime, ranges, askEvery } = watched(stuckAt, history.fetchHistory)
    await askEvery(5 * MINUTE, 6 * HOUR)
    const untilNight = ranges.length
    expect(untilNight).toBeGreaterThan(6)
    expect(untilNight).toBeLessThan(20)
    // From Friday, 20:00 UTC, to Monday, 7:00.
    await askEvery(5 * MINUTE, 59 * HOUR)
    expect(ranges.length - untilNight).toBeLessThanOrEqual(1)
    await askEvery(5 * MINUTE, HOUR)
    expect(ranges.length - untilNight).toBeGreaterThanOrEqual(1)
  })

  it('is told of rates that jump, and serves them as they were published', async () => {
    const events: RatesEvent[] = []
    const spike = ['2026-11-18', '2026-11-19', '2026-11-20'].map((date, day) => ({
      date,
      rates: { USD: day === 1 ? 110 : 1.1 },
    }))
    const handler = createHandlerOn(() => virtualRuntime(Date.UTC(2026, 10, 20, 18)), {
      now: () => Date.UTC(2026, 10, 20, 18),
      providers: {
        history: {
          attribution: { name: 'Spiky', url: 'https://rates.example' },
          fetchHistory: async () => ({ base: 'EUR', days: spike }),
        },
      },
      onEvent: (event) => events.push(event),
    })
    const { points } = await handler.rates.history({ from: 'EUR', to: 'USD', period: '1W' })
    expect(points.map(({ r }) => r)).toEqual([1.1, 110, 1.1])
    expect(events).toContainEqual({
      type: 'rates_jumped',
      dataSet: 'history',
      provider: 'Spiky',
      jumps: ['2026-11-19 USD', '2026-11-20 USD'],
    })
  })

  it('is not replaced by a download that ends sooner', async () => {
    let lastDay = '2026-11-20'
    const { runtime, handler, ranges } = watched(Date.UTC(2026, 10, 20, 18), async () => ({
      base: lastDay === '2026-11-20' ? 'EUR' : 'XEU',
      days: [{ date: lastDay, rates: { USD: 1.1 } }],
    }))
    await handler.refresh()
    lastDay = '2026-11-19'
    await runtime.advance(72 * HOUR)
    await handler.refresh()
    expect(ranges).toHaveLength(3)
    const { points } = await handler.rates.history({ from: 'EUR', to: 'USD', period: '1W' })
    expect(points).toEqual([{ d: '2026-11-20', r: 1.1 }])
  })

  it('is the same after a week of refreshes as downloaded at once', async () => {
    const refreshed = watched(Date.UTC(2026, 10, 13, 18))
    await refreshed.askEvery(6 * HOUR, 8 * 24 * HOUR)
    const fresh = watched(refreshed.runtime.now())
    const question = { from: 'USD', to: 'JPY', period: '5Y' } as const
    expect(await refreshed.handler.rates.history(question)).toEqual(
      await fresh.handler.rates.history(question),
    )
  })

  it('is downloaded anew when the provider changes its base', async () => {
    let base = 'EUR'
    const { runtime, handler, ranges } = watched(Date.UTC(2026, 10, 20, 18), async ({ end }) => ({
      base,
      days: [{ date: end, rates: { USD: 1.1, [base]: 1 } }],
    }))
    await handler.refresh()
    base = 'XEU'
    await runtime.advance(72 * HOUR)
    await handler.refresh()
    expect(ranges).toEqual([
      { start: '2021-11-06', end: '2026-11-20' },
      { start: '2026-11-21', end: '2026-11-23' },
      { start: '2021-11-09', end: '2026-11-23' },
    ])
    expect((await handler.rates.history({ from: 'XEU', to: 'USD' })).points).toEqual([
      { d: '2026-11-23', r: 1.1 },
    ])
  })

  it.each([
    { days: [] },
    { days: [{ date: '2026-11-21', rates: { USD: 1 } }] },
    { days: [{ date: '2099-01-01', rates: { USD: 1 } }] },
  ])('is refused while the first download has no day up to today: %j', async ({ days }) => {
    const { handler } = watched(Date.UTC(2026, 10, 20, 18), async () => ({ base: 'EUR', days }))
    await expect(handler.rates.history({ from: 'EUR', to: 'USD' })).rejects.toMatchObject({
      code: 'provider_unavailable',
    })
  })

  it('is not taken for complete because of a day that lies ahead', async () => {
    const days = ['2026-11-17', '2026-11-19'].map((date) => ({ date, rates: { USD: 1 } }))
    const { askEvery, ranges } = watched(Date.UTC(2026, 10, 18, 15, 30), async () => ({
      base: 'EUR',
      days,
    }))
    await askEvery(10 * MINUTE, HOUR)
    expect(ranges.length).toBeGreaterThan(2)
  })

  it('has no data where a covered pair has no day in common', async () => {
    const { handler } = watched(Date.UTC(2026, 10, 20, 18), async () => ({
      base: 'EUR',
      days: [
        { date: '2026-11-19', rates: { USD: 1.1 } },
        { date: '2026-11-20', rates: { JPY: 170 } },
      ],
    }))
    await expect(handler.rates.history({ from: 'JPY', to: 'USD' })).rejects.toMatchObject({
      code: 'no_data',
    })
    expect(await handler.rates.history({ from: 'EUR', to: 'USD', period: '1W' })).toMatchObject({
      points: [{ d: '2026-11-19', r: 1.1 }],
      stats: { open: 1.1, close: 1.1, changePct: 0, average: 1.1, highDate: '2026-11-19' },
    })
  })

  it('lists only as many codes as an error has room for', async () => {
    const rates = Object.fromEntries(codes(200).map((code) => [code, 1]))
    const { handler } = watched(Date.UTC(2026, 10, 20, 18), async ({ end }) => ({
      base: 'EUR',
      days: [{ date: end, rates }],
    }))
    const request = new Request('http://localhost/api/v1/history?from=ZZZ&to=EUR')
    const body = await (await handler(request)).text()
    expect(body).toContain(' and 51 more')
    expect(body.length).toBeLessThan(1024)
  })

  it('ends its window on the newest day that is not ahead of the clock', async () => {
    const { handler } = watched(Date.UTC(2026, 10, 20, 18), async () => ({
      base: 'EUR',
      days: ['2026-11-20', '2026-11-21', '2027-01-01'].map((date) => ({ date, rates: { USD: 1 } })),
    }))
    const error = handler.rates.history({ from: 'ZZZ', to: 'USD' })
    await expect(error).rejects.toThrow('Unsupported from currency: ZZZ (history covers EUR, USD)')
    const { points } = await handler.rates.history({ from: 'EUR', to: 'USD', period: '5Y' })
    expect(points).toEqual([{ d: '2026-11-20', r: 1 }])
  })
})
