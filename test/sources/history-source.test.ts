import { describe, expect, it } from 'vitest'

import type { HistoryProvider } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { recordedHandler } from '../fixtures/recorded-handler.ts'
import { DAY, HOUR, MINUTE, settled, virtualRuntime } from '../virtual-runtime.ts'

const FIRST_REFERENCE_DAY = '1999-01-04'

type FetchHistory = HistoryProvider['fetchHistory']

const market = fakeProviders()

/** Creates a handler over the synthetic market; records the calls of its history provider. */
function watched(start: number, fetchHistory: FetchHistory = market.history.fetchHistory) {
  const runtime = virtualRuntime(start)
  const ranges: { start: string; end: string }[] = []
  const history: HistoryProvider = {
    attribution: { name: 'Watched', url: 'https://rates.example' },
    fetchHistory(range, context) {
      ranges.push(range)
      return fetchHistory(range, context)
    },
  }
  const providers = { history, latest: market.latest }
  const { handler } = recordedHandler(runtime, { providers })
  /** Requests history every `step` ms for `duration` ms. */
  async function requestEvery(step: number, duration: number): Promise<void> {
    for (let passed = 0; passed < duration; passed += step) {
      await handler.rates.history({ from: 'USD', to: 'EUR' }).catch(() => undefined)
      await settled()
      await runtime.advance(step)
    }
  }
  return { handler, rates: handler.rates, runtime, ranges, requestEvery }
}

/** Returns a provider function that always returns these rates by day. */
function publishing(days: Record<string, Record<string, number>>): FetchHistory {
  const entries = Object.entries(days).map(([date, rates]) => ({ date, rates }))
  return async () => ({ base: 'EUR', days: entries })
}

/** A Friday, after the reference rates of the day were published. */
const EVENING = Date.UTC(2026, 10, 20, 18)

describe('history', () => {
  it('is downloaded for five years once, and then from the last seven days on', async () => {
    const { ranges, requestEvery } = watched(Date.UTC(2026, 10, 19, 18))
    await requestEvery(HOUR, 6 * DAY)
    expect(ranges).toEqual([
      { start: '2021-11-05', end: '2026-11-19' },
      { start: '2026-11-11', end: '2026-11-20' },
      { start: '2026-11-12', end: '2026-11-23' },
      { start: '2026-11-13', end: '2026-11-24' },
      { start: '2026-11-16', end: '2026-11-25' },
    ])
  })

  it('is requested about every ten minutes while a publication is late', async () => {
    const late = 2 * HOUR
    const { history } = fakeProviders({ now: () => runtime.now() - late })
    const start = Date.UTC(2026, 10, 20, 14)
    const { runtime, ranges, requestEvery } = watched(start, history.fetchHistory)
    await requestEvery(MINUTE, 4 * HOUR)
    // One at first, then from 15:00 to 17:00 UTC one in ten and a half minutes; the last one returns the day.
    expect(ranges.length).toBeGreaterThan(10)
    expect(ranges.length).toBeLessThanOrEqual(14)
    expect(ranges.at(-1)).toEqual({ start: '2026-11-11', end: '2026-11-20' })
  })

  it('is not replaced by a download with an earlier last day', async () => {
    let lastDay = '2026-11-20'
    const { runtime, handler, ranges } = watched(EVENING, async () => ({
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

  it('is downloaded again when the provider changes its base', async () => {
    let base = 'EUR'
    const dayOf = (date: string) => ({ date, rates: { USD: 1.1, [base]: 1 } })
    const fetchHistory: FetchHistory = async ({ end }) => ({ base, days: [dayOf(end)] })
    const { runtime, handler, ranges } = watched(EVENING, fetchHistory)
    await handler.refresh()
    base = 'XEU'
    await runtime.advance(72 * HOUR)
    await handler.refresh()
    expect(ranges).toEqual([
      { start: '2021-11-06', end: '2026-11-20' },
      { start: '2026-11-20', end: '2026-11-23' },
      { start: '2021-11-09', end: '2026-11-23' },
    ])
    const { points } = await handler.rates.history({ from: 'XEU', to: 'USD' })
    expect(points).toEqual([{ d: '2026-11-23', r: 1.1 }])
  })

  const TOO_NEW = [{}, { '2026-11-21': { USD: 1 } }, { '2099-01-01': { USD: 1 } }]

  it.each(TOO_NEW)('is rejected with no day up to today: %j', async (days) => {
    const call = watched(EVENING, publishing(days)).rates.history({ from: 'EUR', to: 'USD' })
    await expect(call).rejects.toMatchObject({ code: 'provider_unavailable' })
  })

  it('is refreshed also where it has a day in the future', async () => {
    const days = publishing({ '2026-11-17': { USD: 1 }, '2026-11-19': { USD: 1 } })
    const { requestEvery, ranges } = watched(Date.UTC(2026, 10, 18, 15, 30), days)
    await requestEvery(10 * MINUTE, HOUR)
    expect(ranges.length).toBeGreaterThan(2)
  })
})

describe('history before the last five years', () => {
  const NOON = Date.UTC(2026, 10, 20, 12)
  /** Five years and two weeks ago. */
  const RECENT_SINCE = '2021-11-06'
  const pair = { from: 'USD', to: 'EUR' } as const

  const starts = ({ ranges }: ReturnType<typeof watched>): string[] =>
    ranges.map(({ start }) => start)

  it('is downloaded once when earlier days are needed, in addition to the last five years', async () => {
    const world = watched(NOON)
    const { rates } = world
    const recent = await rates.history({ ...pair, start: RECENT_SINCE })
    expect(recent.points[0]?.d).toBe('2021-11-08')
    expect(starts(world)).toEqual([RECENT_SINCE])
    const all = await rates.history({ ...pair, start: '2021-11-05' })
    expect(all.points[0]?.d).toBe('2021-11-05')
    expect(starts(world)).toEqual([RECENT_SINCE, FIRST_REFERENCE_DAY])
    const older = await rates.history({ ...pair, start: '1980-01-01' })
    expect(older.points[0]?.d).toBe(FIRST_REFERENCE_DAY)
    expect(await rates.history({ ...pair, start: RECENT_SINCE })).toEqual(recent)
    expect(starts(world)).toHaveLength(2)
  })
})
