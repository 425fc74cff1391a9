import { invalidParameter, missingParameter } from '../errors.ts'
import type { RatesError } from '../errors.ts'
import { nearest, toAlternatives } from '../known-options.ts'
import { isIgnored, onlyInQueries } from '../query-names.ts'
import type { Operation, Values } from './parameters.ts'

/**
 * Checks the values of a function or a row.
 *
 * @throws {RatesError} for a name that means a parameter, then for the first invalid parameter in the order of the operation,
 *   then for another unknown name
 */
export function check(operation: Operation, params: unknown): asserts params is Values {
  if (!isObject(params)) throw invalidParameter('parameters', 'must be an object')
  const { parameters } = operation
  const unknown = Object.keys(params).filter(
    (name) => !Object.hasOwn(parameters, name) && params[name] !== undefined,
  )
  const only = unknown.map(onlyInQueries).find((error) => error !== undefined)
  if (only) throw only
  const refusal = refusalOf(operation, unknown)
  checkValues(operation, params, parameters)
  if (refusal) throw refusal
}

/**
 * Returns the error of the first of `names`, which are unknown.
 *
 * @throws {RatesError} for a name that means a parameter
 */
export function refusalOf(operation: Operation, names: readonly string[]): RatesError | undefined {
  for (const name of names) {
    const meant = meantBy(operation, name)
    if (meant) throw unknownName(operation, name, meant)
  }
  return names[0] === undefined ? undefined : unknownName(operation, names[0])
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the values of `texts`, which have no other names than the operation; throws as `check` does. */
export function read(operation: Operation, texts: Readonly<Record<string, string>>): Values {
  const parameters = parametersOf(operation)
  const values: Record<string, unknown> = {}
  // In the order of the table, so that equal values are equal as JSON.
  for (const name in parameters) {
    const text = texts[name]
    if (text !== undefined) values[name] = parameters[name]?.fromText(text)
  }
  checkValues(operation, values, parameters)
  return values
}

function checkValues(
  { required = [], suffices = '', needs = {}, excludes = {}, refine }: Operation,
  values: Values,
  parameters: Operation['parameters'],
): void {
  for (const name in parameters) {
    const value = values[name]
    if (value === undefined) {
      if (required.includes(name) && values[suffices] === undefined) throw missingParameter(name)
    } else if (parameters[name]?.schema.safeParse(value).success === false) {
      throw parameters[name].error(name, value)
    }
  }
  for (const name in needs) {
    const other = needs[name] ?? ''
    if (values[name] !== undefined && values[other] === undefined) {
      throw invalidParameter(name, `requires ${other}`)
    }
  }
  for (const name in excludes) {
    const others = excludes[name] ?? []
    if (values[name] !== undefined && others.some((other) => values[other] !== undefined)) {
      throw invalidParameter(name, `must not be combined with ${toAlternatives(others)}`)
    }
  }
  refine?.(values)
}

/** Returns the parameters of a query. */
export const parametersOf: (operation: Operation) => Operation['parameters'] = oncePer(
  ({ parameters, forms }) => ({ ...parameters, ...forms }),
)

/** Returns the parameter of each name and alias, in lower case. */
const meaningsOf = oncePer((operation) => {
  const meanings = new Map<string, string>()
  const all = Object.entries(parametersOf(operation))
  for (const [name] of all) meanings.set(name.toLowerCase(), name)
  for (const [name, { aliases }] of all) {
    for (const alias of aliases.match(/\w+/g) ?? []) {
      if (!meanings.has(alias)) meanings.set(alias, name)
    }
  }
  return meanings
})

function oncePer<Value>(derive: (operation: Operation) => Value): (operation: Operation) => Value {
  const derived = new WeakMap<Operation, Value>()
  return (operation) => {
    const known = derived.get(operation)
    if (known) return known
    const value = derive(operation)
    derived.set(operation, value)
    return value
  }
}

const MAX_EDITS = 2

/** Returns the parameter that `name` is a variant or an alias of, or near to. */
export function meantBy(
  operation: Operation,
  name: string,
): { parameter: string; isNear: boolean } | undefined {
  const meaning = meaningOf(name)
  const parameter = meaningsOf(operation).get(meaning)
  if (parameter !== undefined) return { parameter, isNear: false }
  const edits = Math.min(MAX_EDITS, Math.floor(meaning.length / 3))
  const [near] = nearest(meaning, Object.keys(parametersOf(operation)), edits)
  return near === undefined ? undefined : { parameter: near, isNear: true }
}

/** Frameworks, markup and typing mistakes add what is removed; `__` and more are no words. */
function meaningOf(name: string): string {
  const [bare = ''] = name.replace(/^(?:\?|amp;)+/, '').split('[', 1)
  return bare.toLowerCase().replace(/(?<=[a-z])[_-](?=[a-z])/g, '')
}

/** Returns the error of a name that the operation does not have, with the name that was meant or the endpoint that has it. */
export function unknownName(
  operation: Operation,
  name: string,
  meant: ReturnType<typeof meantBy> = meantBy(operation, name),
): RatesError {
  const { path, rows, forms = {} } = operation
  if (Object.hasOwn(forms, name)) return invalidParameter(name, 'only for queries')
  const other = otherWith(operation, name)
  const own = meant ?? (rows && meantBy(rows, name))
  const takes = Object.keys(parametersOf(operation)).join(', ') || 'no parameters'
  let advice = other ? `use ${other.path}` : `unknown; ${path} takes ${takes}`
  // What another endpoint means by the name is likelier than a typing mistake.
  if (own && !(own.isNear && other)) {
    advice = own.isNear ? `did you mean ${own.parameter}?` : `use ${own.parameter}`
    if (!Object.hasOwn(parametersOf(operation), own.parameter)) advice += ' in the rows of the body'
  }
  return invalidParameter(name, advice)
}

function otherWith({ path, others: all = [] }: Operation, name: string): Operation | undefined {
  const others = all.filter((each) => each.path !== path)
  const meaning = meaningOf(name)
  return (
    others.find(({ parameters }) => Object.hasOwn(parameters, meaning)) ??
    others.find((each) => ![undefined, 'format'].includes(meaningsOf(each).get(meaning)))
  )
}

/** Returns whether a query may have `name`, which the operation does not have. */
export function passes(operation: Operation, name: string): boolean {
  if (isIgnored(name)) return true
  const { refuses } = operation
  if (!refuses) return false
  const meaning = meaningOf(name)
  return !refuses.some((each) => each.toLowerCase() === meaning) && !meantBy(operation, name)
}
