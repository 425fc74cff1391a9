import * as z from 'zod/mini'

import { invalidParameter } from '../errors.ts'
import type { RatesError } from '../errors.ts'

/** The error for each message that an issue of a schema may have. `sent` is the value at fault. */
export type Failures = Readonly<Record<string, (parameter: string, sent: string) => RatesError>>

/** What a query may hold. */
export interface QueryRules<Shape> {
  /** The schema of every parameter, in the order in which they are checked. */
  parameters: Shape
  /** The errors that the schemas speak of. */
  failures: Failures
  /** Names that mean a parameter on another endpoint, and which one here: to ignore them would answer another question. */
  mistaken?: Readonly<Record<string, string>>
}

/**
 * A function that reads a raw query string by `rules`. Other names are ignored, but not a known one that is repeated or
 * written otherwise (`base[]`, `BASE`, `?base`), nor a mistaken one.
 */
export function createQueryParser<Shape extends Record<string, z.ZodMiniType>>(
  rules: QueryRules<Shape>,
): (query: string) => z.output<z.ZodMiniObject<Shape>> {
  const schema = z.object(rules.parameters)
  const known = new Set(Object.keys(rules.parameters))
  const mistaken = new Map(Object.entries(rules.mistaken ?? {}))
  return (query) => {
    const parsed = schema.safeParse(collect(query, known, mistaken), { reportInput: true })
    if (parsed.success) return parsed.data
    throw toError(parsed.error.issues[0], rules.failures)
  }
}

function collect(
  query: string,
  known: ReadonlySet<string>,
  mistaken: ReadonlyMap<string, string>,
): Record<string, string> {
  const values = new Map<string, string>()
  // `URLSearchParams` would strip a question mark at the very start, and so make `??base=EUR` a base.
  for (const [name, value] of new URLSearchParams(`&${query}`)) {
    const meant = meantName(name)
    if (values.has(name)) throw invalidParameter(name, 'given more than once')
    if (known.has(name)) values.set(name, value)
    else if (known.has(meant)) throw invalidParameter(name, `write ${meant}`)
    else if (mistaken.has(meant)) throw invalidParameter(name, `use ${mistaken.get(meant)}`)
  }
  return Object.fromEntries(values)
}

/** The name without the case, the brackets and the question marks that frameworks and slips of the hand add to it. */
function meantName(name: string): string {
  const [bare = ''] = name.replace(/^\?+/, '').split('[', 1)
  return bare.toLowerCase()
}

function toError(issue: z.core.$ZodIssue | undefined, failures: Failures): Error {
  const failure = issue && failures[issue.message]
  if (!failure) return new Error(`a schema raised an issue without an error: ${issue?.message}`)
  return failure(String(issue.path[0]), String(issue.input))
}
