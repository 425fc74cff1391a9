import * as z from 'zod/mini'

import { reference } from './reference.ts'

/** What has a name of its own among the schemas of the document. */
const named = z.registry<{ id: string; description: string }>()

/** `schema`, to which others refer by the name `id`. */
export function component<Schema extends z.ZodMiniType>(
  id: string,
  description: string,
  schema: Schema,
): Schema {
  named.add(schema, { id, description })
  return schema
}

/** A Reference Object to `schema`, which is a component. */
export function schemaReference(schema: z.ZodMiniType): { $ref: string } {
  const { id } = named.get(schema) ?? {}
  if (id === undefined) throw new Error('only components can be referred to')
  return reference('schemas', id)
}

/** The JSON Schemas of all components, by their names. */
export function componentSchemas(): Record<string, object> {
  const { schemas } = z.toJSONSchema(named, {
    uri: (id) => reference('schemas', id).$ref,
    override: ({ jsonSchema }) => {
      // Neither says anything: that a number is one that JavaScript has, and once more what a format is.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern
    },
  })
  for (const schema of Object.values(schemas)) {
    // The document says both for all of them.
    delete schema.$schema
    delete schema.$id
  }
  return schemas
}
