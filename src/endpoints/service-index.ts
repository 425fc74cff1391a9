import { OPERATIONS } from '../api/parameters.ts'
import { bodyHeaders, represent } from '../http/response.ts'
import type { Representation } from '../http/response.ts'

const DOCUMENTATION = 'https://www.npmjs.com/package/ratesmith'

/** Response of `/v1`. */
interface ServiceIndex {
  /** The path of every endpoint, by its name. */
  endpoints: Record<string, string>
  /** URL of the documentation. */
  documentation: string
}

export function serviceIndex(basePath: string, others: readonly string[]): Representation {
  const hidden = ['convertMany', 'index', ...others]
  const endpoints = Object.fromEntries(
    Object.entries(OPERATIONS)
      .filter(([name, { path }]) => path.startsWith('/v1') && !hidden.includes(name))
      .map(([name, { path }]) => [name, basePath + path]),
  )
  const body: ServiceIndex = { endpoints, documentation: DOCUMENTATION }
  const headers = bodyHeaders({ lifetime: 'hour' })
  headers.push(['link', `<${endpoints['openapi']}>; rel="service-desc"`])
  return represent(JSON.stringify(body), headers)
}
