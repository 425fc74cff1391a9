import { contentSecurityPolicy, html } from '../generated/explorer-page.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { bodyHeaders, represent } from '../http/representation.ts'

/** Creates `GET /api`, if the explorer is enabled: a page to try the API in a browser. */
export function explorerPage(): Endpoint {
  const representation = represent(html, [
    ...bodyHeaders({ form: 'html', lifetime: 'checked' }),
    ['content-security-policy', contentSecurityPolicy],
    ['referrer-policy', 'no-referrer'],
  ])
  return () => ({ representation })
}
