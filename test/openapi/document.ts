import { Validator } from '@seriousme/openapi-schema-validator'
import addFormats from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { QuoteSettings } from '../../src/quotes/index.ts'

/** A schema of the document; its references lead to components. */
export interface Schema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly default?: string | number | boolean
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, object>>
  readonly contentMediaType?: string
  /** Of the value that a text has. */
  readonly contentSchema?: Schema
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

export interface ReadDocument {
  document: Record<string, unknown>
  /** Resolves a JSON pointer with a leading `#` in the document. */
  lookUp(pointer: string): unknown
  operations: Operation[]
  sharedResponses: Record<string, Response>
  /** Validates `value`, and returns the errors as one text, or an empty string. */
  faultsOf(schema: Schema, value: unknown): string
}

export async function readDocument(
  handler: (request: Request) => Promise<globalThis.Response>,
): Promise<ReadDocument> {
  const response = await handler(new Request('http://localhost/api/v1/openapi.json'))
  const document = await response.json()
  const lookUp = (pointer: string): unknown =>
    pointer
      .split('/')
      .slice(1)
      .reduce((value: unknown, key) => Object(value)[key], document)

  /** Resolves all references in `value` except those to schemas, which may be circular. */
  function resolved(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(resolved)
    const { $ref } = Object(value)
    const isInner = $ref !== undefined && !$ref.startsWith('#/components/schemas/')
    if (isInner) return resolved(lookUp($ref))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolved(inner)]))
  }

  const items = Object.entries(Object(resolved(document.paths)))
  return {
    document,
    lookUp,
    operations: items.map(([path, item]) => ({ path, ...Object(item).get })),
    sharedResponses: Object(resolved(document.components.responses)),
    faultsOf: createFaults(document.components.schemas),
  }
}

function createFaults(schemas: object): ReadDocument['faultsOf'] {
  const ajv = new Ajv2020({ strict: true, allErrors: true })
  addFormats.default(ajv)
  const $defs = underDefs(schemas)
  const validators = new Map<Schema, ReturnType<typeof ajv.compile>>()
  return function faultsOf(schema, value): string {
    const validate = validators.get(schema) ?? ajv.compile({ ...underDefs(schema), $defs })
    validators.set(schema, validate)
    if (!validate(value)) return ajv.errorsText(validate.errors)
    const { contentSchema } = schema
    return contentSchema ? faultsOf(contentSchema, contentOf(schema, value)) : ''
  }
}

function contentOf({ contentMediaType }: Schema, text: unknown): unknown[] {
  expect(contentMediaType).toBe('application/x-ndjson')
  const lines = String(text).split('\n')
  expect(lines.pop(), 'the text after the last line').toBe('')
  return lines.map((line) => JSON.parse(line))
}

export async function expectSound({
  document,
  lookUp,
}: Pick<ReadDocument, 'document' | 'lookUp'>): Promise<void> {
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true })
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)]
  expect(references.length).toBeGreaterThan(50)
  for (const [, pointer = ''] of references) expect(lookUp(pointer), pointer).toBeDefined()
}

/** Quotes of all handlers that are compared with the document. */
export const QUOTES: QuoteSettings = { secrets: ['a secret of thirty-two bytes, or more'] }

/** The document of a handler with base path `/api`. */
export const { document, lookUp, operations, sharedResponses, faultsOf }: ReadDocument =
  await readDocument(createRatesHandler({ quotes: QUOTES }))

export function operationAt(path: string): Operation {
  const found = operations.find((operation) => operation.path === path)
  if (!found) throw new Error(`the document has no ${path}`)
  return found
}

export function bodiesOf({ content = {}, 'x-csv': csv }: Response): Record<string, Body> {
  return csv ? { ...content, 'text/csv': csv } : content
}

function underDefs(schemas: object): object {
  return JSON.parse(JSON.stringify(schemas).replaceAll('#/components/schemas/', '#/$defs/'))
}

/** Validates the text of a query parameter, and returns the errors as one text. */
export function textFaultsOf(schema: Schema, text: string): string {
  const isList = [schema, ...(schema.anyOf ?? [])].some(({ type }) => type === 'array')
  if (isList && (!schema.anyOf || text.includes(','))) {
    // Spaces and commas around items are ignored.
    return faultsOf(schema, text.match(/[^, ](?:[^,]*[^, ])?/g) ?? [])
  }
  const isBoolean = schema.type === 'boolean' && /^(true|false)$/.test(text)
  const isInteger = schema.type === 'integer' && /^(0|[1-9][0-9]*)$/.test(text)
  return faultsOf(schema, isBoolean || isInteger ? JSON.parse(text) : text)
}
