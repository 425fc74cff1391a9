import * as z from 'zod/mini'

import { invalidParameter } from '../errors.ts'
import type { Failures } from '../http/query.ts'
import { isCodeShaped } from '../rates/currency-code.ts'
import { MAX_SYMBOLS, MAX_SYMBOLS_CHARACTERS, failures, splitSymbols } from './parameters.ts'

/** Errors by message of the conversion schemas. */
export const conversionFailures: Failures = {
  ...failures,
  truth: (parameter) => invalidParameter(parameter, 'must be true or false'),
}

/** One target currency, or a list of at least one with commas, in the format of `symbols`. */
export const targets: z.ZodMiniType<string | string[], string> = z.pipe(
  z.string('missing').check(({ value, issues }) => {
    const failure = failureOf(value)
    if (failure) issues.push({ code: 'custom', ...failure })
  }),
  z.transform((text) => (isList(text) ? splitSymbols(text) : text)),
)

/** Exactly `true` or `false`; optional. */
export const booleanFlag: z.ZodMiniType<boolean | undefined, string | undefined> = z.optional(
  z.pipe(
    z.string().check(z.refine((text) => text === 'true' || text === 'false', 'truth')),
    z.transform((text) => text === 'true'),
  ),
)

function isList(text: string): boolean {
  return text.includes(',')
}

function failureOf(text: string): { message: string; input: string } | undefined {
  if (!isList(text)) return isCodeShaped(text) ? undefined : { message: 'currency', input: text }
  if (text.length > MAX_SYMBOLS_CHARACTERS) return { message: 'overlong', input: text }
  const codes = splitSymbols(text)
  if (codes.length > MAX_SYMBOLS) return { message: 'overlong', input: text }
  if (codes.length === 0) return { message: 'currency', input: text }
  const input = codes.find((code) => !isCodeShaped(code))
  return input === undefined ? undefined : { message: 'currency', input }
}
