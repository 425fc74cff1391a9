import { splitCodes } from '../api/parameter-kinds.ts'
import { fixedRatioText } from '../api/resolve-code.ts'
import { ratioParts } from '../api/rounded.ts'
import type { Conversion, ConversionList, ConvertedAmount } from '../index.ts'
import { roundToUnits } from '../money/amounts.ts'
import { findSuccession, findWithdrawal, redenominatedBy } from '../rates/currency-code.ts'
import { toDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { divideSignificant, multiply, toDecimal, toNumber, toText } from '../rates/decimal.ts'
import type { Decimal } from '../rates/decimal.ts'
import type { Substitute } from './output.ts'

type Params = Readonly<Record<string, string>> & { from: string; to: string }

const RATE_DIGITS = 10
const RESULT_DIGITS = 15

/** Undefined without a withdrawn currency that has a fixed ratio. `now` is in ms since the Unix epoch. */
export function substituteWithdrawn<Body extends Conversion | ConversionList>(
  params: Params,
  now: number,
): Substitute<Body> | undefined {
  const { from, to, date } = params
  const day = date ?? toDay(now)
  const ratios = new Map<string, FixedRatio>()
  for (const code of [from, ...splitCodes(to)]) {
    const found = findFixedRatio(code, day)
    if (found) ratios.set(found.code, { ...found, day })
  }
  if (ratios.size === 0) return undefined
  const currentOf = (code: string): string => ratios.get(code.toUpperCase())?.successor ?? code
  return {
    params: { ...params, from: currentOf(from), to: to.split(',').map(currentOf).join(',') },
    notes: Array.from(ratios.values(), ({ note }) => note),
    restore: (body) => restore(body, params, ratios),
  }
}

interface FixedRatio {
  code: string
  /** Code of the first successor that is not withdrawn. */
  successor: string
  /** Units of the withdrawn currency for one unit of the successor, fixed by law. */
  ratio: number
  note: string
  /** Requested day, which may be after that of the rates. */
  day: Day
}

function findFixedRatio(sent: string, day: Day): Omit<FixedRatio, 'day'> | undefined {
  const code = sent.toUpperCase()
  const withdrawal = findWithdrawal(code)
  const succession = findSuccession(code, day)
  if (!withdrawal || !succession || succession.ratio === null) return undefined
  const { successor, ratio } = succession
  const text = fixedRatioText(code, successor, ratio)
  const note = `${code} was withdrawn on ${withdrawal.withdrawnAt}: converted at the fixed ratio${text}`
  return { code, successor, ratio, note }
}

function restore<Body extends Conversion | ConversionList>(
  body: Body,
  { from: sent, to: list, amount: typed, round }: Params,
  ratios: ReadonlyMap<string, FixedRatio>,
): Body {
  const [from = '', ...targets] = splitCodes(`${sent},${list}`).map((code) => code.toUpperCase())
  const isReverse = 'reverse' in body
  const partsOf = (code: string): readonly [Decimal, Decimal] => {
    const { successor, ratio, day } = ratios.get(code) ?? { successor: code, ratio: 1, day: '' }
    return ratioParts(ratio / redenominatedBy(successor, body.date ?? day, day))
  }
  const convert = (code: string, rate: number): ConvertedAmount => {
    const [[theirs, theirPer], [ours, ourPer]] = [partsOf(code), partsOf(from)]
    const amount = toDecimal(typed ?? body.amount)
    const over = multiply(multiply(toDecimal(rate), theirs), ourPer)
    const own = multiply(ours, theirPer)
    const [dividend, divisor] = isReverse
      ? [multiply(amount, own), over]
      : [multiply(amount, over), own]
    const options = { cash: round === 'cash' }
    const units = (): Decimal => roundToUnits(dividend, isReverse ? from : code, options, divisor)
    return {
      rate: toNumber(divideSignificant(over, own, RATE_DIGITS)),
      result: divideAmount(dividend, divisor),
      ...(round !== undefined && { rounded: toText(units()) }),
    }
  }
  if (!('results' in body)) {
    const [to = ''] = targets
    return { ...body, from, to, ...convert(to, body.rate) }
  }
  const { results } = body
  const rates = targets.map((code) => {
    const current = results[ratios.get(code)?.successor ?? code]
    return [code, convert(code, current?.rate ?? 1)]
  })
  return { ...body, from, results: Object.fromEntries(rates) }
}

/** By a power of ten, as most ratios are, the quotient has all digits. */
function divideAmount(dividend: Decimal, divisor: Decimal): number {
  const [, zeros] = /^1(0*)$/.exec(String(divisor.digits)) ?? []
  if (zeros === undefined) return toNumber(divideSignificant(dividend, divisor, RESULT_DIGITS))
  const exponent = dividend.exponent - divisor.exponent - zeros.length
  return toNumber({ digits: dividend.digits, exponent })
}
