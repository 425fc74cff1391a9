import { createRatesHandler } from '../../src/index.ts'
import type { HistoryProvider, RatesHandler } from '../../src/index.ts'

const attribution = { name: 'Generated', url: 'https://rates.example' }

export type Days = Record<string, Record<string, number>>

/** Creates a handler whose reference rates are those of `days`, on the evening of `today`. */
export function handlerOfDays(days: Days, today = '2026-11-20'): RatesHandler {
  const now = (): number => Date.parse(`${today}T18:00Z`)
  const history: HistoryProvider = {
    attribution,
    async fetchHistory({ start, end }) {
      const requested = Object.entries(days).filter(([date]) => date >= start && date <= end)
      return { base: 'EUR', days: requested.map(([date, rates]) => ({ date, rates })) }
    },
  }
  return createRatesHandler({ now, providers: { history } })
}

/** Creates a handler whose latest rates are `rates` against `base`, published at `now`. */
export function handlerOfTable(
  rates: Record<string, number>,
  base = 'USD',
  now = Date.UTC(2026, 10, 20, 18),
): RatesHandler {
  const table = { base, updatedAt: now, nextUpdateAt: now + 86_400_000, rates }
  const latest = { attribution, fetchLatest: async () => table }
  return createRatesHandler({ providers: { latest }, now: () => now })
}
