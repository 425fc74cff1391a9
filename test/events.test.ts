import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../src/index.ts'
import type { LatestProvider, RatesEvent } from '../src/index.ts'
import { fakeClock } from '../src/testing/index.ts'
import { codes } from './fixtures/codes.ts'
import { HOUR } from './virtual-runtime.ts'

const GOOD = Object.fromEntries(codes(40).map((code) => [code, 2]))

function namesIn(event: RatesEvent): string[] {
  if (event.type === 'rates_dropped') return [event.type, ...event.dropped]
  if (event.type === 'rates_deviating') {
    return [event.type, ...event.corrections.map(({ code }) => code)]
  }
  return 'codes' in event ? [event.type, ...event.codes] : []
}

function hourlyFeed(rates: object, start = '2026-11-20T00:30:00Z') {
  const now = fakeClock(start)
  const fetchLatest = async () =>
    Object({ base: 'EUR', updatedAt: now(), nextUpdateAt: now() + 1_000, rates: published })
  const attribution = { name: 'Hourly', url: 'https://hourly.example' }
  const latest: LatestProvider = { attribution, fetchLatest, validateStored: (table) => table }
  let published: object = {}
  let named: string[] = []
  const { refresh } = createRatesHandler({
    now,
    providers: { latest, history: false },
    onEvent: (event) => void named.push(...namesIn(event)),
  })
  return {
    now,
    /** Publishes these rates; returns the event types and names that follow. */
    async publish(changed = rates): Promise<string[]> {
      named = []
      published = { ...GOOD, ...changed }
      await refresh()
      now.advance(HOUR)
      return named
    },
  }
}

describe('events that name codes', () => {
  it.each<[string, Record<string, unknown>, unknown[]]>([
    ['a bad rate', { BAD: null }, ['rates_dropped', 'BAD']],
    ['a key that is not a code', { 'EUR=X': 1 }, ['rates_dropped', 'EUR=X']],
    ['a rate that contradicts the law', { BGN: 2 }, ['rates_deviating', 'BGN']],
  ])('are emitted once a day for %s', async (_, rates, named) => {
    const { publish } = hourlyFeed(rates)
    for (let day = 0; day < 3; day += 1) {
      expect(await publish()).toEqual(named)
      for (let hour = 1; hour < 24; hour += 1) expect(await publish()).toEqual([])
    }
  })

  it('are emitted once a day for a code that is no longer published', async () => {
    const { publish } = hourlyFeed({ USD: 1.1 }, '2026-11-20T22:30:00Z')
    expect(await publish()).toEqual([])
    expect(await publish({})).toEqual(['rates_lost', 'USD'])
    expect(await publish({})).toEqual(['rates_lost', 'USD'])
    for (let hour = 1; hour < 24; hour += 1) expect(await publish({})).toEqual([])
  })

  it('are emitted at once for another code, or another reason', async () => {
    const { publish } = hourlyFeed({ BGN: 2 })
    expect(await publish()).toEqual(['rates_deviating', 'BGN'])
    expect(await publish({ BGN: 2, DEM: 2 })).toEqual(['rates_deviating', 'DEM'])
    const reported = await publish({ BGN: null, DEM: 2 })
    expect(reported).toEqual(['rates_dropped', 'BGN'])
    expect(await publish({ BGN: 2, DEM: 2 })).toEqual([])
  })

  it('are limited where an upstream invents ever more names', async () => {
    const { publish } = hourlyFeed({})
    const made = (publication: number): Record<string, unknown> =>
      Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`${publication}-${index}`, 1]))
    const lengths: number[] = []
    for (let publication = 0; publication < 5; publication += 1) {
      lengths.push((await publish(made(publication))).length)
    }
    expect(lengths).toEqual([601, 601, 0, 0, 0])
  })
})
