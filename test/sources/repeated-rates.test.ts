import { describe, expect, it } from 'vitest'

import type { LatestProvider } from '../../src/index.ts'
import { countEqualDays } from '../../src/rates/repeated-rates.ts'
import { validateHistory } from '../../src/rates/validate.ts'
import { openFeed } from '../fixtures/open-feed.ts'
import { recordedHandler } from '../fixtures/recorded-handler.ts'
import { DAY, HOUR, virtualRuntime } from '../virtual-runtime.ts'

const FLOATING = { CHF: 0.8, EUR: 0.85, GBP: 0.75, JPY: 150, SEK: 9.5 }

/** Of each day from `today`, whether the open feed publishes new rates; returns the days of the events. */
async function daysReported(today: string, days: string) {
  const world = openFeed(today, {})
  const { rates } = JSON.parse(await world.answer().text())
  await world.refresh()
  let factor = 1
  for (const day of days.split(' ')) {
    if (day === 'new') factor *= 1.001
    const quotes = Object.entries(rates).map(([code, rate]) => [code, Number(rate) * factor])
    await world.publish({ ...Object.fromEntries(quotes), USD: 1 })
  }
  const { status, body } = await world.get('/v1/latest')
  expect([status, body.rates.JPY, world.eventsOf('stale_served')]).toEqual([
    200,
    expect.closeTo(rates.JPY * factor, 6),
    [],
  ])
  return world.eventsOf('rates_repeated')
}

describe('latest rates that are equal on several days', () => {
  it('are reported once, on the third day, and served', async () => {
    const about = { type: 'rates_repeated', dataSet: 'latest', count: 3 }
    const provider = 'Rates By Exchange Rate API'
    const month = Array.from({ length: 30 }, () => 'equal')
    expect(await daysReported('2026-11-17', month.join(' '))).toEqual([
      { ...about, provider, day: '2026-11-19' },
    ])
  })

  it('are reported again after other rates', async () => {
    const reported = await daysReported(
      '2026-11-16',
      'equal equal equal new equal equal equal equal',
    )
    expect(reported.map(({ day }) => day)).toEqual(['2026-11-18', '2026-11-24'])
  })

  it.each([
    ['Friday to Monday', '2026-11-20', 'equal equal equal new'],
    ['Saturday to Monday, after the close on Friday', '2026-11-20', 'new equal equal new'],
    ['two days', '2026-11-17', 'equal new equal new'],
  ])('are not reported from %s', async (_, today, days) => {
    expect(await daysReported(today, days)).toEqual([])
  })
})

/** Returns how often tables of the same `rates`, one each `interval` ms, are reported in a month. */
async function reports(base: string, rates: Record<string, number>, interval = DAY) {
  const runtime = virtualRuntime(Date.UTC(2026, 10, 17, 12))
  const startedAt = runtime.now()
  const latest: LatestProvider = {
    attribution: { name: 'Our bank', url: 'https://bank.example' },
    async fetchLatest({ now }) {
      const updatedAt = startedAt + Math.floor((now() - startedAt) / interval) * interval
      return { base, updatedAt, nextUpdateAt: updatedAt + interval, rates }
    },
  }
  const { handler, eventsOf } = recordedHandler(runtime, { providers: { latest, history: false } })
  for (let at = startedAt; at < startedAt + 30 * DAY; at += Math.min(interval, DAY)) {
    await handler.refresh()
    await runtime.advance(Math.min(interval, DAY))
  }
  expect((await handler.rates.latest({ base })).rates).toMatchObject(rates)
  return eventsOf('rates_repeated').length
}

describe('equal tables', () => {
  const { SEK: _, ...four } = FLOATING
  const pegged = { AED: 3.6725, BHD: 0.376, JOD: 0.709, OMR: 0.3845, QAR: 3.64, SAR: 3.75 }

  it.each([
    ['once for five currencies that float', FLOATING, DAY, 1],
    ['once if they are published each hour', FLOATING, HOUR, 1],
    ['never for four currencies', four, DAY, 0],
    ['never for pegged currencies', pegged, DAY, 0],
    ['never if they are published each week', FLOATING, 7 * DAY, 0],
  ])('are reported %s', async (_name, rates, interval, count) => {
    expect(await reports('USD', rates, interval)).toBe(count)
  })
})

describe('countEqualDays()', () => {
  const day = (date: string, change: object = {}) => ({ date, rates: { ...FLOATING, ...change } })

  it.each<[string, ReturnType<typeof day>[], number]>([
    ['three equal days', [day('2026-11-18'), day('2026-11-19'), day('2026-11-20')], 3],
    ['equal days after another', [day('2026-11-18', { EUR: 0.9 }), day('2026-11-20')], 1],
    ['a single day', [day('2026-11-20')], 1],
    ['a code that is new', [day('2026-11-19'), day('2026-11-20', { NOK: 10 })], 1],
    ['a code that has gone', [day('2026-11-19', { NOK: 10 }), day('2026-11-20')], 2],
    [
      'only a rate of the app that moved',
      [day('2026-11-19', { XTS: 1 }), day('2026-11-20', { XTS: 2 })],
      2,
    ],
  ])('counts %s', (_name, days, count) => {
    const { data } = validateHistory(
      { base: 'USD', days, derived: { XTS: 'overlay' } },
      Date.UTC(2026, 10, 21),
    )
    expect(countEqualDays(data)).toBe(count)
  })
})
