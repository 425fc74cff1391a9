import document from '../../generated/openapi.json' with { type: 'json' }
import type { Endpoint } from '../../http/endpoint.ts'
import { bodyHeaders, represent } from '../../http/representation.ts'

/** Creates `GET /api/v1/openapi.json`: the OpenAPI document of the API at `basePath`. */
export function openapi(basePath: string): Endpoint {
  const body = JSON.stringify({ ...document, servers: [{ url: basePath || '/' }] })
  const representation = represent(body, bodyHeaders({ lifetime: 'hour' }))
  return () => ({ representation })
}
