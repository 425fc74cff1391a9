import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/fake-providers.ts'

declare const self: ServiceWorkerGlobalScope

/** The name of the cache of this build, and the files that the front page needs; filled in by the build. */
declare const CACHE: string
declare const FILES: readonly string[]

const scope = new URL(self.registration.scope).pathname
const basePath = `${scope}api`

/** The handler of the package, on synthetic rates, as `ratesmith serve --demo` runs it, with quotes until the worker ends. */
const handler = createRatesHandler({
  basePath,
  explorer: true,
  providers: fakeProviders(),
  quotes: { secrets: [globalThis.crypto.getRandomValues(new Uint8Array(32))] },
})

self.addEventListener('install', (event) => {
  event.waitUntil(
    (async () => {
      const cache = await caches.open(CACHE)
      await cache.addAll(FILES.map((file) => scope + file))
      await self.skipWaiting()
    })(),
  )
})

self.addEventListener('activate', (event) => {
  event.waitUntil(
    (async () => {
      // Other apps of the origin have their own caches.
      const prefix = CACHE.slice(0, CACHE.lastIndexOf(':') + 1)
      const old = (await caches.keys()).filter((name) => name.startsWith(prefix) && name !== CACHE)
      await Promise.all(old.map((name) => caches.delete(name)))
      await self.clients.claim()
    })(),
  )
})

self.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (origin !== self.location.origin || !pathname.startsWith(scope)) return
  if (pathname === basePath || pathname.startsWith(`${basePath}/`)) {
    // The static page in the place of the explorer reloads into the explorer.
    if (pathname !== `${basePath}/index.html`) event.respondWith(answer(request))
  } else if (request.method === 'GET') event.respondWith(respondWithFile(event))
})

async function answer(request: Request): Promise<Response> {
  if (request.method === 'POST' && !request.body) {
    // Requests have no streams in Firefox; responses have.
    const { body } = new Response(await request.arrayBuffer())
    Object.defineProperty(request, 'body', { value: body })
  }
  return handler(request)
}

/** Responds from the network, whose files are kept, and offline with the kept ones. */
async function respondWithFile(event: FetchEvent): Promise<Response> {
  const { request } = event
  const cache = await caches.open(CACHE)
  try {
    const response = await fetch(request)
    if (response.status === 200) event.waitUntil(cache.put(request, response.clone()))
    return response
  } catch {
    return (await cache.match(request, { ignoreSearch: true })) ?? Response.error()
  }
}
