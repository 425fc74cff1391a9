import { RatesError, toRatesError } from '../errors.ts'
import type { Answer, AnswerRequest, Reply } from './answer.ts'
import { CORS_HEADERS, withCors } from './cors.ts'
import type { Outcome } from './endpoint.ts'
import type { Limiter } from './limiter.ts'
import { createLocator } from './places.ts'
import type { Place, PlacesOptions } from './places.ts'
import { failure, meetsIfMatch, options, revalidated, success } from './respond.ts'
import { splitTarget } from './target.ts'

/** A query of more characters is expensive to read, and may ask for many conversions. */
const LONG_QUERY = 512

/** What the router is made from. */
export interface RouterOptions extends PlacesOptions {
  limiter: Limiter
  /** Told of what became a 500. */
  onInternalError(error: unknown): void
}

/** A function that answers any request and never rejects. */
export function createRouter(
  routerOptions: RouterOptions,
): (request: AnswerRequest) => Promise<Answer> {
  const { limiter, onInternalError } = routerOptions
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
      const outcome =
        query.length > LONG_QUERY && place.endpoint
          ? outcomeInTurn(limiter, place, query, request)
          : outcomeAt(place, query, request)
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

/** Only the reading of a query takes a turn, not the wait for data. */
async function outcomeInTurn(
  limiter: Limiter,
  place: Place,
  query: string,
  request: AnswerRequest,
): Promise<Outcome> {
  const read = () => ({ outcome: outcomeAt(place, query, request) })
  const { outcome } = await limiter.run(read, request)
  return outcome
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
  const reply = toReply(outcome, isOpen)
  if (reply.status !== 200) return reply
  if (!meetsIfMatch(reply, header('if-match'))) {
    const message = 'Precondition failed: If-Match does not name the current ETag'
    throw new RatesError('precondition_failed', message)
  }
  return revalidated(reply, header('if-none-match'))
}

function toReply(outcome: Outcome, isOpen: boolean): Reply {
  if ('representation' in outcome) return success(outcome, isOpen ? CORS_HEADERS : [])
  return isOpen ? withCors(outcome) : outcome
}
