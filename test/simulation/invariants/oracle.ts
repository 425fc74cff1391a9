import { toDay } from '../../fixtures/dates.ts'
import { DAY, HOUR, MINUTE } from '../../virtual-runtime.ts'
import { hourInFrankfurt, targetDays } from '../world/truth.ts'
import type { ReferenceRates } from '../world/truth.ts'

const TEN_MINUTES = 10 * MINUTE

interface Pair {
  from: string
  to: string
}

/** Knows which reference rates may be served. Times in ms since the Unix epoch. */
export type Oracle = ReturnType<typeof createOracle>

export function createOracle(referenceRates: ReferenceRates) {
  let historyLatest = -Infinity
  return {
    referenceRates,
    /** Returns whether reference rates of both currencies are published for `day`, and none of them is `missing`. */
    isQuoted(day: string, { from, to }: Pair, missing?: ReadonlySet<string>) {
      const rates = referenceRates.on(day)
      const isThere = (code: string): boolean =>
        code === 'EUR' || (rates?.has(code) === true && missing?.has(`${day} ${code}`) !== true)
      return rates !== undefined && missing?.has(day) !== true && [from, to].every(isThere)
    },
    /**
     * Returns recent reference rates of `code` against the dollar, which a process at `clock` may compare latest rates
     * with.
     */
    recentRates(code: string, clock: number): number[] {
      const days = referenceRates.between(toDay(clock - 12 * DAY), toDay(clock + DAY))
      return days.flatMap((day) => {
        const rates = referenceRates.on(day)
        const [rate, dollar] = [code === 'EUR' ? 1 : rates?.get(code), rates?.get('USD')]
        return rate === undefined || dollar === undefined ? [] : [rate / dollar]
      })
    },
    takeHistory(clock: number) {
      historyLatest = Math.max(historyLatest, clock + TEN_MINUTES, nextPublication(clock))
    },
    historyDue: (newestDay: string) => ({
      earliest: referenceRates.availableAt(newestDay) - 25 * HOUR,
      latest: historyLatest,
    }),
  }
}

function nextPublication(instant: number): number {
  const days = targetDays(toDay(instant), toDay(instant + 7 * DAY))
  return days.map((day) => hourInFrankfurt(day, 16)).find((due) => due > instant) ?? Infinity
}
