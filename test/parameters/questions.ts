import { wholeNumbersFrom } from '../access/fleet.ts'
import type { OperationName, Texts, Values } from './doors.ts'

const CODES = 'USD EUR gbp JPY Chf SEK hrk CYP KWD XAU BGN XYZ'.split(' ')
const AMOUNTS = [100, 0.1, 12.34, 0, '99.90', '1e2', '.5', '90071992547409.93', 1e308, 1e-7, '1,5']
const RULES = ['on-or-before', 'exact', 'next', 'previous-business-day', 'period-end']
const INTERVALS = ['day', 'week', 'month', 'quarter', 'year']
const FIRST_DAY = Date.UTC(1998, 11, 20)

/** Creates questions that are the same for the same seed, most of them answerable. */
export function createQuestions(
  seed: number,
  { codes: known = CODES, amounts = AMOUNTS } = {},
): () => [name: OperationName, values: Values] {
  const below = wholeNumbersFrom(seed)
  const pick = (items: readonly unknown[]): unknown => items[below(items.length)]
  const often = () => below(3) > 0
  const seldom = () => below(6) === 0
  const day = (): string =>
    new Date(FIRST_DAY + below(10_200) * 86_400_000).toISOString().slice(0, 10)
  const codes = (): unknown =>
    seldom() ? Array.from({ length: 1 + below(4) }, () => pick(known)) : pick(known)
  const dated = (): Values =>
    often()
      ? {
          date: day(),
          ...(seldom() && { rule: pick(RULES) }),
          ...(seldom() && { maxAge: below(5) }),
          ...(seldom() && { source: seldom() ? 'nbp' : 'ecb' }),
        }
      : {}
  const changed = () => seldom() && { change: pick(['1D', '1M', '1Y', '2020-02-29']) }
  const history = (): Values => ({
    from: pick(known),
    to: codes(),
    ...(often() ? { start: day(), interval: pick(INTERVALS.slice(2)) } : { interval: 'day' }),
    ...(seldom() && { value: pick(['last', 'average', 'high']) }),
    ...(seldom() && { fill: 'previous' }),
  })
  return () => {
    const kind = below(10)
    if (kind === 0) return ['history', history()]
    if (kind === 1) {
      const symbols = Array.from({ length: below(4) }, () => pick(known))
      return [
        'latest',
        { base: pick(known), ...(often() && { symbols }), ...dated(), ...changed() },
      ]
    }
    return [
      'convert',
      {
        from: pick(known),
        to: codes(),
        ...(often() && { amount: pick(amounts) }),
        ...dated(),
        ...(seldom() && { reverse: below(4) > 0 }),
        ...(seldom() && { round: pick(['minor', 'cash']) }),
      },
    ]
  }
}

/** In a query, a trailing comma makes a list of one. */
export function toTexts(values: Values): Texts {
  const texts = Object.entries(values).map(([name, value]) => {
    const text = Array.isArray(value) && name === 'to' ? `${value.join()},` : String(value)
    return [name, text]
  })
  return Object.fromEntries(texts)
}
