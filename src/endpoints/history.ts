import type { HistoryForm, WrittenHistories } from '../api/history-writer.ts'
import { findHistories, needOf, pairsOf } from '../api/history.ts'
import type { FoundHistory } from '../api/history.ts'
import { OPERATIONS } from '../api/parameters.ts'
import type { AnyHistoryParams, Targets } from '../api/parameter-types.ts'
import { loadOnce, runAtOnce, runInSlices, yieldToEventLoop } from '../async.ts'
import type { Slices } from '../async.ts'
import { LARGE_BODY_BYTES } from '../http/limiter.ts'
import { createQueryParser } from '../http/query.ts'
import type { Parsed } from '../http/query.ts'
import type { ResponseCache } from '../http/response-cache.ts'
import {
  bodyHeaders,
  entityTag,
  lengthHeader,
  represent,
  toSendable,
  viaLink,
} from '../http/response.ts'
import type { DataResult, Endpoint, Representation, RequestContext } from '../http/response.ts'
import { DAY_MS, toDay } from '../rates/dates.ts'
import { rowsOf } from '../rates/market-history.ts'
import type { HistoryNeed } from '../sources/rate-sources.ts'
import type { EndpointContext, Format } from './context.ts'

type HistoryQuery = AnyHistoryParams<Targets> & { format?: Format; layout?: 'long' | 'wide' }

/** What a query asks for. */
interface Question {
  pairs: readonly AnyHistoryParams[]
  /** The pair, if it is the only one. */
  one: { pair: AnyHistoryParams; need: HistoryNeed; isDefault: boolean } | undefined
  type: Format
  form: HistoryForm
  /** Cache key: equal for all queries with this response. */
  key: string
}

function questionOf({ params, key }: Parsed<HistoryQuery>): Question {
  const { format: type = 'json', layout = 'long', ...selection } = params
  const { to, start, interval, value, fill } = selection
  const pairs = pairsOf(selection)
  const [pair, ...others] = pairs
  const isDefault = (start ?? interval ?? value ?? fill) === undefined
  const one = pair && others.length === 0 ? { pair, need: needOf(pair), isDefault } : undefined
  const form = type === 'csv' ? layout : Array.isArray(to) ? 'list' : 'json'
  return { pairs, one, type, form, key }
}

export function history({ sources, responseCaches, now, keyNames }: EndpointContext): Endpoint {
  const parse = createQueryParser<HistoryQuery>(OPERATIONS.history, keyNames)
  // By parsed queries, which are cached.
  const questions = new WeakMap<object, Question>()
  const compute = createComputation()
  const idOf = createNumbering()

  async function respondToMany(
    question: Question,
    day: number,
    request: RequestContext,
  ): Promise<DataResult> {
    const found = await findHistories(sources, question.pairs, request, toDay(day * DAY_MS))
    const results = found.map(([, result]) => result)
    const [first] = results
    if (!first) throw new Error('a list of histories is empty')
    const hit = results.every((result) => result.hit)
    const ttl = Math.min(...results.map((result) => result.ttl))
    const key = `${question.key} ${results.map(({ value }) => idOf(value)).join()}`
    const entry = { cache: responseCaches.dated, data: first.value, key, day }
    return compute({ question, found, freshness: { hit, ttl }, ...entry }, request)
  }

  return (query, request) => {
    const parsed = parse(query)
    const question = questions.get(parsed) ?? questionOf(parsed)
    questions.set(parsed, question)
    const { one, key } = question
    // A window never ends after today, even if later days are published.
    const day = Math.floor(now() / DAY_MS)
    if (!one) return respondToMany(question, day, request)
    return sources.history(one.need, request, (freshness) => {
      const { value: data } = freshness
      // A cache of one data set would be cleared by every request for another.
      const isFirst = one.isDefault && data.calendar === undefined
      const cache = isFirst ? responseCaches.history : responseCaches.dated
      const representation = cache.find(data, key, day)
      // Without a promise, which would take longer than the rest.
      if (representation) return { representation, freshness, cost: 1 }
      const found: FoundHistory[] = [[one.pair, freshness]]
      return compute({ question, found, freshness, cache, data, key, day }, request)
    })
  }
}

interface Job {
  question: Question
  found: readonly FoundHistory[]
  freshness: { hit: boolean; ttl: number }
  cache: ResponseCache
  data: object
  key: string
  day: number
}

function createComputation(): (job: Job, request: RequestContext) => Promise<DataResult> {
  // Loaded with the first history: many apps serve none.
  const loadWriter = loadOnce(async () => {
    const { createHistoryWriter } = await import('../api/history-writer.ts')
    return createHistoryWriter()
  })
  return async ({ question, found, freshness, cache, data, key, day }, request) => {
    const cached = cache.find(data, key, day)
    if (cached) return { representation: cached, freshness, cost: 1 }
    const { type, form } = question
    const write = await loadWriter()
    const isExpensive = (): boolean => sizeOf(found, type) > LARGE_BODY_BYTES
    const make = (): Representation | Promise<Representation> => {
      const work = representAll(write(found, toDay(day * DAY_MS), form), type)
      return isExpensive() ? runInSlices(work, yieldToEventLoop) : runAtOnce(work)
    }
    const work = { data, key, day, hasWaited: !freshness.hit, isExpensive, make }
    return { representation: await cache.getOrCreateLimited(work, request), freshness }
  }
}

function createNumbering(): (object: object) => number {
  const numbers = new WeakMap<object, number>()
  let count = 0
  return (object) => {
    const number = numbers.get(object) ?? (count += 1)
    numbers.set(object, number)
    return number
  }
}

// Approximate number of published days, and size of a point.
const PERIOD_DAYS = { '1W': 6, '1M': 23, '3M': 66, '6M': 131, '1Y': 260, '5Y': 1_300 }
const POINT_BYTES = { json: 40, csv: 100 }

/** Returns the approximate size of a response with all days: an interval also reads all of them. */
function sizeOf(found: readonly FoundHistory[], type: Format): number {
  return found.reduce((sum, [pair, { value: data }]) => {
    const { period: length = '1M', start, end = '9999-12-31' } = pair
    const [first, last] =
      start === undefined ? [0, PERIOD_DAYS[length]] : rowsOf(data.history, start, end)
    return sum + (last - first) * POINT_BYTES[type]
  }, 0)
}

function* representAll(writing: Slices<WrittenHistories>, type: Format): Slices<Representation> {
  const { histories, parts } = yield* writing
  const headers = bodyHeaders({ form: type, lifetime: 'hour' })
  if (type === 'csv') {
    const links = histories.flatMap((each) => viaLink(each.source)).map(([, link]) => link)
    headers.push(['link', [...new Set(links)].join(', ')])
  }
  const [only, ...others] = parts
  if (only && others.length === 0) return represent(toSendable(only), headers)
  const body = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  yield
  let at = 0
  let tags = ''
  for (const part of parts) {
    body.set(part, at)
    at += part.length
    // The digest of a whole body of 20 MB would take 10 ms.
    tags += entityTag(part)
    yield
  }
  const sendable = toSendable(body)
  return typeof sendable === 'string'
    ? represent(sendable, headers)
    : { body, bodyHeaders: headers, etag: ['etag', entityTag(tags)], length: lengthHeader(at) }
}
