import * as z from 'zod/mini'

/** A currency code, as every answer has it. */
export const code = z.string().check(z.regex(/^[A-Z]{3}$/))

/** An instant in ms since the Unix epoch. */
export const instant = z.int().check(z.nonnegative())

/** A day, `YYYY-MM-DD`. */
export const day = z.iso.date()

/** Units of one currency for one of another. */
export const rate = z.number().check(z.positive())

/** Returns `schema` with a `description` for JSON Schema. */
export function described<Schema extends z.ZodMiniType>(
  schema: Schema,
  description: string,
): Schema {
  return schema.check(z.describe(description))
}
