import { invalidAmount, invalidCurrency, invalidParameter, missingParameter } from '../errors.ts'
import { createQueryParser } from '../http/query.ts'
import { isAmount } from '../rates/arithmetic.ts'
import { isCodeShaped, minorUnitHint } from '../rates/currency-code.ts'
import { isDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import {
  MAX_CODES,
  MAX_CODES_CHARACTERS,
  splitCodes,
  tooManyCodes,
} from '../api/parameter-kinds.ts'
import type { Parameter } from '../api/parameter-kinds.ts'
import * as z from 'zod/mini'

export type Query<Name extends string> = { readonly [Each in Name]?: string }

const TEXT: Parameter = {
  schema: z.string(),
  fromText: (text) => text,
  error: (name) => invalidParameter(name, 'must be a text'),
  description: '',
  aliases: '',
}

/** By the rules of the native endpoints: throws for repeated names, variants and near names, and ignores others. */
export function createQueryReader<Name extends string>(
  ...names: Name[]
): (query: string) => Query<Name> {
  const parameters = Object.fromEntries(names.map((name) => [name, TEXT]))
  const parse = createQueryParser<Query<Name>>({ path: '', parameters, refuses: [] })
  return (query) => parse(query).params
}

/** Returns the code in `sent` in upper case. Throws `invalid_currency`, or `missing_parameter` without a code. */
export function readCode(name: string, sent: string | undefined): string {
  if (sent === undefined) throw missingParameter(name)
  if (!isCodeShaped(sent)) throw invalidCurrency(name, sent, minorUnitHint(sent))
  return sent.toUpperCase()
}

/**
 * Returns the distinct items of a list of codes in upper case, well-formed or not; undefined for an empty list. Throws
 * `invalid_currency` for a part of a currency, such as `GBp`.
 */
export function readList(name: string, sent: string | undefined): string[] | undefined {
  if (sent === undefined) return undefined
  const items = sent.length > MAX_CODES_CHARACTERS ? undefined : splitCodes(sent)
  if (!items || items.length > MAX_CODES) throw tooManyCodes(name)
  if (items.length === 0) return undefined
  const part = items.find((item) => /^[A-Z]{2}[a-z]$/.test(item))
  if (part !== undefined) throw invalidCurrency(name, part, minorUnitHint(part))
  return [...new Set(items.map((item) => item.toUpperCase()))]
}

/** Returns the amount in `sent` (default 1). Throws `invalid_amount`. */
export function readAmount(sent = '1'): number {
  if (!isAmount(sent)) throw invalidAmount(sent)
  return Number(sent)
}

/** Returns the day in `sent`. Throws `invalid_parameter`, or `missing_parameter` without a day. */
export function readDay(name: string, sent: string | undefined): Day {
  if (sent === undefined) throw missingParameter(name)
  if (!isDay(sent)) throw invalidParameter(name, 'YYYY-MM-DD')
  return sent
}
