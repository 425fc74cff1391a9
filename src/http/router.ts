import { Router } from 'itty-router/Router'

import { RatesError, toRatesError } from '../errors.ts'
import type { Answer, AnswerRequest, Reply } from './answer.ts'
import { withCors } from './cors.ts'
import { failure, options, revalidated, withoutBody } from './respond.ts'
import { splitTarget } from './target.ts'

/** What is behind one path. `query` is raw, without the question mark; the `signal` of `waiter` ends its waiting. */
export type Endpoint = (query: string, waiter: Pick<AnswerRequest, 'signal'>) => Promise<Reply>

/** Endpoints that share the form of their errors. */
export interface Group {
  /** By path below the base path. */
  endpoints: Readonly<Record<string, Endpoint>>
  /** The body that tells `error`. */
  errorBody(error: RatesError): object
}

/** What the router is made from. */
export interface RouterOptions {
  /** Prefix of every path: absolute and without a trailing slash, or empty. */
  basePath: string
  /** Below `/v<digits>`; its errors also answer paths outside the base path. */
  versioned: Group
  /** Everything else below the base path. */
  unversioned: Group
  /** Which answers every origin may read. */
  cors: 'v1' | 'all' | 'off'
  /** Told of what became a 500. */
  onInternalError(error: unknown): void
}

/** The place of a path in the service. */
interface Place {
  group: Group
  isVersioned: boolean
  /** Undefined where nothing is. */
  endpoint: Endpoint | undefined
}

/** A function that answers any request and never rejects. */
export function createRouter(
  routerOptions: RouterOptions,
): (request: AnswerRequest) => Promise<Answer> {
  const { versioned, cors, onInternalError } = routerOptions
  const locate = createLocator(routerOptions)

  return async (request) => {
    let place: Place = { group: versioned, isVersioned: false, endpoint: undefined }
    let reply: Reply
    let method = ''
    try {
      const { path, query } = splitTarget(request.target)
      method = request.method
      place = await locate(path)
      reply = await replyAt(place, query, request)
    } catch (thrown) {
      const error = toRatesError(thrown)
      if (error.code === 'internal_error') onInternalError(error.cause)
      reply = failure(error, place.group.errorBody(error))
    }
    const matched = place.endpoint !== undefined
    if (method === 'HEAD') reply = withoutBody(reply)
    const isOpen = cors === 'all' || (cors === 'v1' && place.isVersioned)
    return { ...(isOpen ? withCors(reply) : reply), matched }
  }
}

async function replyAt(
  { endpoint, isVersioned }: Place,
  query: string,
  request: AnswerRequest,
): Promise<Reply> {
  const { method, header } = request
  // A preflight of an unknown path succeeds, so that the browser sees the 404 of the request itself.
  if (method === 'OPTIONS' && (endpoint || isVersioned)) return options()
  if (!endpoint) throw new RatesError('not_found', 'Not found')
  if (method !== 'GET' && method !== 'HEAD') {
    throw new RatesError('method_not_allowed', 'Method not allowed')
  }
  return revalidated(await endpoint(query, request), header('if-none-match'))
}

/** Finds the place of a path, which is matched to the letter: case-sensitive, undecoded, no trailing slash. */
function createLocator({
  basePath,
  versioned,
  unversioned,
}: RouterOptions): (path: string) => Promise<Place> {
  const router = Router()
  for (const group of [versioned, unversioned]) {
    for (const [path, endpoint] of Object.entries(group.endpoints)) {
      router.all(path, () => endpoint)
    }
  }
  return async (path) => {
    const isBelow = path === basePath || path.startsWith(`${basePath}/`)
    if (!isBelow) return { group: versioned, isVersioned: false, endpoint: undefined }
    const local = path.slice(basePath.length)
    const isVersioned = /^\/v\d+(\/|$)/.test(local)
    // itty-router also matches a path with slashes behind it.
    const endpoint: Endpoint | undefined = local.endsWith('/')
      ? undefined
      : await router.fetch({ method: 'GET', url: `http://localhost${local}` })
    return { group: isVersioned ? versioned : unversioned, isVersioned, endpoint }
  }
}
