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
import type { Project, Symbol, Type } from 'typescript/unstable/sync'

// TypeScript 7 has no stable interface yet; package.json has its exact version.

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>

/** Returns a Reference Object to a component, for example of the kind `schemas`. */
export function reference(kind: string, name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` }
}

/**
 * Returns the JSON Schemas of the types `modules`, by their module in `src`, and of the interfaces that they refer to. Their
 * descriptions are the docstrings, without tags. `named` has the schemas of types that are more than their declaration.
 */
export function readTypes(
  modules: Readonly<Record<string, readonly string[]>>,
  named: Readonly<Record<string, Schema>>,
): Record<string, Schema> {
  const sources = fileURLToPath(new URL('../../src/', import.meta.url))
  const file = `${sources}index.ts`
  const compiler = new API()
  try {
    const project = compiler.updateSnapshot({ openFiles: [file] }).getDefaultProjectForFile(file)
    if (!project) throw new Error(`${file} is not a module`)
    const { components, add } = createReader(project, named)
    const flags = SymbolFlags.Interface | SymbolFlags.TypeAlias
    for (const [module, names] of Object.entries(modules)) {
      const place = { document: `${sources}${module}.ts`, position: 0 }
      for (const name of names) {
        const symbol = project.checker.resolveName(name, flags, place)
        if (!symbol) throw new Error(`no type ${name} in ${module}`)
        add(symbol)
      }
    }
    return components
  } finally {
    compiler.close()
  }
}

function createReader(project: Project, named: Readonly<Record<string, Schema>>) {
  const { checker } = project
  const components: Record<string, Schema> = {}

  function add(symbol: Symbol): Schema {
    // Only errors have bodies of another name.
    const id = symbol.name.replace(/Body$/, '')
    if (!components[id]) {
      components[id] = {}
      components[id] = objectSchema(checker.getDeclaredTypeOfSymbol(symbol))
    }
    return reference('schemas', id)
  }

  function schemaOf(node: TypeNode): Schema {
    const known = named[node.getText()]
    if (known) return known
    if (isParenthesizedTypeNode(node)) return schemaOf(node.type)
    if (isUnionTypeNode(node)) return unionSchema(node.types, schemaOf)
    if (isArrayTypeNode(node)) return { type: 'array', items: schemaOf(node.elementType) }
    if (isTypeReferenceNode(node) && node.typeName.getText() === 'Record') {
      const [propertyNames, additionalProperties] = (node.typeArguments ?? []).map(schemaOf)
      return { type: 'object', propertyNames, additionalProperties }
    }
    const type = checker.getTypeFromTypeNode(node)
    const symbol = type?.getSymbol()
    const parameter = type?.isTypeParameter() && symbol?.declarations[0]?.resolve(project)
    if (parameter && isTypeParameterDeclaration(parameter) && parameter.defaultType) {
      return schemaOf(parameter.defaultType)
    }
    return symbol && symbol.flags & SymbolFlags.Interface ? add(symbol) : objectSchema(type)
  }

  function objectSchema(type: Type | undefined): Schema {
    const symbols = type ? checker.getPropertiesOfType(type) : []
    if (symbols.length === 0) throw new Error(`no schema of the type ${type?.getSymbol()?.name}`)
    const required = symbols.filter(({ flags }) => !(flags & SymbolFlags.Optional))
    return {
      type: 'object',
      properties: Object.fromEntries(symbols.map((each) => [each.name, propertySchema(each)])),
      required: required.map(({ name }) => name),
      additionalProperties: false,
    }
  }

  function propertySchema(symbol: Symbol): Schema {
    const declaration = symbol.declarations[0]?.resolve(project)
    if (!declaration || !isPropertySignatureDeclaration(declaration)) {
      throw new Error(`${symbol.name} is not a property with a type`)
    }
    return withDescription(schemaOf(declaration.type), symbol.getDocumentationComment(checker))
  }

  return { components, add }
}

function unionSchema(members: readonly TypeNode[], schemaOf: (node: TypeNode) => Schema): Schema {
  const values = members.filter((member) => !/^(null|undefined)$/.test(member.getText()))
  const [only, ...others] = values
  const schema = only && others.length === 0 ? schemaOf(only) : enumOf(values)
  if (!members.some((member) => member.getText() === 'null')) return schema
  const { type, ...constraints } = schema
  const isPlain = type !== undefined && Object.keys(constraints).length === 0
  return isPlain ? { type: [type, 'null'] } : { anyOf: [schema, { type: 'null' }] }
}

/** References have no description: their components are described. The schema of a day has the format. */
function withDescription(schema: Schema, text: string): Schema {
  const description = text.replaceAll('\n', ' ').replace(', `YYYY-MM-DD`', '')
  const isReference = /^\{("anyOf":\[\{)?"\$ref"/.test(JSON.stringify(schema))
  return description === '' || isReference ? schema : { ...schema, description }
}

function enumOf(nodes: readonly TypeNode[]): Schema {
  const values = nodes.map((node) => /^'(.*)'$/.exec(node.getText())?.[1])
  if (values.includes(undefined)) throw new Error('a union has other types than strings')
  return { type: 'string', enum: values }
}
