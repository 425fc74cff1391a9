import { createRatesHandler } from '../../src/index.ts'
import type { RatesHandler, RatesHandlerOptions } from '../../src/index.ts'

const attribution = { name: 'Generated', url: 'https://rates.example' }

/** Rates by day, against EUR. */
export type Days = Record<string, Record<string, number>>

/** Returns the provider of the reference rates of `days`. */
export function historyOf(days: () => Days): RatesHandlerOptions['providers'] {
  return {
    history: {
      attribution,
      async fetchHistory({ start, end }) {
        const asked = Object.entries(days()).filter(([date]) => date >= start && date <= end)
        return { base: 'EUR', days: asked.map(([date, rates]) => ({ date, rates })) }
      },
    },
  }
}

/** Creates a handler whose reference rates are those of `days`, on the evening of `today`. */
export function handlerOfDays(days: Days, today = '2026-11-20'): RatesHandler {
  const now = (): number => Date.parse(`${today}T18:00Z`)
  return createRatesHandler({ now, providers: historyOf(() => days) })
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
