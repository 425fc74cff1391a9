import { Router } from 'itty-router/Router'

import { RatesError, toRatesError } from '../errors.ts'
import type { Answer, AnswerRequest, Reply } from './answer.ts'
import { CORS_HEADERS, withCors } from './cors.ts'
import { failure, options, revalidated, success } from './respond.ts'
import type { Success } from './respond.ts'
import { splitTarget } from './target.ts'

/** What an endpoint answers with: a success, or any other reply. */
export type Outcome = Success | Reply

/**
 * What is behind one path. `query` is raw, without the question mark; the `signal` of `waiter` ends its waiting. It answers at
 * once where it need not wait, which is much cheaper.
 */
export type Endpoint = (
  query: string,
  waiter: Pick<AnswerRequest, 'signal'>,
) => Outcome | Promise<Outcome>

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
  /** Whether unknown paths may be asked with `OPTIONS`. */
  isVersioned: boolean
  /** Whether every origin may read the answers. */
  isOpen: boolean
  /** Undefined where nothing is. */
  endpoint: Endpoint | undefined
}

/** A function that answers any request and never rejects. */
export function createRouter(
  routerOptions: RouterOptions,
): (request: AnswerRequest) => Promise<Answer> {
  const { onInternalError } = routerOptions
  const locator = createLocator(routerOptions)

  return async (request) => {
    let place = locator.outside
    let reply: Reply
    let method = ''
    try {
      const { path, query } = splitTarget(request.target)
      method = request.method
      // What is there already is not awaited: a promise is a turn and dearer than the answer.
      place = locator.known(path) ?? (await locator.find(path))
      const outcome = outcomeAt(place, query, request)
      reply = render(outcome instanceof Promise ? await outcome : outcome, place, request)
    } catch (thrown) {
      const error = toRatesError(thrown)
      if (error.code === 'internal_error') onInternalError(error.cause)
      const failed = failure(error, place.group.errorBody(error))
      reply = place.isOpen ? withCors(failed) : failed
    }
    const { status, headers, body } = reply
    const matched = place.endpoint !== undefined
    return { status, headers, body: method === 'HEAD' ? null : body, matched }
  }
}

function outcomeAt(
  { endpoint, isVersioned }: Place,
  query: string,
  request: AnswerRequest,
): Outcome | Promise<Outcome> {
  const { method } = request
  // A preflight of an unknown path succeeds, so that the browser sees the 404 of the request itself.
  if (method === 'OPTIONS' && (endpoint || isVersioned)) return options()
  if (!endpoint) throw new RatesError('not_found', 'Not found')
  if (method !== 'GET' && method !== 'HEAD') {
    throw new RatesError('method_not_allowed', 'Method not allowed')
  }
  return endpoint(query, request)
}

function render(outcome: Outcome, { isOpen }: Place, { header }: AnswerRequest): Reply {
  if (!('representation' in outcome)) return isOpen ? withCors(outcome) : outcome
  return revalidated(success(outcome, isOpen ? CORS_HEADERS : []), header('if-none-match'))
}

/** Finds the place of a path, which is matched to the letter: case-sensitive, undecoded, no trailing slash. */
interface Locator {
  /** Where paths are that do not begin with the base path. */
  outside: Place
  /** The place of an endpoint that was found before. */
  known(path: string): Place | undefined
  find(path: string): Promise<Place>
}

function createLocator({ basePath, versioned, unversioned, cors }: RouterOptions): Locator {
  const router = Router()
  for (const group of [versioned, unversioned]) {
    for (const [path, endpoint] of Object.entries(group.endpoints)) {
      router.all(path, () => endpoint)
    }
  }
  const found = new Map<string, Place>()
  const openToAll = cors === 'all'
  const outside: Place = {
    group: versioned,
    isVersioned: false,
    isOpen: openToAll,
    endpoint: undefined,
  }

  return {
    outside,
    known: (path) => found.get(path),
    async find(path) {
      const isBelow = path === basePath || path.startsWith(`${basePath}/`)
      if (!isBelow) return outside
      const local = path.slice(basePath.length)
      const isVersioned = /^\/v\d+(\/|$)/.test(local)
      // itty-router also matches a path with slashes behind it.
      const endpoint: Endpoint | undefined = local.endsWith('/')
        ? undefined
        : await router.fetch({ method: 'GET', url: `http://localhost${local}` })
      const place: Place = {
        group: isVersioned ? versioned : unversioned,
        isVersioned,
        isOpen: openToAll || (cors === 'v1' && isVersioned),
        endpoint,
      }
      // Only the paths of endpoints are worth keeping, and few enough.
      if (endpoint) found.set(path, place)
      return place
    },
  }
}
