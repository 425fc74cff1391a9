import { parametersOf, passes, read, refusalOf, unknownName } from '../api/check.ts'
import { code } from '../api/parameter-kinds.ts'
import type { Operation } from '../api/parameters.ts'
import { invalidParameter } from '../errors.ts'
import { createBoundedMap, createRepeatFilter } from './response-cache.ts'

// Longer queries rarely recur.
const MAX_CACHED_QUERY_LENGTH = 768

// Limit of all cached queries, and the approximate size of each without its characters.
const MAX_CACHED_BYTES = 262_144
const ENTRY_OVERHEAD_BYTES = 512

/** Validated parameters; `key` is the same for all queries of an operation with the same. */
export interface Parsed<Params> {
  params: Params
  key: string
}

/**
 * Creates a function that parses and validates queries, and throws a `RatesError` for an unknown or repeated name. `keyNames`
 * are the names of parameters that have an API key.
 */
export function createQueryParser<Params>(
  operation: Operation,
  keyNames: readonly string[] = [],
): (query: string) => Parsed<Params> {
  const { path } = operation
  const known = parametersOf(operation)
  const cached = createBoundedMap<string, Parsed<Params>>(MAX_CACHED_BYTES)
  const isRepeated = createRepeatFilter()

  function collect(query: string) {
    const texts: Record<string, string> = {}
    let others: string[] | undefined
    eachParameter(query, (name, text) => {
      if (!Object.hasOwn(known, name)) (others ??= []).push(name)
      else if (texts[name] !== undefined) throw invalidParameter(name, 'given more than once')
      else texts[name] = text
    })
    if (!others) return { texts, isPure: true, refusal: undefined }
    const unknown = others.filter((name) => !keyNames.includes(name) && !passes(operation, name))
    return { texts, isPure: false, refusal: refusalOf(operation, unknown) }
  }

  return (query) => {
    const hit = cached.get(query)
    if (hit) return hit
    const { texts, isPure, refusal } = collect(query)
    const params: Params = Object(read(operation, texts))
    if (refusal) throw refusal
    const parsed = { params, key: (path + JSON.stringify(params)).toUpperCase() }
    if (isPure && query.length <= MAX_CACHED_QUERY_LENGTH && isRepeated(query)) {
      cached.set(query, parsed, query.length + ENTRY_OVERHEAD_BYTES)
    }
    return parsed
  }
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

/** Decoded parameters by name; a repeated one has an array. */
type DecodedQuery = Readonly<Record<string, string | string[] | undefined>>

/**
 * Creates a function that returns the texts of `names` in a query, by the rules of the native endpoints: it throws for repeated
 * names, variants and near names, and ignores all others.
 */
export function createTextReader<Name extends string>(
  names: readonly Name[],
): (query: DecodedQuery) => { readonly [Each in Name]?: string } {
  const parameters = Object.fromEntries(names.map((name) => [name, code('', '')]))
  const operation: Operation = { path: '', parameters, refuses: [] }
  return (query) => {
    const texts: { [Each in Name]?: string } = {}
    for (const name of names) {
      const text = query[name]
      if (Array.isArray(text)) throw invalidParameter(name, 'given more than once')
      if (text !== undefined) texts[name] = text
    }
    const refused = Object.keys(query).find(
      (name) => !Object.hasOwn(parameters, name) && !passes(operation, name),
    )
    if (refused !== undefined) throw unknownName(operation, refused)
    return texts
  }
}
