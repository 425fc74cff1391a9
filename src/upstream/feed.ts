import { addDays, newestPublishedDay, toDay } from '../rates/dates.ts'
import type { Calendar, Day, DaySpan } from '../rates/dates.ts'
import { isObject } from '../rates/validate.ts'
import type { LatestTable } from './provider.ts'
import { UpstreamError, requireBody } from './request.ts'
import type { UpstreamRequest, UpstreamResponse } from './request.ts'
import type { runSanityChecks } from './sanity-checks.ts'
import * as z from 'zod/mini'

const MAX_DETAILS = 5

/** Terms of the rates of the European Central Bank, also of those that others serve. */
export const ECB_TERMS =
  'https://www.ecb.europa.eu/services/using-our-site/disclaimer/html/index.en.html'

/** Unchecked rates: they are validated later, when a few invalid ones are tolerated. */
export const ratesInOrder: z.ZodMiniType<Record<string, number>> =
  z.custom<Record<string, number>>(isObject)

export function pathsOf({ issues }: z.core.$ZodError): string[] {
  return issues.map(({ path }) => path.join('.') || 'whole body')
}

export function unexpectedShape(host: string, details: readonly string[]): Error {
  return new Error(
    `${host} returned an unexpected format: ${details.slice(0, MAX_DETAILS).join(', ')}`,
  )
}

/** @throws {Error} if the status is not 200, or `read` throws */
export async function parseBody<Body, Result>(
  response: UpstreamResponse<Body>,
  read: (body: Body) => Result | Promise<Result>,
): Promise<Result> {
  const body = requireBody(response)
  try {
    return await read(body)
  } catch (error) {
    throw unexpectedShape(response.host, [error instanceof Error ? error.message : String(error)])
  }
}

/** Runs the sanity checks, whose code is loaded when it is first needed. */
export async function checkTable(...of: Parameters<typeof runSanityChecks>): Promise<LatestTable> {
  return (await import('./sanity-checks.ts')).runSanityChecks(...of)
}

/** A bank that publishes on working days is never closed for more days in a row. */
export const MAX_CLOSED_DAYS = 10

/**
 * Frankfurter moves a start without rates back to a day with some: of no range it has no days.
 *
 * @throws {Error} if it has none, or of more days than the bank is ever closed none in the range
 */
export function requireAnyDay(
  host: string,
  all: readonly unknown[],
  days: readonly unknown[],
  { start, end }: DaySpan,
): void {
  if (days.length > 0 || (all.length > 0 && addDays(start, MAX_CLOSED_DAYS) >= end)) return
  throw unexpectedShape(host, [`no days from ${start} to ${end}`])
}

/**
 * From `since` to the later of the day at `now` (ms since the Unix epoch) and the newest day due; empty if it ends before.
 */
export function publishedPart(
  { start, end }: DaySpan,
  since: Day,
  now: number,
  calendar?: Calendar,
): DaySpan {
  const today = toDay(now)
  const due = calendar ? newestPublishedDay(now, calendar) : today
  const last = due > today ? due : today
  return { start: start > since ? start : since, end: end < last ? end : last }
}

/** Adds a quote to those of a day. Two different ones of a code become NaN, which is dropped as an invalid rate. */
export function addQuote(quotes: Record<string, number>, code: string, value: number): void {
  quotes[code] = Object.hasOwn(quotes, code) && quotes[code] !== value ? NaN : value
}

export function unexpectedBase(host: string, expected: string): Error {
  return new Error(`${host} returned rates of another base; expected ${expected}`)
}

/**
 * Errors never quote a query, a fragment, a user name or a password.
 *
 * @throws {TypeError} if it is not an absolute http or https URL without these (`fetch` rejects URLs with credentials)
 */
export function requireRootUrl(url: string): string {
  const isRoot = /^https?:\/\/[^?#]+$/.test(url) && URL.canParse(url)
  if (!isRoot) {
    // Anything else than a host and a path may be a password or a token.
    const value = /[@?#]/.test(url) ? '' : `, got ${url}`
    throw new TypeError(`url must be an absolute http(s) URL without a query${value}`)
  }
  const { username, password } = new URL(url)
  if (username !== '' || password !== '') {
    throw new TypeError('url must not contain a user name or password')
  }
  return url.replace(/\/+$/, '')
}

/** Other values than numbers become NaN: they are dropped as invalid rates, and no message quotes them. */
export function ratesByCode(
  entries: readonly (readonly [code: string, rate: unknown])[],
  isWanted: (code: string) => boolean,
): Record<string, number> {
  return Object.fromEntries(
    entries
      .filter(([code]) => isWanted(code))
      .map(([code, rate]) => [code, typeof rate === 'number' ? rate : NaN]),
  )
}

/** A message may contain a part of a key this long by chance. */
const MAX_PART_LENGTH = 7

/** @throws {TypeError} for a key that cannot be sent in a header, without quoting it */
export function requireKey(key: string): string {
  if (typeof key === 'string' && /^[\x21-\x7e]+$/.test(key)) return key
  throw new TypeError('key must be a string of printable ASCII characters without spaces')
}

/** @throws {TypeError} if `url` is not a root URL or contains `key`, without quoting either */
export function requireKeylessRootUrl(url: string, key: string): string {
  if (key.length > MAX_PART_LENGTH && has(url, key)) {
    throw new TypeError('url must not contain the key')
  }
  try {
    return requireRootUrl(url)
  } catch {
    // Without the cause, which quotes the URL: it may contain another key.
    throw new TypeError(
      'url must be an absolute http(s) URL without a query, user name or password',
    )
  }
}

/**
 * Reads a response with `read`, with `key` in a header or in the URL of the first request, but in no redirect. Of other
 * parties' text, errors contain only the codes of network failures: a `fetch` may throw an error with the headers or the URL,
 * and an upstream may echo them.
 */
export async function readWithKey<Body>(
  key: string,
  request: UpstreamRequest,
  read: (request: UpstreamRequest) => Promise<UpstreamResponse<Body>>,
): Promise<UpstreamResponse<Body>> {
  const fetch: UpstreamRequest['fetch'] = async (input, init) => {
    const url = input instanceof Request ? input.url : input.toString()
    if (url === new URL(request.url).href || !has(url, key)) return request.fetch(input, init)
    throw Object.assign(new Error('the redirect URL contains the key'), { code: 'KEY_IN_URL' })
  }
  try {
    return await read({ ...request, fetch })
  } catch (error) {
    throw withoutKey(key, error, new URL(request.url).host)
  }
}

/** Ignores case, because host names are lower-cased. */
function has(text: string, key: string): boolean {
  const lower = text.toLowerCase()
  return [key, encodeURIComponent(key)].some((form) => lower.includes(form.toLowerCase()))
}

/** Upstream text in a message may be truncated. */
function hasPart(text: string, key: string): boolean {
  const starts = Array.from({ length: Math.max(1, key.length - MAX_PART_LENGTH) }, (_, at) => at)
  return starts.some((at) => has(text, key.slice(at, at + MAX_PART_LENGTH + 1)))
}

function withoutKey(key: string, error: unknown, host: string): UpstreamError {
  const message = error instanceof Error ? error.message : ''
  return new UpstreamError(
    hasPart(message, key) ? `request to ${host} failed; the reason contains the key` : message,
    error instanceof UpstreamError
      ? { status: error.status, retryAfterMs: error.retryAfterMs }
      : {},
  )
}
