import * as z from 'zod/mini'

import { invalidParameter } from '../errors.ts'
import type { RatesError } from '../errors.ts'
import { createBoundedMap } from './bounded-map.ts'

/** The error for each message that an issue of a schema may have. `sent` is the value at fault. */
export type Failures = Readonly<Record<string, (parameter: string, sent: string) => RatesError>>

/** What a query may hold. */
export interface QueryRules<Shape extends Schemas, Question> {
  /** The schema of every parameter, in the order in which they are checked. */
  parameters: Shape
  /** The errors that the schemas speak of. */
  failures: Failures
  /** Names that mean a parameter on another endpoint, and which one here: to ignore them would answer another question. */
  mistaken?: Readonly<Record<string, string>>
  /** What is made of the parameters; may throw what the function that reads them is to throw. */
  toQuestion(parameters: z.output<z.ZodMiniObject<Shape>>): Question
  /** Whether few questions are asked again and again, so that each is worth reading only once. */
  isRecurring?: boolean
}

type Schemas = Record<string, z.ZodMiniType>

/** A text of more characters is no question that many ask. */
const LONGEST_RECURRING = 256

/** How many characters of queries are kept. */
const CHARACTERS_KEPT = 65_536

/**
 * A function that reads a raw query string by `rules`. Other names are ignored, but not a known one that is repeated or
 * written otherwise (`base[]`, `BASE`, `?base`), nor a mistaken one.
 */
export function createQueryParser<Shape extends Schemas, Question>(
  rules: QueryRules<Shape, Question>,
): (query: string) => Question {
  const schema = z.object(rules.parameters)
  const known = new Set(Object.keys(rules.parameters))
  const mistaken = new Map(Object.entries(rules.mistaken ?? {}))
  const answered = createBoundedMap<Question>(rules.isRecurring ? CHARACTERS_KEPT : 0)

  return (query) => {
    const before = answered.get(query)
    if (before !== undefined) return before
    const { values, isPure } = collect(query, known, mistaken)
    const parsed = schema.safeParse(values, { reportInput: true })
    if (!parsed.success) throw toError(parsed.error.issues[0], rules.failures)
    const question = rules.toQuestion(parsed.data)
    if (isPure && query.length <= LONGEST_RECURRING) answered.set(query, question, query.length)
    return question
  }
}

/** The values of the `known` names, and whether there are no others. */
function collect(
  query: string,
  known: ReadonlySet<string>,
  mistaken: ReadonlyMap<string, string>,
): { values: Record<string, string>; isPure: boolean } {
  const values = new Map<string, string>()
  let isPure = true
  for (const [name, value] of pairsOf(query)) {
    if (values.has(name)) throw invalidParameter(name, 'given more than once')
    if (known.has(name)) {
      values.set(name, value)
      continue
    }
    isPure = false
    const meant = meantName(name)
    if (known.has(meant)) throw invalidParameter(name, `write ${meant}`)
    if (mistaken.has(meant)) throw invalidParameter(name, `use ${mistaken.get(meant)}`)
  }
  return { values: Object.fromEntries(values), isPure }
}

/** Names and values as `URLSearchParams` reads them; what needs no decoding is cut by hand, several times faster. */
function pairsOf(query: string): Iterable<[name: string, value: string]> {
  // It would strip a question mark at the very start, and so make `??base=EUR` a base.
  if (/[%+]/.test(query)) return new URLSearchParams(`&${query}`)
  const parts = query.split('&').filter((part) => part !== '')
  return parts.map((part) => {
    const end = part.indexOf('=')
    return end < 0 ? [part, ''] : [part.slice(0, end), part.slice(end + 1)]
  })
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
