import { MAJOR_CURRENCIES, isPartOfCurrency } from '../src/currency-search.ts'
import { readTypedAmount } from '../src/typed-amount.ts'
import { symbolOf } from './currency-label.ts'
import { DECIMAL } from './figures.ts'

interface TypedAmount {
  /** In the form of the API; empty for an empty text, undefined for one that is not an amount. */
  amount?: string | undefined
  code?: string
}

const WITH_CURRENCY = /^(\p{Sc}|[a-z]{3})?([\d.,\s'’_]+(?:k|mio|m|bn)?)\s?(\p{Sc}|[a-z]{3})?$/iu

/**
 * Reads an amount as people type it, also with a currency before or after it: `1,000.50`, `$100`, `20 eur`. A sign that several
 * currencies share names the first of `codes`, or else a major one; where `1,500` may be two amounts, `decimal` decides.
 */
export function readAmount(
  text: string,
  codes: readonly string[],
  decimal: '.' | ',' = DECIMAL,
): TypedAmount {
  const trimmed = text.trim()
  if (trimmed === '') return { amount: '' }
  const plain = readTypedAmount(trimmed, { decimal }).amount
  if (plain !== undefined) return { amount: plain }
  const [, before = '', digits = '', after = ''] = WITH_CURRENCY.exec(trimmed) ?? []
  // `400 GBp` are not 400 pounds.
  if (isPartOfCurrency(before || after)) return {}
  const sign = (before || after).toUpperCase()
  const code = [...codes.slice(0, 1), ...MAJOR_CURRENCIES, ...codes].find(
    (each) => each === sign || symbolOf(each) === sign,
  )
  if (code === undefined || (before !== '' && after !== '')) return {}
  return { amount: readTypedAmount(digits, { decimal }).amount, code }
}

/**
 * Returns a sentence on an amount, in the form of the API or as typed, that is not one or has two meanings; undefined for others.
 * `digits` are those of its currency after the decimal separator, if known.
 */
export function problemOf(
  amount: string,
  digits: number | null | undefined,
  decimal: '.' | ',' = DECIMAL,
): string | undefined {
  if (/^\s*[-−]\s*\d/.test(amount)) return 'An amount must not be negative'
  const isOfApi = /^[\d.]+(e[+-]?\d+)?$/i.test(amount)
  const typed = isOfApi ? amount.replace('.', decimal) : amount
  return readTypedAmount(typed, { decimal, digits }).problem?.replace(/^a/, 'A')
}
