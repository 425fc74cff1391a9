import * as z from 'zod/mini'

import { invalidParameter } from '../errors.ts'
import type { RatesError } from '../errors.ts'
import { createBoundedMap } from './bounded-map.ts'

/** The error for each message that an issue of a schema may have. `sent` is the value at fault. */
export type Failures = Readonly<Record<string, (parameter: string, sent: string) => RatesError>>

/** What a query may hold. */
export interface QueryRules<Shape extends Schemas, Params> {
  /** The schema of every parameter, in the order in which they are checked. */
  parameters: Shape
  /** The errors that the schemas speak of. */
  failures: Failures
  /**
   * Names that other endpoints and services have, in lower case without `_` and `-`, and what to do instead: to ignore
   * them would answer another question.
   */
  mistaken?: Readonly<Record<string, string>>
  /**
   * Whether the schemas would accept the parameters, and change nothing. It may say no to any: they have the last word. For
   * what is asked anew each time, as a question to them takes several times longer.
   */
  accepts?(values: Sent): values is Sent & z.output<z.ZodMiniObject<Shape>>
  /** What is made of the parameters; may throw what the function that reads them is to throw. */
  toParams(parameters: z.output<z.ZodMiniObject<Shape>>): Params
  /** Whether few questions are asked again and again, so that each is worth reading only once. */
  isRecurring?: boolean
}

type Schemas = Record<string, z.ZodMiniType>

/** Parameters as they were sent. */
type Sent = Record<string, string>

/** A text of more characters is no question that many ask. */
const MAX_CACHED_QUERY_LENGTH = 256

/** What is kept of queries takes so much at most, and each of them about so much beside its characters, in bytes. */
const MAX_CACHED_BYTES = 262_144
const ENTRY_OVERHEAD_BYTES = 512

/**
 * A function that reads a raw query string by `rules`. Other names are ignored, but not a known one that is repeated or
 * written otherwise (`base[]`, `BASE`, `?base`), nor a mistaken one.
 */
export function createQueryParser<Shape extends Schemas, Params>(
  rules: QueryRules<Shape, Params>,
): (query: string) => Params {
  const schema = z.object(rules.parameters)
  const names = Object.keys(rules.parameters)
  const mistaken = new Map(Object.entries(rules.mistaken ?? {}))
  const cached = rules.isRecurring ? createBoundedMap<string, Params>(MAX_CACHED_BYTES) : undefined

  function checked(values: Sent): z.output<z.ZodMiniObject<Shape>> {
    const parsed = schema.safeParse(values, { reportInput: true })
    if (parsed.success) return parsed.data
    throw toError(parsed.error.issues[0], rules.failures)
  }

  return (query) => {
    const before = cached?.get(query)
    if (before !== undefined) return before
    const { values, isPure } = collect(query, names, mistaken)
    const params = rules.toParams(rules.accepts?.(values) ? values : checked(values))
    if (isPure && query.length <= MAX_CACHED_QUERY_LENGTH) {
      cached?.set(query, params, query.length + ENTRY_OVERHEAD_BYTES)
    }
    return params
  }
}

/** The values of the known names, and whether there are no others. */
function collect(
  query: string,
  names: readonly string[],
  mistaken: ReadonlyMap<string, string>,
): { values: Sent; isPure: boolean } {
  const values: Sent = {}
  let isPure = true
  let refused: { written: string; meant: string } | undefined
  eachParameter(query, (written, value) => {
    // By its own name, which the engine knows already as the name of a property.
    const name = names[names.indexOf(written)]
    if (name === undefined) {
      isPure = false
      const meant = meantName(written)
      if (names.includes(meant)) throw invalidParameter(written, `write ${meant}`)
      // The same one in whichever order they come.
      const isFirst = refused === undefined || meant < refused.meant
      if (mistaken.has(meant) && isFirst) refused = { written, meant }
    } else if (Object.hasOwn(values, name)) {
      throw invalidParameter(name, 'given more than once')
    } else {
      values[name] = value
    }
  })
  if (refused) throw invalidParameter(refused.written, mistaken.get(refused.meant) ?? '')
  return { values, isPure }
}

/** Gives names and values to `take` as `URLSearchParams` reads them; a query that needs no decoding is cut, much faster. */
function eachParameter(query: string, take: (name: string, value: string) => void): void {
  if (query.includes('%') || query.includes('+')) {
    // It would strip a question mark at the very start, and so make `??base=EUR` a base.
    for (const [name, value] of new URLSearchParams(`&${query}`)) take(name, value)
    return
  }
  let sign = -1
  for (let start = 0, end = 0; start < query.length; start = end + 1) {
    end = indexOrEnd(query, '&', start)
    // Looked for once, however many parameters stand before it.
    if (sign < start) sign = indexOrEnd(query, '=', start)
    const equals = Math.min(sign, end)
    if (end > start) take(query.slice(start, equals), query.slice(equals + 1, end))
  }
}

function indexOrEnd(text: string, character: string, from: number): number {
  const index = text.indexOf(character, from)
  return index < 0 ? text.length : index
}

/** All that `meantName` may change: there are capitals beyond ASCII, too. */
const MAY_CHANGE = /[?A-Z[_-]|[^ -~]/

/**
 * The name without the case, the brackets and the question marks that frameworks and slips of the hand add to it, and
 * without what some put between words. A `_` at the start is of cache busters.
 */
function meantName(name: string): string {
  if (!MAY_CHANGE.test(name)) return name
  const [bare = ''] = name.replace(/^\?+/, '').split('[', 1)
  return bare.toLowerCase().replace(/(?<=[a-z])[_-](?=[a-z])/g, '')
}

function toError(issue: z.core.$ZodIssue | undefined, failures: Failures): Error {
  const failure = issue && failures[issue.message]
  if (!failure) return new Error(`a schema raised an issue without an error: ${issue?.message}`)
  return failure(String(issue.path[0]), String(issue.input))
}
