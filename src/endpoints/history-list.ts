import { createListWriter } from '../api/history-list-writer.ts'
import type { ListForm } from '../api/history-list-writer.ts'
import { assertListParams, eachParams, findHistories } from '../api/history-list.ts'
import type { FoundHistories } from '../api/history-list.ts'
import type { HistoryListParams, OneHistoryParams } from '../api/history.ts'
import { derivedIn, toSource } from '../api/resolve-code.ts'
import { runAtOnce, runInSlices, yieldToEventLoop } from '../async.ts'
import type { Slices } from '../async.ts'
import { invalidParameter } from '../errors.ts'
import { LARGE_BODY_BYTES } from '../http/limiter.ts'
import type { ResponseCache } from '../http/response-cache.ts'
import {
  bodyHeaders,
  entityTag,
  lengthHeader,
  represent,
  toSendable,
  viaLink,
} from '../http/response.ts'
import type { Endpoint, Representation } from '../http/response.ts'
import { DAY_MS, toDay } from '../rates/dates.ts'
import type { HistorySnapshot } from '../sources/history-source.ts'
import type { RateSources } from '../sources/rate-sources.ts'

export interface ParsedHistory {
  /** Checked as for one plain history. */
  params: HistoryListParams
  type: 'json' | 'csv'
  /** Unchecked. */
  lines: Layout
  /** Cache key without the layout: equal for all queries that request the same histories. */
  key: string
}

/** Lines of CSV: one per point, or one per day with a column per target. */
export type Layout = 'long' | 'wide'

export const LAYOUTS: readonly Layout[] = ['long', 'wide']

/** @throws {RatesError} `invalid_parameter` */
function formOf({ type, lines }: ParsedHistory): ListForm {
  if (!LAYOUTS.includes(lines)) throw invalidParameter('layout', 'must be long or wide')
  if (type === 'csv') return lines
  if (lines === 'wide') throw invalidParameter('layout', 'needs format=csv')
  return type
}

export interface HistoryListOptions {
  sources: RateSources
  responseCache: ResponseCache
  now: () => number
  parse(query: string): ParsedHistory
  sizeOf(params: OneHistoryParams, data: HistorySnapshot, form: 'json' | 'csv'): number
}

export function historyList(options: HistoryListOptions): Endpoint {
  const { sources, responseCache, now, parse, sizeOf } = options
  const write = createListWriter()
  const idOf = createNumbering()
  return async (query, request) => {
    const parsed = parse(query)
    const { params, type, key } = parsed
    assertListParams(params)
    const form = formOf(parsed)
    const instant = now()
    const today = toDay(instant)
    const found = await findHistories(sources, eachParams(params), request, today)
    const results = found.map(([, result]) => result)
    const [first] = results
    if (!first) throw new Error('a list of histories is empty')
    const hit = results.every((result) => result.hit)
    const ttl = Math.min(...results.map((result) => result.ttl))
    const isExpensive = (): boolean =>
      found.reduce((sum, [each, { value }]) => sum + sizeOf(each, value, type), 0) >
      LARGE_BODY_BYTES
    const make = (): Representation | Promise<Representation> => {
      const how = { form, isList: typeof params.to !== 'string' }
      const work = representParts(write(found, today, how), found, type)
      return isExpensive() ? runInSlices(work, yieldToEventLoop) : runAtOnce(work)
    }
    const work = {
      data: first.value,
      key: `${key} ${form} ${typeof params.to} ${results.map(({ value }) => idOf(value)).join()}`,
      day: Math.floor(instant / DAY_MS),
      hasWaited: !hit,
      isExpensive,
      make,
    }
    const representation = await responseCache.getOrCreateLimited(work, request)
    return { representation, freshness: { hit, ttl } }
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

function viaLinks(found: FoundHistories): string {
  const links = found.flatMap(([{ from, to }, { value }]) => {
    const { derived } = derivedIn(value.history, [from.toUpperCase(), to.toUpperCase()])
    return viaLink(toSource(value.attribution, derived))
  })
  return [...new Set(links.map(([, link]) => link))].join(', ')
}

function* representParts(
  writing: Slices<Uint8Array<ArrayBuffer>[]>,
  found: FoundHistories,
  type: 'json' | 'csv',
): Slices<Representation> {
  const parts = yield* writing
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const body = new Uint8Array(length)
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
  const headers = bodyHeaders({ form: type, lifetime: 'hour' })
  if (type === 'csv') headers.push(['link', viaLinks(found)])
  const sendable = toSendable(body)
  return typeof sendable === 'string'
    ? represent(sendable, headers)
    : { body, bodyHeaders: headers, etag: ['etag', entityTag(tags)], length: lengthHeader(length) }
}
