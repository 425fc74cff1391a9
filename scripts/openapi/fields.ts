import * as z from 'zod/mini'

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
