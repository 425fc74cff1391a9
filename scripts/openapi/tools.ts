import { TOOLS } from '../../src/mcp/tools.ts'
import type { Tool } from '../../src/mcp/tools.ts'
import { describeAll } from './parameters.ts'
import { BODIES, NAMED } from './schemas.ts'
import { readTypes } from './type-schemas.ts'
import type { Schema } from './type-schemas.ts'

/** What the tools return, by their names, and the properties that are absent without parameters that no tool has. */
const RECORDS: Readonly<Record<Tool['name'], readonly string[]>> = {
  convert: ['Conversion', 'sources'],
  get_rates: ['LatestRates', 'change'],
  get_history: ['ThinnedHistory', 'fill'],
  find_currency: ['CurrencyList'],
  get_status: ['ServiceStatus'],
}

/** Levels of objects whose properties are described: agents read the schemas with every list of tools. */
const DEPTH = 2

/** Returns the schemas of the parameters and of the record of each tool for agents. */
export function toolSchemas(): Record<string, { input: Schema; output: Schema }> {
  const named = { ...NAMED, RatesErrorCode: NAMED['string'] ?? {} }
  const components = readTypes({ ...BODIES, 'mcp/tools': ['ThinnedHistory'] }, named)
  const schemas = TOOLS.map(({ name, operation }) => {
    const [type = '', ...absent] = RECORDS[name]
    const record = components[type]
    if (!record?.['required']) throw new Error(`the tool ${name} has no record`)
    const { properties, ...types } = typesIn(record, components, DEPTH)
    const all = Object.entries(Object(properties)).filter(([each]) => !absent.includes(each))
    const { required } = record
    const output = { ...types, properties: Object.fromEntries(all), required }
    return [name, { input: inputOf(describeAll(operation)), output }]
  })
  return Object.fromEntries(schemas)
}

/** Without patterns, which errors explain, limits of lists, and what descriptions say of queries and of few sources. */
function inputOf(schema: Schema): Schema {
  const text = JSON.stringify(schema, (key, value: unknown) => {
    if (['pattern', 'default', 'maxItems'].includes(key)) return undefined
    if (key !== 'description' || typeof value !== 'string') return value
    return value.replace(/, in queries [^(.]*(?= \(|\.)| \(each [^)]*\)/, '')
  })
  return JSON.parse(text)
}

/** Returns the types of values, and those in objects down to `depth` levels. */
function typesIn(
  given: unknown,
  components: Readonly<Record<string, Schema>>,
  depth: number,
): Schema {
  const { $ref, type, properties, items, anyOf, additionalProperties: values } = Object(given)
  const types = (each: unknown, levels = depth): Schema => typesIn(each, components, levels)
  if ($ref !== undefined) return types(components[$ref.split('/').at(-1)])
  const options: Schema[] = (anyOf ?? []).map((each: unknown) => types(each))
  const isPlain = options.every((each) => Object.keys(each).join() === 'type')
  const named = Object.entries(Object(properties)).map(([name, each]) => [
    name,
    types(each, depth - 1),
  ])
  return {
    ...(type && { type }),
    ...(properties && depth > 0 && { properties: Object.fromEntries(named) }),
    ...(values && { additionalProperties: types(values) }),
    ...(items && { items: types(items) }),
    ...(anyOf && (isPlain ? { type: options.map((each) => each['type']) } : { anyOf: options })),
  }
}
