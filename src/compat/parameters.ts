import * as z from 'zod/mini'

import {
  MAX_SYMBOLS,
  MAX_SYMBOLS_CHARACTERS,
  isAmount,
  splitSymbols,
  tooManyCodes,
} from '../endpoints/parameters.ts'
import { invalidAmount, invalidCurrency, invalidParameter, missingParameter } from '../errors.ts'
import { createQueryParser } from '../http/query.ts'
import { isCodeShaped } from '../rates/currency-code.ts'
import { isDay } from '../rates/day.ts'
import type { Day } from '../rates/day.ts'
import { exactProduct } from '../rates/rounding.ts'

/** The parameters of a query by their names. */
export type Query<Name extends string> = { readonly [Each in Name]?: string }

const text = z.optional(z.string())

/**
 * Returns a function that reads the parameters `names` of a raw query by the rules of the native endpoints: one that is
 * repeated or nearly spelt so is refused, others are ignored.
 */
export function createQueryReader<Name extends string>(
  ...names: Name[]
): (query: string) => Query<Name> {
  const read = createQueryParser<Record<string, typeof text>, object>({
    parameters: Object.fromEntries(names.map((name) => [name, text])),
    failures: {},
    toParams: (values) => values,
  })
  const isQuery = (values: object): values is Query<Name> =>
    Object.keys(values).every((name) => names.some((known) => known === name))
  return (query) => {
    const values = read(query)
    if (isQuery(values)) return values
    throw new Error('the query parser read an unknown parameter')
  }
}

/** The code in `sent`, in capitals. Throws `invalid_currency`, or `missing_parameter` without one. */
export function readCode(name: string, sent: string | undefined): string {
  if (sent === undefined) throw missingParameter(name)
  if (!isCodeShaped(sent)) throw invalidCurrency(name, sent)
  return sent.toUpperCase()
}

/** The different items of a list of codes, well-formed or not, in capitals; undefined for none at all. */
export function readList(name: string, sent: string | undefined): string[] | undefined {
  if (sent === undefined) return undefined
  const items = sent.length > MAX_SYMBOLS_CHARACTERS ? undefined : splitSymbols(sent)
  if (!items || items.length > MAX_SYMBOLS) throw tooManyCodes(name)
  if (items.length === 0) return undefined
  return [...new Set(items.map((item) => item.toUpperCase()))]
}

/** The amount in `sent`, 1 without one. Throws `invalid_amount`. */
export function readAmount(sent = '1'): number {
  if (!isAmount(sent)) throw invalidAmount(sent)
  return Number(sent)
}

/** The day in `sent`. Throws `invalid_parameter`, or `missing_parameter` without one. */
export function readDay(name: string, sent: string | undefined): Day {
  if (sent === undefined) throw missingParameter(name)
  if (!isDay(sent)) throw invalidParameter(name, 'YYYY-MM-DD')
  return sent
}

/** `amount` × `rate`, exactly. Throws `invalid_amount` for a product that is not finite. */
export function multiply(amount: number, rate: number): number {
  const product = amount === 1 ? rate : exactProduct(amount, rate)
  if (Number.isFinite(product)) return product
  throw invalidAmount(String(amount), 'the result is too large')
}
