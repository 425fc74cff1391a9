import { isCode } from '../rates/currency-code.ts'
import { toDay } from '../rates/dates.ts'
import {
  MAX_AGREEING_MOVE,
  MAX_CONFIRMING_MOVE,
  countManyMoved,
  findFixedRate,
  findImplausibleMajors,
  isDoubtfulMove,
  moveBetween,
  moveFromOthers,
} from '../rates/rate-table.ts'
import { RejectedError } from '../rates/validate.ts'
import type { LatestTable, ReferenceTable } from './provider.ts'

/** About 160 currencies are in use. */
const MIN_CODES = 20
const MAX_CODES = 1_000

/** Real rates between any two currencies stay five powers of ten within these limits. */
const MIN_PLAUSIBLE_RATE = 1e-9
const MAX_PLAUSIBLE_RATE = 1e9

const MIN_SHARE_KEPT = 0.8

type RateOf = (code: string) => number | undefined

/**
 * Checks a table of a real market and returns the plausible one. Implausible rates become NaN and are dropped later. A rate
 * that moved too far from that of `previous` (see `isDoubtfulMove`) is quarantined: `rates` keeps the previous value and
 * `unconfirmed` has the new one, until one of `references` agrees, or none contradicts it and a later publication has about
 * the same value. A rate that `previous` lacks is compared with `references`, and is NaN if doubtful. Withdrawn currencies
 * with a fixed ratio are not checked: their rates are corrected later.
 *
 * @throws {RejectedError} for fewer than `minCodes` (default 20) or more than 1,000 codes, fewer than 80 % of those of `previous`, many rates that
 * moved at once, or major currencies far outside their range
 */
export function runSanityChecks(
  table: LatestTable,
  previous: LatestTable | undefined,
  references: readonly ReferenceTable[] = [],
  minCodes: number = MIN_CODES,
): LatestTable {
  const rates = mapRates(table.rates, (_code, rate) => (isPlausible(rate) ? rate : NaN))
  const codes = Object.keys(rates).filter(isCode)
  if (codes.length < minCodes || codes.length > MAX_CODES) {
    throw new RejectedError(`expected ${minCodes}–1,000 currencies, got ${codes.length}`)
  }
  const countBefore = previous ? Object.keys(previous.rates).length : 0
  if (codes.length < MIN_SHARE_KEPT * countBefore) {
    throw new RejectedError(
      `expected at least 80 % of the ${countBefore} previous currencies, got ${codes.length}`,
    )
  }
  return withoutImplausibleMajors(quarantine({ ...table, rates }, codes, previous, references))
}

function quarantine(
  table: LatestTable,
  codes: readonly string[],
  previous: LatestTable | undefined,
  references: readonly ReferenceTable[],
): LatestTable {
  const { base, rates } = table
  const day = toDay(table.updatedAt)
  const previousRate = against(base, previous?.base ?? base, (code) => previous?.rates[code])
  const quarantinedRate: RateOf = (code) =>
    previous?.base === base ? previous.unconfirmed?.[code] : undefined

  const moveOf = (code: string): number => {
    const rate = rates[code]
    const fromOthers = moveFromOthers(references, { base, code, rate })
    const fromQuarantined = moveBetween(rate, quarantinedRate(code))
    const isRepeated = isLater(table, previous) && fromQuarantined <= MAX_CONFIRMING_MOVE
    if (fromOthers <= MAX_AGREEING_MOVE) return 1
    if (isRepeated && !isDoubtfulMove(code, fromOthers)) return 1
    const moves = [moveBetween(rate, previousRate(code)), fromOthers, fromQuarantined]
    return moves.find((move) => !Number.isNaN(move)) ?? NaN
  }
  const compared = codes
    .filter((code) => code !== base && !findFixedRate(code, day, (each) => rates[each]))
    .map((code) => ({ code, move: moveOf(code) }))
    .filter(({ move }) => !Number.isNaN(move))
  const many = countManyMoved(compared.map(({ move }) => move))
  if (many !== undefined) {
    throw new RejectedError(
      `${many} of ${compared.length} rates moved by more than 20 %; expected at most 10 % of them`,
    )
  }
  const doubtful = new Set(
    compared.filter(({ code, move }) => isDoubtfulMove(code, move)).map(({ code }) => code),
  )
  if (doubtful.size === 0) return table
  const quarantined = [...doubtful].map((code) => [code, rates[code] ?? NaN] as const)
  return {
    ...table,
    rates: mapRates(rates, (code, rate) =>
      doubtful.has(code) ? (previousRate(code) ?? NaN) : rate,
    ),
    unconfirmed: { ...table.unconfirmed, ...Object.fromEntries(quarantined) },
  }
}

function withoutImplausibleMajors(table: LatestTable): LatestTable {
  const { base, rates } = table
  const { codes, isMany } = findImplausibleMajors({ base, rateOf: (code) => rates[code] })
  if (isMany) {
    throw new RejectedError(
      `implausible US dollar rates of ${codes.join(', ')}; expected within 3 times their range since 1999`,
    )
  }
  if (codes.length === 0) return table
  return { ...table, rates: mapRates(rates, (code, rate) => (codes.includes(code) ? NaN : rate)) }
}

function isLater(table: LatestTable, previous: LatestTable | undefined): boolean {
  if (!previous || table.updatedAt === previous.updatedAt) return false
  return table.updatedAt > (previous.publishedAt ?? previous.updatedAt)
}

function against(base: string, quotedBase: string, rateOf: RateOf): RateOf {
  if (base === quotedBase) return rateOf
  const baseRate = rateOf(base)
  return (code) => {
    const rate = code === quotedBase ? 1 : rateOf(code)
    return rate === undefined || baseRate === undefined ? undefined : rate / baseRate
  }
}

function mapRates(
  rates: LatestTable['rates'],
  change: (code: string, rate: number) => number,
): LatestTable['rates'] {
  return Object.fromEntries(Object.entries(rates).map(([code, rate]) => [code, change(code, rate)]))
}

/** Values that are not numbers are rejected later. */
function isPlausible(rate: unknown): boolean {
  return typeof rate !== 'number' || (rate >= MIN_PLAUSIBLE_RATE && rate <= MAX_PLAUSIBLE_RATE)
}
