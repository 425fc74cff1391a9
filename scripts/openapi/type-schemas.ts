import { fileURLToPath } from 'node:url'

import {
  isArrayTypeNode,
  isParenthesizedTypeNode,
  isPropertySignatureDeclaration,
  isTypeParameterDeclaration,
  isTypeReferenceNode,
  isUnionTypeNode,
} from 'typescript/unstable/ast'
import type { TypeNode } from 'typescript/unstable/ast'
import { API, SymbolFlags } from 'typescript/unstable/sync'
import type { Project, Symbol } from 'typescript/unstable/sync'

// TypeScript 7 has no stable interface yet; package.json has its exact version.

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>

interface Types {
  project: Project
  /** Schemas by the text of a type. */
  named: ReadonlyMap<string, Schema>
}

/** Returns a Reference Object to a component, for example of the kind `schemas`. */
export function reference(kind: string, name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` }
}

/**
 * Returns the JSON Schemas of the properties of the interface `name` in `module`, which refer to each other as components.
 * Their descriptions are the docstrings, without tags. `named` has the schemas of types that are more than their declaration.
 */
export function readTypes(
  module: URL,
  name: string,
  named: Readonly<Record<string, Schema>>,
): Record<string, Schema> {
  const file = fileURLToPath(module)
  const compiler = new API()
  try {
    const project = compiler.updateSnapshot({ openFiles: [file] }).getDefaultProjectForFile(file)
    if (!project) throw new Error(`${file} is not a module`)
    const { checker } = project
    const found = checker.resolveName(name, SymbolFlags.Interface, { document: file, position: 0 })
    if (!found) throw new Error(`no interface ${name} in ${file}`)
    const components = checker
      .getPropertiesOfType(checker.getDeclaredTypeOfSymbol(found))
      .map((symbol) => ({ id: symbol.name, node: typeOf(symbol, project) }))
    const references = components.map(
      ({ id, node }) => [node.getText(), reference('schemas', id)] as const,
    )
    const types = { project, named: new Map([...Object.entries(named), ...references]) }
    return Object.fromEntries(components.map(({ id, node }) => [id, inlineSchema(node, types)]))
  } finally {
    compiler.close()
  }
}

function typeOf({ name, declarations }: Symbol, project: Project): TypeNode {
  const declaration = declarations[0]?.resolve(project)
  if (declaration && isPropertySignatureDeclaration(declaration)) return declaration.type
  throw new Error(`${name} is not a property with a type`)
}

function schemaOf(node: TypeNode, types: Types): Schema {
  return types.named.get(node.getText()) ?? inlineSchema(node, types)
}

function inlineSchema(node: TypeNode, types: Types): Schema {
  if (isParenthesizedTypeNode(node)) return schemaOf(node.type, types)
  if (isUnionTypeNode(node)) return unionSchema(node.types, types)
  if (isArrayTypeNode(node)) return { type: 'array', items: schemaOf(node.elementType, types) }
  if (isTypeReferenceNode(node) && node.typeName.getText() === 'Record') {
    const [propertyNames, additionalProperties] = (node.typeArguments ?? []).map((type) =>
      schemaOf(type, types),
    )
    return { type: 'object', propertyNames, additionalProperties }
  }
  const parameter = defaultOf(node, types)
  return parameter ? schemaOf(parameter, types) : objectSchema(node, types)
}

function defaultOf(node: TypeNode, { project }: Types): TypeNode | undefined {
  const type = project.checker.getTypeFromTypeNode(node)
  const [parameter] = type?.isTypeParameter() ? (type.getSymbol()?.declarations ?? []) : []
  const declaration = parameter?.resolve(project)
  return declaration && isTypeParameterDeclaration(declaration)
    ? declaration.defaultType
    : undefined
}

function unionSchema(members: readonly TypeNode[], types: Types): Schema {
  const values = members.filter((member) => !/^(null|undefined)$/.test(member.getText()))
  const [only, ...others] = values
  const schema: Schema =
    only && others.length === 0
      ? schemaOf(only, types)
      : { type: 'string', enum: values.map((value) => textOf(value)) }
  if (!members.some((member) => member.getText() === 'null')) return schema
  const { type, ...constraints } = schema
  const isPlain = type !== undefined && Object.keys(constraints).length === 0
  return isPlain ? { type: [type, 'null'] } : { anyOf: [schema, { type: 'null' }] }
}

function textOf(node: TypeNode): string {
  const [, text] = /^'(.*)'$/.exec(node.getText()) ?? []
  if (text === undefined) throw new Error(`no schema of a union with ${node.getText()}`)
  return text
}

function objectSchema(node: TypeNode, types: Types): Schema {
  const { checker } = types.project
  const type = checker.getTypeFromTypeNode(node)
  const symbols = type ? checker.getPropertiesOfType(type) : []
  if (symbols.length === 0) throw new Error(`no schema of the type ${node.getText()}`)
  const required = symbols.filter(({ flags }) => !(flags & SymbolFlags.Optional))
  return {
    type: 'object',
    properties: Object.fromEntries(
      symbols.map((symbol) => [symbol.name, propertySchema(symbol, types)]),
    ),
    required: required.map(({ name }) => name),
    additionalProperties: false,
  }
}

/** References have no description: their components are described. */
function propertySchema(symbol: Symbol, types: Types): Schema {
  const schema = schemaOf(typeOf(symbol, types.project), types)
  const text = symbol.getDocumentationComment(types.project.checker).replaceAll('\n', ' ')
  // The schema has the format.
  const description = text.replace(', `YYYY-MM-DD`', '')
  const isReference = /^\{("anyOf":\[\{)?"\$ref"/.test(JSON.stringify(schema))
  if (description === '' || isReference) return schema
  return Array.isArray(schema['type']) ? { description, ...schema } : { ...schema, description }
}
