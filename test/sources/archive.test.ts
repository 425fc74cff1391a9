import { describe, expect, it } from 'vitest'

import type { RatesEvent } from '../../src/events.ts'
import { addDays } from '../../src/rates/day.ts'
import { FIRST_REFERENCE_DAY } from '../../src/rates/target-calendar.ts'
import { systemRuntime } from '../../src/runtime.ts'
import { createSources } from '../../src/sources/sources.ts'
import type { RateSources } from '../../src/sources/sources.ts'
import { fakeProviders } from '../../src/testing/fake-providers.ts'

const NOW = Date.UTC(2026, 10, 20, 12)
const FIVE_YEARS_AND_A_FORTNIGHT_AGO = '2021-11-06'

interface World {
  sources: RateSources
  /** The first day of every question to the provider. */
  asked: string[]
  events: RatesEvent[]
  pass(ms: number): void
  isUp: boolean
}

function open({ store }: { store?: Map<string, string> } = {}): World {
  let instant = NOW
  const { latest, history } = fakeProviders()
  const world: World = {
    asked: [],
    events: [],
    isUp: true,
    pass: (ms) => void (instant += ms),
    sources: createSources({
      latestProviders: [latest],
      historyProviders: [
        {
          attribution: history.attribution,
          async fetchHistory(range, context) {
            world.asked.push(range.start)
            if (!world.isUp) throw new Error('down')
            return history.fetchHistory(range, context)
          },
        },
      ],
      fetch,
      store,
      maxStale: { latest: 1, history: 1_000_000_000 },
      waitUntil: undefined,
      runtime: systemRuntime(() => instant),
      emit: (event) => void world.events.push(event),
    }),
  }
  return world
}

describe('history()', () => {
  it('has five years until earlier days are needed, then all of them, each loaded once', async () => {
    const { sources, asked } = open()
    const recent = await sources.history(undefined, FIVE_YEARS_AND_A_FORTNIGHT_AGO)
    expect(recent.value.history.dates[0]).toBe('2021-11-08')
    expect(asked).toEqual([FIVE_YEARS_AND_A_FORTNIGHT_AGO])
    const before = addDays(FIVE_YEARS_AND_A_FORTNIGHT_AGO, -1)
    const all = await sources.history(undefined, before)
    expect(all.value.history.dates[0]).toBe(FIRST_REFERENCE_DAY)
    expect(asked).toEqual([FIVE_YEARS_AND_A_FORTNIGHT_AGO, FIRST_REFERENCE_DAY])
    expect(await sources.history(undefined, '1980-01-01')).toMatchObject({ hit: true })
    expect((await sources.history()).value).toBe(recent.value)
    expect(asked).toHaveLength(2)
  })

  it('has the same rates on the same days either way', async () => {
    const { sources } = open()
    const recent = (await sources.history()).value.history
    const all = (await sources.history(undefined, FIRST_REFERENCE_DAY)).value.history
    const first = all.dates.indexOf(recent.dates[0] ?? '')
    expect(all.dates.slice(first)).toEqual(recent.dates)
    for (const [code, column] of recent.columns) {
      expect(all.columns.get(code)?.subarray(first)).toEqual(column)
    }
  })

  it('goes on with the last five years where the rest cannot be had', async () => {
    const world = open()
    await world.sources.history()
    world.isUp = false
    await expect(world.sources.history(undefined, FIRST_REFERENCE_DAY)).rejects.toMatchObject({
      code: 'provider_unavailable',
    })
    expect(await world.sources.history()).toMatchObject({ hit: true })
    expect(world.events).toContainEqual(
      expect.objectContaining({ type: 'upstream_failed', dataSet: 'archive' }),
    )
  })

  it('asks only for the days that are missing once it has all', async () => {
    const world = open()
    await world.sources.history(undefined, FIRST_REFERENCE_DAY)
    world.pass(4 * 86_400_000)
    await world.sources.refresh()
    expect(world.asked.toSorted()).toEqual([
      FIRST_REFERENCE_DAY,
      // That of the last five years, which nobody has needed before.
      '2021-11-10',
      '2026-11-20',
    ])
  })

  it('does not refresh what nobody has asked for', async () => {
    const world = open()
    await world.sources.refresh()
    expect(world.asked).toEqual([FIVE_YEARS_AND_A_FORTNIGHT_AGO])
  })

  it('finds all days in the store', async () => {
    const store = new Map<string, string>()
    await open({ store }).sources.history(undefined, FIRST_REFERENCE_DAY)
    const world = open({ store })
    const { value } = await world.sources.history(undefined, FIRST_REFERENCE_DAY)
    expect(value.history.dates[0]).toBe(FIRST_REFERENCE_DAY)
    expect(world.asked).toEqual([])
    expect(world.events).toContainEqual({
      type: 'rates_restored',
      dataSet: 'archive',
      loadedAt: NOW,
    })
  })
})
