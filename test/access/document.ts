import { openService } from '../fixtures/service.ts'

/** Returns the names of all query parameters in the OpenAPI document. */
export async function documentOf(): Promise<string[]> {
  const { json } = openService()
  const names = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { in: place, name }: { in?: unknown; name?: unknown } = value
    if (place === 'query' && typeof name === 'string') names.add(name)
    Object.values(value).forEach(visit)
  }
  visit(await json('/api/v1/openapi.json'))
  return [...names]
}
