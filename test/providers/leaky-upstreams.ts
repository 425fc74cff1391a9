import { FAULTS, OTHER_FORMS } from '../../src/testing/provider-faults.ts'

/** A request with a key, and a good response body. */
interface KeyedRequest {
  request: Request
  key: string
  /** Body of a good response. */
  body: Record<string, unknown>
}

/** Responds to a request. */
export type LeakyUpstream = (keyed: KeyedRequest) => Response | Promise<Response>

/** One status of every kind that is treated differently. */
const STATUSES = [200, 201, 401, 422, 429, 500]

/** Everything that an upstream, or a custom `fetch`, may do with a key. */
export const LEAKY_UPSTREAMS: Record<string, LeakyUpstream> = {
  'is healthy': ({ body }) => Response.json(body),
  ...Object.fromEntries(Object.entries(FAULTS).map(([what, each]) => [what, asLeaky(each)])),
  ...Object.fromEntries(
    OTHER_FORMS.map((text) => [`responds with ${text}`, () => new Response(text)]),
  ),
  ...Object.fromEntries(
    STATUSES.flatMap((status) => [
      [`echoes the key as text with ${status}`, echo(status, (key) => `k${key}`)],
      [`echoes the key inside broken JSON with ${status}`, echo(status, (key) => `{"a":${key}}`)],
      [`echoes the key as every word with ${status}`, echo(status, wordsOf)],
    ]),
  ),
  'echoes the key in headers': ({ body, key }) =>
    Response.json(body, {
      headers: { 'x-key': ascii(key), etag: ascii(key), 'retry-after': ascii(key) },
    }),
  'echoes the key in headers of an error': ({ key }) =>
    new Response(key, { status: 429, headers: { 'retry-after': ascii(key), 'x-key': ascii(key) } }),
  'echoes the key as the base': ({ body, key }) =>
    Response.json({ ...body, base: key, base_code: key }),
  'echoes the key as times': ({ body, key }) =>
    Response.json({
      ...body,
      timestamp: key,
      time_last_update_unix: key,
      meta: { last_updated_at: key },
    }),
  'echoes the key among its rates': ({ body, key }) => Response.json(withRates(body, key)),
  'echoes the key as its rates': ({ body, key }) =>
    Response.json({ ...body, rates: key, conversion_rates: key, data: key }),
  'redirects to a host with the name of the key': redirect((key) => `https://${hex(key)}.example/`),
  'redirects to a URL with the key': redirect(
    (key) => `https://other.example/${encodeURIComponent(key)}?key=${key}`,
  ),
  'redirects to the key': redirect((key) => encodeURIComponent(key)),
  'redirects to a path with the key': redirect((key) => `/v6/${encodeURIComponent(key)}/latest`),
  'redirects to an invalid URL': redirect((key) => `https://${key} /`),
  'throws the headers': async ({ request }) => {
    throw new Error(`request failed: ${JSON.stringify([...request.headers])}`)
  },
  'throws the request': async ({ request }) => {
    throw Object.assign(new TypeError('fetch failed'), { request, config: { url: request.url } })
  },
  'throws with a cause of a cause': async ({ key }) => {
    const cause = new Error('socket', { cause: new Error(`Bearer ${key}`) })
    throw new TypeError('fetch failed', { cause })
  },
  'throws several errors': async ({ key }) => {
    throw new AggregateError([new Error(key)], `all of them: ${key}`)
  },
  'throws a text': async ({ key }) => {
    const thrown: unknown = `no response for ${key}`
    throw thrown
  },
  'throws an object': async ({ request }) => {
    const thrown: unknown = { headers: Object.fromEntries(request.headers) }
    throw thrown
  },
  'throws the key as a code': async ({ key }) => {
    const code = hex(key).toUpperCase()
    throw Object.assign(new Error('fetch failed'), { code: `E${code.slice(0, 30)}`, name: key })
  },
  'throws the key as a whole code': async ({ key }) => {
    throw Object.assign(new Error('fetch failed'), { code: key.toUpperCase() })
  },
  'breaks off with the key': ({ key }) =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.error(new Error(`terminated: ${key}`)),
      }),
    ),
}

/** Returns the part of a key that occurs in no other text. */
export const hex = (key: string): string => /[\da-f]{32}/.exec(key)?.[0] ?? key

function echo(status: number, textOf: (key: string) => string): LeakyUpstream {
  return ({ key }) => new Response(textOf(key), { status })
}

/** Returns an error in the format of every feed. */
function wordsOf(key: string): string {
  return JSON.stringify({
    result: 'error',
    'error-type': key,
    error: true,
    status: key,
    message: `no such key: ${key}`,
    description: key,
    errors: { apikey: [key] },
    [key]: key,
  })
}

function withRates(body: Record<string, unknown>, key: string): Record<string, unknown> {
  const added = Object.fromEntries(
    ['rates', 'conversion_rates', 'data'].map((name) => {
      const rates = Object(body[name])
      return [name, { ...rates, [key]: 1, [`K${key}`]: { code: key, value: 1 }, EUR: key, JPY: {} }]
    }),
  )
  return { ...body, ...added }
}

function redirect(to: (key: string) => string): LeakyUpstream {
  return ({ key }) => new Response(null, { status: 302, headers: { location: ascii(to(key)) } })
}

const ascii = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '')

function asLeaky(behaviour: (typeof FAULTS)[string]): LeakyUpstream {
  return async ({ request, body }) =>
    behaviour({
      signal: request.signal,
      goodResponse: async () => Response.json(body),
      wait: async () => undefined,
    })
}
