import { dayOf, fourOClock, targetDays } from '../world/truth.ts'
import type { Publication, ReferenceRates } from '../world/truth.ts'

const DAY = 86_400_000
const TEN_MINUTES = 600_000

/** Derived rates are rounded to ten digits. */
const ROUNDING = 1e-9

/** What was ever let through the gates, and so may be served. Times in ms since the Unix epoch. */
export interface Oracle {
  readonly referenceRates: ReferenceRates
  /** Whether reference rates of both currencies are published for `day`. */
  isQuoted(day: string, pair: Pair): boolean
  /** A process whose clock is at `clock` took a table from the upstream. */
  takeTable(taken: Taken, clock: number): void
  /** A process whose clock is at `clock` took reference rates. */
  takeHistory(clock: number): void
  /** Whether a publication of this time has been taken. */
  isKnown(updatedAt: number): boolean
  /** Codes whose rates in `sent` are more than ten times, or less than a tenth, of any that may be served now. */
  jumped(updatedAt: number, sent: Publication): string[]
  /** How many codes the smallest table has that was taken as this publication. */
  fewestCodes(updatedAt: number): number
  /** What is wrong with a whole table, or with the rate of a pair, of the publication of `updatedAt`. */
  objectToTable(served: Served, base: string, rates: Record<string, number>): string | undefined
  objectToRate(served: Served, pair: Pair, rate: number): string | undefined
  /** By when a process that holds the publication has certainly had to refresh it, and before when certainly not. */
  latestDue(updatedAt: number): { earliest: number; latest: number }
  historyDue(newestDay: string): { earliest: number; latest: number }
}

/** Two currencies, by their codes. */
interface Pair {
  from: string
  to: string
}

/** A publication that a process serves. */
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

interface KnownPublication {
  taken: Taken[]
  loadedAt: number
  /** The earliest and the latest next update that was announced with it. */
  announced: [earliest: number, latest: number]
}

const UNKNOWN: KnownPublication = {
  taken: [],
  loadedAt: Infinity,
  announced: [-Infinity, Infinity],
}

/** An oracle that knows the truth about reference rates, and of latest rates what it is reported. */
export function createOracle(referenceRates: ReferenceRates): Oracle {
  const publications = new Map<number, KnownPublication>()
  const rateSeen = new Map<string, Set<number>>()
  let historyLatest = -Infinity

  /** What is held back is not served, so long as no later table is taken with it. */
  function remember({ sent, heldBack }: Taken): void {
    for (const [code, rate] of Object.entries(sent.rates)) {
      if (heldBack.includes(code)) continue
      const seen = rateSeen.get(code)
      if (seen) seen.add(rate)
      else rateSeen.set(code, new Set([rate]))
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
    isQuoted(day, { from, to }) {
      const rates = referenceRates.on(day)
      return rates !== undefined && [from, to].every((code) => code === 'EUR' || rates.has(code))
    },
    takeTable(taken, clock) {
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
    takeHistory(clock) {
      historyLatest = Math.max(historyLatest, clock + TEN_MINUTES, nextPublication(clock))
    },
    isKnown: (updatedAt) => publications.has(updatedAt),
    jumped(updatedAt, { rates }) {
      const served = takenAt({ updatedAt, heldBack: [] })
      const isFar = (code: string, rate: number): boolean =>
        served.every((taken) => {
          const before = [...candidates(taken, code)]
          return before.length > 0 && before.every((each) => move(rate, each) > 10)
        })
      const far = Object.entries(rates).filter(([code, rate]) => isRate(rate) && isFar(code, rate))
      return far.map(([code]) => code)
    },
    fewestCodes: (updatedAt) =>
      Math.min(
        ...(publications.get(updatedAt) ?? UNKNOWN).taken.map(
          ({ sent }) => Object.keys(sent.rates).length,
        ),
      ),
    objectToTable(served, base, rates) {
      if (takenAt(served).some((taken) => isTableOf(taken, base, rates))) return undefined
      return `the table of ${base} is none that was published at ${served.updatedAt} and taken`
    },
    objectToRate(served, pair, rate) {
      if (takenAt(served).some((taken) => isRateOf(taken, pair, rate))) return undefined
      return `${rate} is no rate of ${pair.from} in ${pair.to} published at ${served.updatedAt}`
    },
    latestDue(updatedAt) {
      const { announced, loadedAt } = publications.get(updatedAt) ?? UNKNOWN
      return {
        // A table is loaded after it is published; the loader's clock may have been a day behind.
        earliest: Math.max(announced[0], updatedAt - 25 * 3_600_000),
        latest: Math.max(announced[1], loadedAt + TEN_MINUTES),
      }
    },
    historyDue: (newestDay) => ({
      earliest: referenceRates.availableAt(newestDay) - 25 * 3_600_000,
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
  const days = targetDays(dayOf(instant), dayOf(instant + 7 * DAY))
  return days.map(fourOClock).find((due) => due > instant) ?? Infinity
}
