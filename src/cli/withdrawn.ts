import { toConversion } from '../api/convert.ts'
import type { ConversionResult } from '../api/convert.ts'
import type { ConversionParams } from '../api/parameter-types.ts'
import { fixedRatioText } from '../api/resolve-code.ts'
import type { Rates } from '../api/resolve-code.ts'
import type { RatesOperations } from '../index.ts'
import { amountNeeded, exactProduct, quotient } from '../rates/arithmetic.ts'
import { findSuccession, findWithdrawal, redenominatedBy } from '../rates/currency-code.ts'
import { toDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'

/**
 * Converts withdrawn currencies by the rates of their successors and the ratios that laws fixed. Undefined without such a
 * currency. `now` is in ms since the Unix epoch.
 *
 * @throws {RatesError} as `RatesOperations.convert` does for the successors
 */
export async function convertWithdrawn(
  params: ConversionParams,
  { convert }: RatesOperations,
  now: number,
): Promise<{ record: ConversionResult; notes: string[] } | undefined> {
  const { from, to, amount: _amount, reverse: _reverse, round: _round, ...choice } = params
  const day = params.date ?? toDay(now)
  const targets = [to].flat()
  const fixed = new Map([from, ...targets].flatMap((code) => findFixed(code.toUpperCase(), day)))
  if (fixed.size === 0) return undefined
  const currentOf = (code: string): string => fixed.get(code.toUpperCase())?.successor ?? code
  const current = await convert({ ...choice, from: currentOf(from), to: targets.map(currentOf) })
  const { date, asked, rule, updatedAt, source: attribution, tableNumber, results } = current
  const unitsOf = (code: string): number => {
    const { ratio = 1, successor = code } = fixed.get(code) ?? {}
    return ratio / redenominatedBy(successor, date ?? day, day)
  }
  const base = from.toUpperCase()
  const rates = new Map([[base, 1]])
  const derived: Record<string, string> = {}
  for (const code of targets.map((each) => each.toUpperCase())) {
    const found = results[currentOf(code).toUpperCase()]
    if (!found) continue
    rates.set(code, amountNeeded(exactProduct(found.rate, unitsOf(code)), unitsOf(base)))
    if (found.derived) derived[code] = found.derived
  }
  const table = { base, rates, updatedAt, derived, tableNumber }
  const byRule = rule && { asked, rule }
  const snapshot: Rates = Object({ table, attribution, ...(date && { date, byRule }) })
  const notes = Array.from(fixed.values(), ({ note }) => note)
  const record = toConversion(snapshot, params)
  const converted = 'results' in record ? Object.values(record.results) : [record]
  // Results have all digits of the ratio; rates have 10, as others do.
  for (const each of converted) each.rate = quotient(each.rate, 1)
  return { record, notes }
}

type Fixed = readonly [code: string, fixed: { successor: string; ratio: number; note: string }]

/** The successor is the first one that is not withdrawn; a ratio is the units of `code` for one unit of it. */
function findFixed(code: string, day: Day): Fixed[] {
  const withdrawal = findWithdrawal(code)
  const { successor, ratio } = findSuccession(code, day) ?? { ratio: null }
  if (!withdrawal || !successor || ratio === null) return []
  const text = fixedRatioText(code, successor, ratio)
  const note = `${code} was withdrawn on ${withdrawal.withdrawnAt}: converted at the fixed ratio${text}`
  return [[code, { successor, ratio, note }]]
}
