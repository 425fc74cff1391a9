import { toDay } from '../../fixtures/dates.ts'
import { DAY, HOUR, MINUTE } from '../../virtual-runtime.ts'
import { hourInFrankfurt, targetDays } from '../world/truth.ts'
import type { Publication, ReferenceRates } from '../world/truth.ts'

const TEN_MINUTES = 10 * MINUTE

/** Derived rates are rounded to ten digits. */
const ROUNDING = 1e-9

interface Pair {
  from: string
  to: string
}

interface Served {
  updatedAt: number
  /** Codes whose rates the process holds back beside those that were held back before. */
  heldBack: readonly string[]
}

/** A table as it was sent, and what of it is not served. */
interface Taken {
  sent: Publication
  dropped: readonly string[]
  heldBack: readonly string[]
}

const UNKNOWN = {
  taken: Array<Taken>(),
  loadedAt: Infinity,
  /** The earliest and the latest next update that was announced with it. */
  announced: [-Infinity, Infinity] as [number, number],
}

/** All that has passed the checks, and so may be served. Times in ms since the Unix epoch. */
export type Oracle = ReturnType<typeof createOracle>

/** An oracle that knows the truth about reference rates, and of latest rates what it is reported. */
export function createOracle(referenceRates: ReferenceRates) {
  const publications = new Map<number, typeof UNKNOWN>()
  const rateSeen = new Map<string, Set<number>>()
  let historyLatest = -Infinity

  /** What is held back is not served, so long as no later table is taken with it. */
  function remember({ sent, heldBack }: Taken): void {
    for (const [code, rate] of Object.entries(sent.rates)) {
      if (heldBack.includes(code)) continue
      rateSeen.set(code, (rateSeen.get(code) ?? new Set()).add(rate))
    }
  }

  /** What may be served as the rate of `code`: one rate, or any before where it was held back. */
  function candidates({ sent, dropped, heldBack }: Taken, code: string): Iterable<number> {
    if (heldBack.includes(code)) return rateSeen.get(code) ?? []
    const rate = code === 'USD' ? 1 : sent.rates[code]
    return rate !== undefined && isRate(rate) && !dropped.includes(code) ? [rate] : []
  }

  function isRateOf(taken: Taken, { from, to }: Pair, rate: number): boolean {
    for (const fromRate of candidates(taken, from)) {
      for (const toRate of candidates(taken, to)) {
        const isPublished = from === 'USD' || from === to
        const expected = from === to ? 1 : toRate / fromRate
        if (isPublished ? rate === expected : isNear(rate, expected)) return true
      }
    }
    return false
  }

  function isTableOf(taken: Taken, base: string, rates: Record<string, number>): boolean {
    const codes = Object.keys(taken.sent.rates).filter((code) => isServed(taken, code))
    if (!codes.includes('USD')) codes.unshift('USD')
    return (
      Object.keys(rates).join() === codes.join() &&
      codes.every((code) => isRateOf(taken, { from: base, to: code }, rates[code] ?? NaN))
    )
  }

  function isServed(taken: Taken, code: string): boolean {
    return /^[A-Z]{3}$/.test(code) && [...candidates(taken, code)].length > 0
  }

  function takenAt({ updatedAt, heldBack }: Served): readonly Taken[] {
    const taken = publications.get(updatedAt)?.taken ?? []
    if (heldBack.length === 0) return taken
    return taken.map((each) => ({ ...each, heldBack: [...each.heldBack, ...heldBack] }))
  }

  return {
    referenceRates,
    /** Whether reference rates of both currencies are published for `day`. */
    isQuoted(day: string, { from, to }: Pair) {
      const rates = referenceRates.on(day)
      return rates !== undefined && [from, to].every((code) => code === 'EUR' || rates.has(code))
    },
    /** A process whose clock is at `clock` took a table from the upstream. */
    takeTable(taken: Taken, clock: number) {
      const { sent } = taken
      const { updatedAt, nextUpdateAt } = sent
      const known = publications.get(updatedAt) ?? {
        taken: [],
        loadedAt: -Infinity,
        announced: [nextUpdateAt, nextUpdateAt],
      }
      publications.set(updatedAt, known)
      known.loadedAt = Math.max(known.loadedAt, clock)
      const [earliest, latest] = known.announced
      known.announced = [Math.min(earliest, nextUpdateAt), Math.max(latest, nextUpdateAt)]
      const isKnown = known.taken.some((other) => other.sent === sent && !isOdd(other))
      if (isKnown && !isOdd(taken)) return
      known.taken.push(taken)
      remember(taken)
    },
    takeHistory(clock: number) {
      historyLatest = Math.max(historyLatest, clock + TEN_MINUTES, nextPublication(clock))
    },
    isKnown: (updatedAt: number) => publications.has(updatedAt),
    /** Codes whose rates in `sent` are more than ten times, or less than a tenth, of any that may be served now. */
    jumped(updatedAt: number, { rates }: Publication) {
      const served = takenAt({ updatedAt, heldBack: [] })
      const isFar = (code: string, rate: number): boolean =>
        served.every((taken) => {
          const before = [...candidates(taken, code)]
          return before.length > 0 && before.every((each) => move(rate, each) > 10)
        })
      const far = Object.entries(rates).filter(([code, rate]) => isRate(rate) && isFar(code, rate))
      return far.map(([code]) => code)
    },
    /** How many codes the smallest table has that was taken as this publication. */
    fewestCodes(updatedAt: number) {
      const { taken } = publications.get(updatedAt) ?? UNKNOWN
      return Math.min(...taken.map(({ sent }) => Object.keys(sent.rates).length))
    },
    /** What is wrong with a whole table, or with the rate of a pair, of the publication that is served. */
    objectToTable(served: Served, base: string, rates: Record<string, number>) {
      if (takenAt(served).some((taken) => isTableOf(taken, base, rates))) return undefined
      return `the table of ${base} is none that was published at ${served.updatedAt} and taken`
    },
    objectToRate(served: Served, pair: Pair, rate: number) {
      if (takenAt(served).some((taken) => isRateOf(taken, pair, rate))) return undefined
      return `${rate} is no rate of ${pair.from} in ${pair.to} published at ${served.updatedAt}`
    },
    /** By when a process that holds the publication has certainly had to refresh it, and before when certainly not. */
    latestDue(updatedAt: number) {
      const { announced, loadedAt } = publications.get(updatedAt) ?? UNKNOWN
      return {
        // A table is loaded after it is published; the loader's clock may have been a day behind.
        earliest: Math.max(announced[0], updatedAt - 25 * HOUR),
        latest: Math.max(announced[1], loadedAt + TEN_MINUTES),
      }
    },
    historyDue: (newestDay: string) => ({
      earliest: referenceRates.availableAt(newestDay) - 25 * HOUR,
      latest: historyLatest,
    }),
  }
}

/** Whether something of what was sent is not served. */
function isOdd({ dropped, heldBack }: Taken): boolean {
  return dropped.length + heldBack.length > 0
}

function isRate(rate: unknown): boolean {
  return typeof rate === 'number' && rate >= 1e-9 && rate <= 1e9
}

/** By how much the larger of two rates exceeds the other. */
function move(one: number, other: number): number {
  return Math.max(one / other, other / one)
}

function isNear(rate: number, expected: number): boolean {
  return Math.abs(rate - expected) <= ROUNDING * expected
}

/** When the next reference rates after `instant` are due. */
function nextPublication(instant: number): number {
  const days = targetDays(toDay(instant), toDay(instant + 7 * DAY))
  return days.map((day) => hourInFrankfurt(day, 16)).find((due) => due > instant) ?? Infinity
}
