import * as z from 'zod/mini'

import { invalidParameter } from '../errors.ts'
import type { Failures } from '../http/query.ts'
import { isCodeShaped } from '../rates/currency-code.ts'
import { MAX_SYMBOLS, MAX_SYMBOLS_CHARACTERS, failures, splitSymbols } from './parameters.ts'

/** The errors that the schemas of conversions speak of. */
export const conversionFailures: Failures = {
  ...failures,
  truth: (parameter) => invalidParameter(parameter, 'true or false'),
}

/** One target currency; or several, where there is a comma, as those of `symbols` are written, but at least one. */
export const targets: z.ZodMiniType<string | string[], string> = z.pipe(
  z.string('missing').check(({ value, issues }) => {
    const fault = faultOf(value)
    if (fault) issues.push({ code: 'custom', ...fault })
  }),
  z.transform((text) => (isList(text) ? splitSymbols(text) : text)),
)

/** `true` or `false`, exactly; it may be left out. */
export const truth: z.ZodMiniType<boolean | undefined, string | undefined> = z.optional(
  z.pipe(
    z.string().check(z.refine((text) => text === 'true' || text === 'false', 'truth')),
    z.transform((text) => text === 'true'),
  ),
)

function isList(text: string): boolean {
  return text.includes(',')
}

/** What is wrong with target currencies: the name of a failure, and the part that is at fault. */
function faultOf(text: string): { message: string; input: string } | undefined {
  if (!isList(text)) return isCodeShaped(text) ? undefined : { message: 'currency', input: text }
  if (text.length > MAX_SYMBOLS_CHARACTERS) return { message: 'overlong', input: text }
  const codes = splitSymbols(text)
  if (codes.length > MAX_SYMBOLS) return { message: 'overlong', input: text }
  if (codes.length === 0) return { message: 'currency', input: text }
  const input = codes.find((code) => !isCodeShaped(code))
  return input === undefined ? undefined : { message: 'currency', input }
}
