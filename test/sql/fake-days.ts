import type { DaysParams, RatesDay } from '../../src/index.ts'

const DAY_MS = 86_400_000

/** Returns weekdays from `start`, with rates that depend on day and code. */
export function weekdays(start: string, count: number, codes: readonly string[]): RatesDay[] {
  const first = Date.parse(start) / DAY_MS
  return Array.from({ length: count }, (_, index) => first + index)
    .filter((day) => (day + 4) % 7 !== 0 && (day + 4) % 7 !== 6)
    .map((day) => ({
      date: new Date(day * DAY_MS).toISOString().slice(0, 10),
      source: 'ecb',
      base: 'EUR',
      rates: Object.fromEntries(
        codes.map((code, index) => [code, (((day * 7_919 + index * 104_729) % 99_991) + 1) / 1e4]),
      ),
    }))
}

/** Returns `rates.days` of fixed days: by the parameters `start`, `source` and `signal`, as the operation does. */
export function daysOf(all: readonly RatesDay[]) {
  return {
    async *days({ start, source, signal }: DaysParams): AsyncGenerator<RatesDay> {
      for (const day of all) {
        signal?.throwIfAborted()
        if (day.date >= start && (source ?? day.source) === day.source) yield day
      }
    },
  }
}
