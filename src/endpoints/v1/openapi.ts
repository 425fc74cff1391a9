import type { Endpoint } from '../../http/endpoint.ts'
import { deliveryHeaders, represent } from '../../http/representation.ts'
import { createOnce } from '../once.ts'

/** `GET /api/v1/openapi.json`: what describes the API below `basePath`. It is loaded when it is first asked for. */
export function openapi(basePath: string): Endpoint {
  return createOnce(async () => {
    const { default: document } = await import('../../generated/openapi.json', {
      with: { type: 'json' },
    })
    const servers = [{ url: basePath || '/' }]
    const body = JSON.stringify({ ...document, servers })
    return { representation: represent(body, deliveryHeaders({ lifetime: 'hour' })) }
  })
}
