import type { Header } from '../http/answer.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { deliveryHeaders, represent } from '../http/representation.ts'
import { createOnce } from './once.ts'

/** `GET /api`, where the explorer is on: a page that tries the API in a browser. It is loaded when it is first asked for. */
export function explorerPage(): Endpoint {
  return createOnce(async () => {
    const { contentSecurityPolicy, html } = await import('../generated/explorer-page.ts')
    const headers: Header[] = [
      ...deliveryHeaders({ form: 'html', lifetime: 'checked' }),
      ['content-security-policy', contentSecurityPolicy],
      ['referrer-policy', 'no-referrer'],
    ]
    return { representation: represent(html, headers) }
  })
}
