import document from '../../generated/openapi.json' with { type: 'json' }
import type { Endpoint } from '../../http/endpoint.ts'
import { deliveryHeaders, represent } from '../../http/representation.ts'

/** `GET /api/v1/openapi.json`: what describes the API below `basePath`. */
export function openapi(basePath: string): Endpoint {
  const body = JSON.stringify({ ...document, servers: [{ url: basePath || '/' }] })
  const representation = represent(body, deliveryHeaders({ lifetime: 'hour' }))
  return () => ({ representation })
}
