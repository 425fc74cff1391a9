import { parametersOf } from '../../src/api/check.ts'
import { DAY_FORM } from '../../src/api/parameter-kinds.ts'
import type { Parameter } from '../../src/api/parameter-kinds.ts'
import * as z from 'zod/mini'

import { OPERATIONS, QUOTED, ROW } from '../../src/api/parameters.ts'
import type { Operation } from '../../src/api/parameters.ts'
import { reference } from './type-schemas.ts'
import type { Schema } from './type-schemas.ts'

/** Name of a row of the table of parameters. */
export type OperationName = keyof typeof OPERATIONS

export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name)
}

/** For required parameters only: viewers fill in and send every example, even of parameters that exclude each other. */
const EXAMPLES: Readonly<Record<string, string>> = {
  from: 'USD',
  to: 'EUR',
  start: '2026-01-02',
}

/** Creates the Parameter Objects, which operations share, by component name. */
export function createParameterTable() {
  const components: Record<string, object> = {}

  /** A parameter that differs from the one of another operation has the name of its operation before its own. */
  function add(operation: string, name: string, described: object): object {
    const ids = [name, `${operation}${name[0]?.toUpperCase()}${name.slice(1)}`]
    const text = JSON.stringify(described)
    const id = ids.find((each) => [undefined, text].includes(JSON.stringify(components[each])))
    if (id === undefined) throw new Error(`${operation} has two parameters ${name}`)
    components[id] = described
    return reference('parameters', id)
  }

  return {
    components,
    /** Returns references to the parameters of an operation. */
    describe: (operation: OperationName): object[] =>
      Object.entries(parametersOf(OPERATIONS[operation])).map(([name, parameter]) =>
        add(operation, name, describeParameter(OPERATIONS[operation], name, parameter)),
      ),
  }
}

function describeParameter(operation: Operation, name: string, parameter: Parameter): object {
  const required = operation.required?.includes(name) ?? false
  const { description, schema } = describe(operation, name, parameter)
  const isList = JSON.stringify(schema).includes('"type":"array"')
  return {
    name,
    in: 'query',
    required,
    description,
    ...(isList && { explode: false }),
    schema,
    ...(required && { example: EXAMPLES[name] }),
  }
}

/** Returns the JSON Schema of a row of many conversions. */
export function conversionRow(): Schema {
  const excludes = { ...ROW.excludes, quote: ['reverse', 'date'] }
  const needs = { ...ROW.needs, context: 'quote' }
  return describeAll({ ...ROW, parameters: { ...ROW.parameters, ...QUOTED }, needs, excludes })
}

/** Returns the JSON Schema of all parameters together. */
export function describeAll(operation: Operation): Schema {
  const properties = Object.entries(operation.parameters).map(([name, parameter]) => {
    const { description, schema } = describe(operation, name, parameter)
    return [name, { description, ...schema }]
  })
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: operation.required,
    additionalProperties: false,
  }
}

/** Responses repeat these, even with the default. */
const REPEATED = ['interval', 'value']

/** The default is that of the description. Viewers send it, so it must not depend on other parameters, nor change the response. */
function describe(
  { needs = {}, excludes = {} }: Operation,
  name: string,
  { schema: accepted, description }: Parameter,
): { description: string; schema: Schema } {
  if (!(accepted instanceof z.ZodMiniType)) throw new TypeError(`${name} has no schema of zod`)
  const { $schema: _, ...schema } = z.toJSONSchema(accepted, {
    override({ jsonSchema }) {
      if (jsonSchema.pattern !== DAY_FORM.source) return
      delete jsonSchema.pattern
      jsonSchema.format = 'date'
    },
  })
  const { [name]: needed } = needs
  if (needed) return { description: `${description} Requires \`${needed}\`.`, schema }
  const [first, ...others] = (excludes[name] ?? []).map((each) => `\`${each}\``).toReversed()
  const excluded = [others.toReversed().join(', '), first].filter(Boolean).join(' and ')
  if (first) return { description: `${description} Excludes ${excluded}.`, schema }
  const [, text] = /\(default `?([^`):]+)`?\)\.$/.exec(description) ?? []
  if (text === undefined || REPEATED.includes(name)) return { description, schema }
  const value: unknown = /^(true|false|\d+)$/.test(text) ? JSON.parse(text) : text
  return { description, schema: { ...schema, default: value } }
}
