import addFormats from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'

import { createRatesHandler } from '../../src/index.ts'

/** A schema of the document; its references lead to components. */
export interface Schema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly format?: string
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: string | number | boolean
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, object>>
}

export interface Parameter {
  name: string
  required: boolean
  schema: Schema
  /** Of required parameters only. */
  example?: string
}

export interface Body {
  schema: Schema
  examples: Record<string, { value: unknown }>
}

export interface Response {
  headers: Record<string, { required: boolean; schema: Schema }>
  content?: Record<string, Body>
  'x-csv'?: Body
}

export interface Operation {
  path: string
  operationId: string
  parameters: Parameter[]
  /** By status. */
  responses: Record<string, Response>
}

const response = await createRatesHandler()(new Request('http://localhost/api/v1/openapi.json'))
const generated = await response.json()

/** The document of a handler with base path `/api`. */
export const document: Record<string, unknown> = generated

const ajv = new Ajv2020({ strict: true, allErrors: true })
addFormats.default(ajv)

/** Resolves a JSON pointer with a leading `#` in the document. */
export function lookUp(pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce((value: unknown, key) => Object(value)[key], generated)
}

/** Resolves all references in `value` except those to schemas, which may be circular. */
function resolved(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(resolved)
  const { $ref } = Object(value)
  if ($ref !== undefined && !$ref.startsWith('#/components/schemas/')) return resolved(lookUp($ref))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolved(inner)]))
}

/** All operations of the document. */
export const operations: Operation[] = Object.entries(Object(resolved(generated.paths))).map(
  ([path, item]) => ({ path, ...Object(item).get }),
)

export function operationAt(path: string): Operation {
  const found = operations.find((operation) => operation.path === path)
  if (!found) throw new Error(`the document has no ${path}`)
  return found
}

/** Responses that operations share, by name. */
export const sharedResponses: Record<string, Response> = Object(
  resolved(generated.components.responses),
)

/** Returns the bodies of a response by media type. */
export function bodiesOf({ content = {}, 'x-csv': csv }: Response): Record<string, Body> {
  return csv ? { ...content, 'text/csv': csv } : content
}

const $defs = underDefs(generated.components.schemas)

function underDefs(schemas: object): object {
  return JSON.parse(JSON.stringify(schemas).replaceAll('#/components/schemas/', '#/$defs/'))
}

const validators = new Map<Schema, ReturnType<typeof ajv.compile>>()

/** Validates `value`, and returns the errors as one text, or an empty string. */
export function faultsOf(schema: Schema, value: unknown): string {
  const validate = validators.get(schema) ?? ajv.compile({ ...underDefs(schema), $defs })
  validators.set(schema, validate)
  return validate(value) ? '' : ajv.errorsText(validate.errors)
}

/** Validates the text of a query parameter, and returns the errors as one text. */
export function textFaultsOf(schema: Schema, text: string): string {
  const isBoolean = schema.type === 'boolean' && /^(true|false)$/.test(text)
  const isInteger = schema.type === 'integer' && /^(0|[1-9][0-9]*)$/.test(text)
  return faultsOf(schema, isBoolean || isInteger ? JSON.parse(text) : text)
}
