import * as z from 'zod/mini'

import {
  invalidAmount,
  invalidCurrency,
  invalidParameter,
  invalidPeriod,
  missingParameter,
} from '../errors.ts'
import type { RatesError } from '../errors.ts'

/** The message of every issue that a parameter's schema may raise. */
export type Failure = 'missing' | 'currency' | 'amount' | 'period' | 'overlong'

/** What a schema's issues are called, and the error that each becomes. `sent` is the value at fault. */
const failures: Record<Failure, (parameter: string, sent: string) => RatesError> = {
  missing: missingParameter,
  currency: invalidCurrency,
  amount: (_parameter, sent) => invalidAmount(sent),
  period: (_parameter, sent) => invalidPeriod(sent),
  overlong: (parameter) => invalidParameter(parameter, 'at most 250 codes and 2,048 characters'),
}

/** Names that belong to another endpoint, where ignoring them would answer another question, and what to say. */
export type RefusedNames = Readonly<Record<string, string>>

/**
 * A function that reads a raw query string into the parameters of `shape`. Other names are ignored, but not a known
 * one that is repeated or written otherwise (`base[]`, `BASE`, `?base`), nor those `refused`.
 */
export function createQueryParser<Shape extends Record<string, z.ZodMiniType>>(
  shape: Shape,
  refused: RefusedNames = {},
): (query: string) => z.output<z.ZodMiniObject<Shape>> {
  const schema = z.object(shape)
  const known = new Set(Object.keys(shape))
  const hints = new Map(Object.entries(refused))
  return (query) => {
    const parsed = schema.safeParse(collect(query, known, hints), { reportInput: true })
    if (parsed.success) return parsed.data
    throw toError(parsed.error.issues[0])
  }
}

function collect(
  query: string,
  known: ReadonlySet<string>,
  hints: ReadonlyMap<string, string>,
): Record<string, string> {
  const values = new Map<string, string>()
  // `URLSearchParams` would strip a question mark at the very start, and so make `??base=EUR` a base.
  for (const [name, value] of new URLSearchParams(`&${query}`)) {
    const meant = meantName(name)
    if (values.has(name)) throw invalidParameter(name, 'given more than once')
    if (known.has(name)) values.set(name, value)
    else if (known.has(meant)) throw invalidParameter(name, `write ${meant}`)
    else if (hints.has(meant)) throw invalidParameter(name, `use ${hints.get(meant)}`)
  }
  return Object.fromEntries(values)
}

/** The name without the case, the brackets and the question marks that frameworks and slips of the hand add to it. */
function meantName(name: string): string {
  const [bare = ''] = name.replace(/^\?+/, '').split('[', 1)
  return bare.toLowerCase()
}

function toError(issue: z.core.$ZodIssue | undefined): RatesError {
  const failure = issue && isFailure(issue.message) ? failures[issue.message] : failures.missing
  return failure(String(issue?.path[0]), String(issue?.input))
}

function isFailure(message: string): message is Failure {
  return Object.hasOwn(failures, message)
}
