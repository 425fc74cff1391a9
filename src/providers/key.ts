import { readJson } from './read-upstream.ts'
import type { UpstreamResponse, UpstreamRequest } from './read-upstream.ts'
import { requireRootUrl } from './root-url.ts'
import { UpstreamError } from './upstream-error.ts'

/** So many characters of a key may be in what is told, by chance. */
const MAX_PART_LENGTH = 7

/**
 * `key`, ready to be sent in a header.
 *
 * @throws {TypeError} where it could not be, without showing it
 */
export function requireKey(key: string): string {
  if (typeof key === 'string' && /^[\x21-\x7e]+$/.test(key)) return key
  throw new TypeError('key must be a text of printable ASCII characters without spaces')
}

/**
 * `url` as `requireRootUrl` makes it.
 *
 * @throws {TypeError} where it is none or has `key` in it, without showing either
 */
export function requireKeylessRootUrl(url: string, key: string): string {
  if (key.length > MAX_PART_LENGTH && has(url, key)) {
    throw new TypeError('url must not have the key in it')
  }
  try {
    return requireRootUrl(url)
  } catch {
    // Without its cause, which shows the URL: another key is easily put there.
    throw new TypeError(
      'url must be an absolute http(s) URL without a query, a user name and a password',
    )
  }
}

/**
 * Reads JSON as `readJson` does, with `key` in one of the headers, and never in a URL, not even one of a redirect. What it
 * rejects with has nothing in it that others wrote but the codes of failures on the wire: a `fetch` may throw the headers,
 * and an upstream echo them.
 */
export async function readJsonWithKey(
  key: string,
  read: UpstreamRequest,
): Promise<UpstreamResponse> {
  const fetch: UpstreamRequest['fetch'] = async (input, init) => {
    const url = input instanceof Request ? input.url : input.toString()
    if (url === new URL(read.url).href || !has(url, key)) return read.fetch(input, init)
    throw Object.assign(new Error('the redirect has the key in it'), { code: 'KEY_IN_URL' })
  }
  try {
    return await readJson({ ...read, fetch })
  } catch (error) {
    throw withoutKey(key, error, new URL(read.url).host)
  }
}

/** Whether `key` is in `text`, in whatever case: the names of hosts have none. */
function has(text: string, key: string): boolean {
  const lower = text.toLowerCase()
  return [key, encodeURIComponent(key)].some((form) => lower.includes(form.toLowerCase()))
}

/** Whether a part of `key` is in `text`: what is told of an upstream's text may be cut. */
function hasPart(text: string, key: string): boolean {
  const starts = Array.from({ length: Math.max(1, key.length - MAX_PART_LENGTH) }, (_, at) => at)
  return starts.some((at) => has(text, key.slice(at, at + MAX_PART_LENGTH + 1)))
}

/** Another error with the same message, unless the key is in it, and without causes. */
function withoutKey(key: string, error: unknown, host: string): UpstreamError {
  const message = error instanceof Error ? error.message : ''
  return new UpstreamError(
    hasPart(message, key) ? `${host} failed, and the message has the key in it` : message,
    error instanceof UpstreamError ? error.retryAfterMs : undefined,
  )
}
