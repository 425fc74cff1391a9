import { mountContract } from 'ratesmith/testing'
import { describe, expect, it } from 'vitest'

import { createConformanceHandler } from './market.ts'

const handler = createConformanceHandler('/api')

/** What a framework makes of one request, by the functions that a file of the app exports. */
type Dispatch = (request: Request) => Response | Promise<Response>

/** Next.js, `app/api/[...path]/route.ts`: one function for each method, given the parameters beside the request. */
function nextJs(): Dispatch {
  const route: Record<string, (request: Request, context: object) => Promise<Response>> = {
    GET: handler,
    HEAD: handler,
    OPTIONS: handler,
    POST: handler,
    PUT: handler,
    PATCH: handler,
    DELETE: handler,
  }
  const context = { params: Promise.resolve({ path: ['v1', 'latest'] }) }
  return (request) => route[request.method]?.(request, context) ?? notAllowed()
}

/** SvelteKit, `src/routes/api/[...path]/+server.ts`: `fallback` for every method without a function of its own. */
function svelteKit(): Dispatch {
  const fallback = ({ request }: { request: Request }): Promise<Response> => handler(request)
  return (request) => fallback(eventOf(request))
}

/** Astro, `src/pages/api/[...path].ts`: `ALL` for every method without a function of its own. */
function astro(): Dispatch {
  const ALL = ({ request }: { request: Request }): Promise<Response> => handler(request)
  return (request) => ALL(eventOf(request))
}

/** React Router, a resource route: `loader` for what reads and `action` for what writes. */
function reactRouter(): Dispatch {
  const loader = ({ request }: { request: Request }): Promise<Response> => handler(request)
  const action = loader
  const reads = ['GET', 'HEAD', 'OPTIONS']
  return (request) =>
    reads.includes(request.method) ? loader(eventOf(request)) : action(eventOf(request))
}

/** What these frameworks have in common of what they pass. */
function eventOf(request: Request) {
  const url = new URL(request.url)
  const params = { path: url.pathname.slice('/api/'.length) }
  return { request, url, params, locals: {}, context: {} }
}

function notAllowed(): Response {
  return new Response(null, { status: 405 })
}

describe.each([
  ['Next.js', nextJs()],
  ['SvelteKit', svelteKit()],
  ['Astro', astro()],
  ['React Router', reactRouter()],
])('in the functions of %s', (_, fetch) => {
  it.each(mountContract(() => ({ url: 'http://localhost/api', fetch })))(
    '$name',
    async ({ run }) => {
      await expect(run()).resolves.toBeUndefined()
    },
  )
})
