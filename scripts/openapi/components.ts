import * as z from 'zod/mini'

const named = z.registry<{ id: string; description: string }>()

/** Registers `schema` as the component `id`, to which other schemas refer, and returns it. */
export function component<Schema extends z.ZodMiniType>(
  id: string,
  description: string,
  schema: Schema,
): Schema {
  named.add(schema, { id, description })
  return schema
}

/** Returns a Reference Object to `schema`, which must be a component. */
export function schemaReference(schema: z.ZodMiniType): { $ref: string } {
  const { id } = named.get(schema) ?? {}
  if (id === undefined) throw new Error('a referenced schema must be a component')
  return reference('schemas', id)
}

/** Returns the JSON Schemas of all components, by name. */
export function componentSchemas(): Record<string, object> {
  const { schemas } = z.toJSONSchema(named, {
    uri: (id) => reference('schemas', id).$ref,
    override: ({ jsonSchema }) => {
      // Both are redundant: every integer of JavaScript is below this maximum, and a format implies its pattern.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern
    },
  })
  for (const schema of Object.values(schemas)) {
    // The document declares both once for all schemas.
    delete schema.$schema
    delete schema.$id
  }
  return schemas
}

/** Returns a Reference Object to a component, for example of the kind `schemas`. */
export function reference(kind: string, name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` }
}

/** An upper-case currency code. */
export const code = z.string().check(z.regex(/^[A-Z]{3}$/))

/** Milliseconds since the Unix epoch. */
export const instant = z.int().check(z.nonnegative())

/** A day, `YYYY-MM-DD`. */
export const day = z.iso.date()

/** Units of one currency per unit of another. */
export const rate = z.number().check(z.positive())

/** Returns `schema` with a `description` for JSON Schema. */
export function described<Schema extends z.ZodMiniType>(
  schema: Schema,
  description: string,
): Schema {
  return schema.check(z.describe(description))
}
