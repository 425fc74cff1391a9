import { mountContract } from 'ratesmith/testing'
import { describe, expect, it } from 'vitest'

import { createConformanceHandler } from './market.ts'

const handler = createConformanceHandler('/api')

/** What frameworks pass beside the request, or around it. */
function eventOf(request: Request) {
  const url = new URL(request.url)
  return { request, url, params: { path: url.pathname.slice('/api/'.length) }, locals: {} }
}

const fallback = ({ request }: { request: Request }): Promise<Response> => handler(request)

/** Next.js calls one function for each method, with a second argument. */
const route: Record<string, (request: Request, context: object) => Promise<Response>> = {
  GET: handler,
  HEAD: handler,
  OPTIONS: handler,
  POST: handler,
  PUT: handler,
  PATCH: handler,
  DELETE: handler,
}

describe.each<[string, (request: Request) => Response | Promise<Response>]>([
  ['Next.js', (request) => route[request.method]?.(request, eventOf(request)) ?? Response.error()],
  // So do Astro (`ALL`) and React Router (`loader` and `action`).
  ['SvelteKit', (request) => fallback(eventOf(request))],
])('in the functions of %s', (_, fetch) => {
  it.each(mountContract(() => ({ url: 'http://localhost/api', fetch })))(
    '$name',
    async ({ run }) => {
      await expect(run()).resolves.toBeUndefined()
    },
  )
})
