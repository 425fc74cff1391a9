import { exactFraction, findFixedRatio } from '../api/fixed-ratio.ts'
import type { FixedRatio } from '../api/fixed-ratio.ts'
import type { Conversion, ConversionList, ConvertedAmount } from '../index.ts'
import type { Substitute } from './output.ts'
import { splitCodes } from './usage.ts'

type Params = Readonly<Record<string, string | boolean | undefined>> & { from: string; to: string }

const RATE_DIGITS = 10
const RESULT_DIGITS = 15

/** Undefined without a withdrawn currency that has a fixed ratio. `now` is in ms since the Unix epoch. */
export function substituteWithdrawn<Body extends Conversion | ConversionList>(
  params: Params,
  now: number,
): Substitute<Body> | undefined {
  const { from, to, date } = params
  const today = new Date(now).toISOString().slice(0, 10)
  const day = typeof date === 'string' ? date : today
  const ratios = new Map<string, FixedRatio>()
  for (const code of [from, ...splitCodes(to)]) {
    const found = findFixedRatio(code, day)
    if (found) ratios.set(found.code, found)
  }
  if (ratios.size === 0) return undefined
  const currentOf = (code: string): string => ratios.get(code.toUpperCase())?.successor ?? code
  const targets = splitCodes(to).map((code) => code.toUpperCase())
  return {
    params: { ...params, from: currentOf(from), to: to.split(',').map(currentOf).join(',') },
    notes: Array.from(ratios.values(), ({ note }) => note),
    restore: (body) => restore(body, { from: from.toUpperCase(), targets, ratios }),
  }
}

interface Sent {
  from: string
  targets: readonly string[]
  ratios: ReadonlyMap<string, FixedRatio>
}

function restore<Body extends Conversion | ConversionList>(
  body: Body,
  { from, targets, ratios }: Sent,
): Body {
  const isReverse = 'reverse' in body
  const convert = (code: string, rate: number): ConvertedAmount => {
    const [own, other] = [ratios.get(from)?.ratio ?? 1, ratios.get(code)?.ratio ?? 1]
    const over = [rate, other]
    const under = [own]
    return {
      rate: Number(exactFraction(over, under, RATE_DIGITS).toPrecision(RATE_DIGITS)),
      result: isReverse
        ? exactFraction([body.amount, ...under], over, RESULT_DIGITS)
        : exactFraction([body.amount, ...over], under, RESULT_DIGITS),
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
