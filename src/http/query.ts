import * as z from 'zod/mini'

import { invalidParameter } from '../errors.ts'
import type { RatesError } from '../errors.ts'
import { createBoundedMap, createRepeatFilter } from './response-cache.ts'

export type Failures = Readonly<Record<string, (parameter: string, sent: string) => RatesError>>

export interface QueryRules<Shape extends Schemas, Params> {
  /** Schemas by parameter name, in the order of validation. */
  parameters: Shape
  failures: Failures
  /** In lower case without `_` and `-`. Ignoring these names would return rates that the client did not request. */
  mistaken?: Readonly<Record<string, string>>
  /** Maps the validated parameters to the result of the parser; may throw a `RatesError`. */
  toParams(parameters: z.output<z.ZodMiniObject<Shape>>): Params
  /** Whether the same queries recur, so that repeated ones are cached. */
  isRecurring?: boolean
}

type Schemas = Record<string, z.ZodMiniType>

type RawParameters = Record<string, string>

// Longer queries rarely recur.
const MAX_CACHED_QUERY_LENGTH = 768

// Limit of all cached queries, and the approximate size of each without its characters.
const MAX_CACHED_BYTES = 262_144
const ENTRY_OVERHEAD_BYTES = 512

/** Ignores unknown names; throws for a known one that is repeated or misspelt (`base[]`, `BASE`, `?base`). */
export function createQueryParser<Shape extends Schemas, Params>(
  rules: QueryRules<Shape, Params>,
): (query: string) => Params {
  const schema = z.object(rules.parameters)
  const names = Object.keys(rules.parameters)
  const namesByLowerCase = new Map(names.map((name) => [name.toLowerCase(), name]))
  const mistaken = new Map(Object.entries(rules.mistaken ?? {}))
  const cached = rules.isRecurring ? createBoundedMap<string, Params>(MAX_CACHED_BYTES) : undefined

  const isRepeated = createRepeatFilter()
  const readFast = createFastReader(schema)

  function validate(values: RawParameters): z.output<z.ZodMiniObject<Shape>> {
    const read = readFast(values)
    if (read) return read
    const parsed = schema.safeParse(values, { reportInput: true })
    if (parsed.success) return parsed.data
    throw toError(parsed.error.issues[0], rules.failures)
  }

  return (query) => {
    const hit = cached?.get(query)
    if (hit !== undefined) return hit
    const { values, isPure } = collect(query, { names, namesByLowerCase, mistaken })
    const params = rules.toParams(validate(values))
    if (cached && isPure && query.length <= MAX_CACHED_QUERY_LENGTH && isRepeated(query)) {
      cached.set(query, params, query.length + ENTRY_OVERHEAD_BYTES)
    }
    return params
  }
}

interface KnownNames {
  names: readonly string[]
  namesByLowerCase: ReadonlyMap<string, string>
  mistaken: ReadonlyMap<string, string>
}

/** Returns the values of known names; `isPure` is true if the query has no other names. */
function collect(
  query: string,
  { names, namesByLowerCase, mistaken }: KnownNames,
): { values: RawParameters; isPure: boolean } {
  const values: RawParameters = {}
  let isPure = true
  let refused: { written: string; meant: string } | undefined
  eachParameter(query, (written, value) => {
    // The string from `names` is already internalized as a property key.
    const name = names[names.indexOf(written)]
    if (name === undefined) {
      isPure = false
      const meant = normalizeName(written)
      const known = namesByLowerCase.get(meant)
      if (known !== undefined) throw invalidParameter(written, `use ${known}`)
      // The first in alphabetical order, so that the error does not depend on the order of the query.
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

/** Parses like `URLSearchParams`, but splits a query that needs no decoding itself, which is much faster. */
function eachParameter(query: string, visit: (name: string, value: string) => void): void {
  if (query.includes('%') || query.includes('+')) {
    // Without the `&`, it would strip a leading question mark and read `??base=EUR` as `?base=EUR`.
    for (const [name, value] of new URLSearchParams(`&${query}`)) visit(name, value)
    return
  }
  let equalsSign = -1
  for (let start = 0, end = 0; start < query.length; start = end + 1) {
    end = indexOrEnd(query, '&', start)
    // Searched again only behind the last match, so that the time stays linear.
    if (equalsSign < start) equalsSign = indexOrEnd(query, '=', start)
    const equals = Math.min(equalsSign, end)
    if (end > start) visit(query.slice(start, equals), query.slice(equals + 1, end))
  }
}

function indexOrEnd(text: string, character: string, from: number): number {
  const index = text.indexOf(character, from)
  return index < 0 ? text.length : index
}

// Matches every name that `normalizeName` may change; non-ASCII letters have capitals too.
const MAY_CHANGE = /[?A-Z[_-]|[^ -~]/

/** Frameworks and typing mistakes add what is removed. Keeps a leading `_`, which cache busters use. */
function normalizeName(name: string): string {
  if (!MAY_CHANGE.test(name)) return name
  const [bare = ''] = name.replace(/^\?+/, '').split('[', 1)
  return bare.toLowerCase().replace(/(?<=[a-z])[_-](?=[a-z])/g, '')
}

/** Returns the value of a valid text, or `INVALID`. */
type ReadText = (text: string) => unknown

const INVALID: unique symbol = Symbol('invalid')

/** Undefined for an invalid parameter, or a type without such a reader: then zod decides, several times slower. */
function createFastReader<Shape extends Schemas>(
  schema: z.ZodMiniObject<Shape>,
): (values: RawParameters) => z.output<z.ZodMiniObject<Shape>> | undefined {
  const shape: Schemas = schema.shape
  const parameters = Object.entries(shape).map(([name, each]) => {
    return { name, isRequired: !(each instanceof z.ZodMiniOptional), read: textReader(each) }
  })
  const readAll = (values: RawParameters): Record<string, unknown> | undefined => {
    // Copied only for a parameter that is transformed.
    let all: Record<string, unknown> = values
    for (const { name, isRequired, read } of parameters) {
      const text = values[name]
      if (text === undefined) {
        if (isRequired) return undefined
      } else {
        const value = read ? read(text) : INVALID
        if (value === INVALID) return undefined
        if (value !== text) all = { ...all, [name]: value }
      }
    }
    return all
  }
  const isComplete = (
    read: Record<string, unknown> | undefined,
  ): read is z.output<z.ZodMiniObject<Shape>> => read !== undefined
  return (values) => {
    const read = readAll(values)
    return isComplete(read) ? read : undefined
  }
}

function textReader(schema: unknown): ReadText | undefined {
  if (schema instanceof z.ZodMiniOptional) return textReader(schema.def.innerType)
  if (schema instanceof z.ZodMiniCustom) {
    const { fn } = schema.def
    return (text) => (fn(text) ? text : INVALID)
  }
  if (schema instanceof z.ZodMiniString) return checkedText(schema.def.checks ?? [])
  if (!(schema instanceof z.ZodMiniPipe)) return undefined
  const { in: source, out } = schema.def
  const read = textReader(source)
  if (!read || !(out instanceof z.ZodMiniTransform)) return undefined
  const { transform } = out.def
  return (text) => {
    const value = read(text)
    return value === INVALID ? INVALID : transform(value, NO_ISSUES)
  }
}

/** For transformations, which must not add issues. */
const NO_ISSUES: z.core.ParsePayload = { value: undefined, issues: [] }

function checkedText(checks: readonly z.core.$ZodCheck<string>[]): ReadText {
  const [check] = checks
  const pattern = check && 'pattern' in check._zod.def ? check._zod.def.pattern : undefined
  if (checks.length === 1 && pattern instanceof RegExp) {
    return (text) => (pattern.test(text) ? text : INVALID)
  }
  if (checks.length === 1 && check instanceof z.ZodMiniCustom) {
    const { fn } = check.def
    return (text) => (fn(text) ? text : INVALID)
  }
  return (text) => {
    const payload: z.core.ParsePayload<string> = { value: text, issues: [] }
    for (const each of checks) void each._zod.check(payload)
    return payload.issues.length === 0 ? text : INVALID
  }
}

function toError(issue: z.core.$ZodIssue | undefined, failures: Failures): Error {
  const failure = issue && failures[issue.message]
  if (!failure) return new Error(`unknown failure "${issue?.message}" in a parameter schema`)
  return failure(String(issue.path[0]), String(issue.input))
}
