import { array, assert, asyncProperty, constantFrom, dictionary, integer, record } from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { HistoryDay, HistoryProvider } from '../../src/index.ts'
import { addDays } from '../fixtures/dates.ts'
import { recordedHandler } from '../fixtures/recorded-handler.ts'
import { DAY, virtualRuntime } from '../virtual-runtime.ts'
import { decimal } from './arbitrary-numbers.ts'
import { handlerOfDays } from './markets.ts'

const FIRST = '2026-11-02'
const LAST = { date: '2026-11-11', rates: { CHF: 0.93 } }
const CODES = ['USD', 'JPY', 'GBP']

const day = record({
  date: integer({ min: 0, max: 8 }).map((count) => addDays(FIRST, count)),
  rates: dictionary(constantFrom(...CODES), decimal(10, 2), { minKeys: 1 }),
})
const days = array(day, { minLength: 1, maxLength: 6 })

/** Starts a handler on the evening of the last day; returns what it has of `code` since the first. */
function serve(listed: readonly HistoryDay[], store?: Map<string, string>) {
  const runtime = virtualRuntime(Date.parse(`${LAST.date}T18:00Z`))
  const upstream = { days: [...listed, LAST] }
  const history: HistoryProvider = {
    attribution: { name: 'Generated', url: 'https://rates.example' },
    fetchHistory: async () => ({ base: 'EUR', days: upstream.days }),
  }
  const { handler } = recordedHandler(runtime, { providers: { history }, store })
  const pointsOf = async (code: string): Promise<(readonly [day: string, rate: number])[]> => {
    const series = handler.rates.history({ from: 'EUR', to: code, start: FIRST })
    return (await series.catch(() => ({ points: [] }))).points.map(({ d, r }) => [d, r])
  }
  async function refresh(next: readonly HistoryDay[]): Promise<void> {
    upstream.days = [...next, LAST]
    await runtime.advance(DAY)
    await handler.refresh()
  }
  return { handler, pointsOf, refresh }
}

const byDate = (listed: readonly HistoryDay[]) =>
  new Map(listed.map(({ date, rates }) => [date, rates]))

describe('the days of two downloads', () => {
  it('are all there, sorted, with the later version of each rate', async () => {
    const property = asyncProperty(days, days, async (before, after) => {
      const { handler, pointsOf, refresh } = serve(before)
      await handler.refresh()
      await refresh(after)
      const [current, added] = [byDate(before), byDate(after)]
      const dates = [...new Set([...current.keys(), ...added.keys()])].toSorted()
      for (const code of CODES) {
        const expected = dates.flatMap((date) => {
          const rate = added.get(date)?.[code] ?? current.get(date)?.[code]
          return rate === undefined ? [] : [[date, rate]]
        })
        expect(await pointsOf(code)).toEqual(expected)
      }
    })
    await assert(property)
  })

  it('are kept for five years and two weeks', async () => {
    const store = new Map<string, string>()
    const rates = { USD: 1 }
    const old = ['2021-10-27', '2021-10-28', '2021-10-29'].map((date) => ({ date, rates }))
    const { handler, refresh } = serve(old, store)
    await handler.refresh()
    // The first day of the window, and the stored ones.
    const stored = (): string[] => store.get('rates:v1:history')?.match(/\d{4}-\d\d-\d\d/g) ?? []
    const dates = ['2021-10-27', '2021-10-28', '2021-10-29', '2026-11-11']
    expect(stored()).toEqual(['2021-10-28', ...dates])
    await refresh([{ date: '2026-11-10', rates }])
    expect(stored()).toEqual(['2021-10-29', '2021-10-29', '2026-11-10', '2026-11-11'])
  })
})

const MARKET = {
  '2026-11-02': { USD: 1.1, RUB: 90 },
  '2026-11-05': { USD: 1.1, ISK: 140 },
  '2026-11-06': { USD: 1.1, HRK: 7.5 },
  '2026-11-18': { USD: 1.1, BGN: 1.96 },
  '2026-11-19': { USD: 1.1, TRY: 49 },
}

it.each([
  ['2026-11-19', '2026-11-19', 'BGN, EUR, HRK, TRY, USD'],
  ['2026-11-18', '2026-11-18', 'BGN, EUR, HRK, ISK, USD'],
  ['2026-11-17', '2026-11-06', 'EUR, HRK, ISK, RUB, USD'],
])(
  'covers on %s the codes of the 14 days up to %s, and the base',
  async (today, newest, covered) => {
    const { rates } = handlerOfDays(MARKET, today)
    const history = rates.history({ from: 'QQQ', to: 'EUR' })
    await expect(history).rejects.toThrow(`(history covers ${covered})`)
    expect((await rates.history({ from: 'EUR', to: 'USD' })).points.at(-1)?.d).toBe(newest)
  },
)
