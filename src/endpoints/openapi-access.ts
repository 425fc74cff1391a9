import type { KeyRules } from '../http/guard.ts'
import patch from '../generated/openapi-access.json' with { type: 'json' }

export function withAccess(document: object, rules: KeyRules): object {
  const { isOptional, queryParameters } = rules
  const inQueries = queryParameters.map((name, index) => [
    `queryKey${index + 1}`,
    { type: 'apiKey', in: 'query', name },
  ])
  const securitySchemes = { ...patch.components.securitySchemes, ...Object.fromEntries(inQueries) }
  const oneOf = Object.keys(securitySchemes).map((name) => ({ [name]: [] }))
  return merged(document, {
    ...patch,
    // An empty requirement makes the others optional.
    security: isOptional ? [...oneOf, {}] : oneOf,
    components: { ...patch.components, securitySchemes },
  })
}

/** Applies a JSON Merge Patch (RFC 7396) to an object. */
function merged(target: object, change: object): object {
  const result: Record<string, unknown> = { ...target }
  for (const [name, value] of Object.entries(change)) {
    if (value === null) delete result[name]
    else result[name] = isObject(value) ? merged(Object(result[name]), value) : value
  }
  return result
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && !Array.isArray(value)
}
