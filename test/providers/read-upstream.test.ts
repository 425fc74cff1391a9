import { readFileSync } from 'node:fs'

import { describe, expect, it, vi } from 'vitest'

import { readBytes, readJson, readText } from '../../src/upstream/request.ts'
import { settled } from '../virtual-runtime.ts'
import { upstream } from './upstream.ts'

const ROOT = 'https://rates.example/table'

const { version, homepage } = JSON.parse(readFileSync('package.json', 'utf8'))
const USER_AGENT = `ratesmith/${version} (+${homepage})`

/** Creates the options of a read, and the list of its requests. */
function openRead(...[responses, signal]: Parameters<typeof upstream>) {
  const { context, requests } = upstream(responses, signal)
  const redirectHosts = ['rates.example', 'new.example']
  return { given: { ...context, url: ROOT, maxBytes: 1_000, redirectHosts }, requests }
}

function read(...upstreamOptions: Parameters<typeof upstream>) {
  const { given, requests } = openRead(...upstreamOptions)
  return { response: readJson(given), requests }
}

function redirect(location: string, status = 301): Response {
  return new Response(null, { status, headers: { location } })
}

describe('readJson()', () => {
  it('requests JSON without letting fetch follow redirects', async () => {
    const { response, requests } = read([new Response('{"a":1}')])
    expect(await response).toEqual({ host: 'rates.example', status: 200, body: { a: 1 } })
    const headers = { accept: 'application/json', 'user-agent': USER_AGENT }
    const signal = expect.any(AbortSignal)
    const init = { headers, redirect: 'manual', cache: 'no-store', signal }
    expect(requests).toMatchObject([{ url: ROOT, init }])
    expect(requests[0]?.init.credentials).toBeUndefined()
  })

  it('reads the body of any status', async () => {
    const { response } = read([new Response('{"result":"error"}', { status: 403 })])
    expect(await response).toMatchObject({ status: 403, body: { result: 'error' } })
  })

  it.each([
    ['a byte-order mark', '\uFEFF{"a":1}'],
    ['white space around', ' \n{"a":1}\n'],
  ])('accepts %s', async (_what, body) => {
    expect((await read([new Response(body)]).response).body).toEqual({ a: 1 })
  })

  it.each([
    ['HTML', '<!doctype html>', 200, /^rates\.example .*HTTP 200 .*invalid JSON$/],
    ['nothing', '', 200, /^rates\.example .*HTTP 200 .*invalid JSON$/],
    ['no body', null, 204, /HTTP 204 without a body$/],
    ['NaN', '{"a":NaN}', 200, /invalid JSON$/],
  ])('rejects %s', async (_what, body, status, message) => {
    await expect(read([new Response(body, { status })]).response).rejects.toThrow(message)
  })

  it('stops reading an endless body at the limit', async () => {
    const pull = vi.fn<(controller: ReadableStreamDefaultController) => void>((controller) =>
      controller.enqueue(new Uint8Array(400).fill(32)),
    )
    const cancel = vi.fn<() => void>()
    const { response } = read([new Response(new ReadableStream({ pull, cancel }))])
    await expect(response).rejects.toThrow(/^rates\.example .*HTTP 200 .*1000 bytes$/)
    expect(cancel).toHaveBeenCalledOnce()
    expect(pull.mock.calls.length).toBeLessThan(10)
  })

  it('fails if the body is truncated', async () => {
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"a":1}')),
      pull: (controller) => controller.error(new Error('reset')),
    })
    const message = expect.stringMatching(/^rates\.example .*HTTP 200 .*truncated body$/)
    const error = { message, cause: { message: 'reset' } }
    await expect(read([new Response(broken)]).response).rejects.toMatchObject(error)
  })

  it('accepts as many bytes as the limit', async () => {
    const body = `"${'a'.repeat(998)}"`
    expect((await read([new Response(body)]).response).body).toHaveLength(998)
    await expect(read([new Response(`${body} `)]).response).rejects.toThrow('more than 1000 bytes')
  })

  it('rejects with the delay in Retry-After, and the cause', async () => {
    const init = { status: 503, headers: { 'retry-after': '90' } }
    const { response } = read([new Response('<h1>', init)])
    const cause = expect.any(SyntaxError)
    const error = { name: 'UpstreamError', status: 503, retryAfterMs: 90_000, cause }
    await expect(response).rejects.toMatchObject(error)
    expect(await read([new Response('{}', init)]).response).toMatchObject({ retryAfterMs: 90_000 })
  })

  it('cancels an endless body when the signal aborts', async () => {
    const cancelled = Promise.withResolvers<unknown>()
    const hanging = new ReadableStream<Uint8Array>({
      cancel(reason) {
        cancelled.resolve(reason)
        throw new Error('it cannot be cancelled')
      },
    })
    const controller = new AbortController()
    const { response } = read([new Response(hanging)], controller.signal)
    const failure = response.catch((error: unknown) => error)
    await settled()
    controller.abort(new Error('time is up'))
    const message = expect.stringMatching(/^rates\.example .*HTTP 200 .*invalid JSON$/)
    expect(await failure).toMatchObject({ message })
    expect(await cancelled.promise).toMatchObject({ message: 'time is up' })
  })

  it('removes its listeners from the signal', async () => {
    const { signal } = new AbortController()
    let left: string[] = []
    signal.addEventListener = (type: string) => void left.push(type)
    signal.removeEventListener = (type: string) => {
      left = left.filter((each) => each !== type)
    }
    await read([new Response('{}')], signal).response
    await read([new Response('{')], signal).response.catch(() => undefined)
    expect(left).toEqual([])
  })

  // As reported by Node, Bun and Deno; some quote upstream text.
  it.each([
    ['ENOTFOUND', '', ': the host name cannot be resolved (ENOTFOUND)'],
    ['', 'tcp connect error: Connection refused', ': the connection was refused'],
    ['CERT_HAS_EXPIRED', '', ': the certificate is not trusted (CERT_HAS_EXPIRED)'],
    ['', "Host: x. is not in the certificate's: secret", ': the certificate is not trusted'],
    ['EPROTO', 'The TLS handshake failed', ': the TLS handshake failed (EPROTO)'],
    ['UND_ERR_HEADERS_TIMEOUT', '', ': timed out (UND_ERR_HEADERS_TIMEOUT)'],
    ['Malformed_HTTP_Response', '', ': the response is not HTTP'],
    ['UND_ERR_SOCKET', 'other side', ': the connection was closed (UND_ERR_SOCKET)'],
    ['', 'Proxy response (407) !== 200', ': the proxy returned HTTP 407'],
    ['secret', 'error for https://rates.example/', ''],
  ])('describes a failure with the code %j and the message %j', async (code, message, reason) => {
    const cause = Object.assign(new Error(message), { code })
    const failure = new TypeError('fetch failed', { cause })
    const expected = { message: `request to rates.example failed${reason}`, cause: failure }
    await expect(read([failure]).response).rejects.toMatchObject(expected)
  })

  it('follows two redirects to known https hosts', async () => {
    const moves = [redirect('/moved', 308), redirect('https://new.example/table?x=1', 302)]
    const { response, requests } = read([...moves, new Response('{"a":1}')])
    expect((await response).body).toEqual({ a: 1 })
    const urls = [ROOT, 'https://rates.example/moved', 'https://new.example/table?x=1']
    expect(requests.map(({ url }) => url)).toEqual(urls)
  })

  it.each([
    ['an unknown host', 'https://evil.example/'],
    ['a private address', 'http://169.254.169.254/latest/meta-data'],
    ['an unencrypted host', 'http://rates.example/table'],
    ['another port', 'https://rates.example:8443/table'],
    ['another scheme', 'file:///etc/passwd'],
  ])('does not follow a redirect to %s', async (_what, location) => {
    const { response, requests } = read([redirect(location), new Response('{}')])
    const message = /^rates\.example redirected .*rates\.example or new\.example$/
    await expect(response).rejects.toThrow(message)
    expect(requests).toHaveLength(1)
  })

  it('fails after two redirects of a loop', async () => {
    const { response, requests } = read([() => redirect(ROOT)])
    await expect(response).rejects.toThrow(/^rates\.example redirected more than 2 times$/)
    expect(requests).toHaveLength(3)
  })

  it('names the host whose redirect is not a URL', async () => {
    const { response } = read([redirect('https://[')])
    await expect(response).rejects.toThrow(/^rates\.example redirected .*invalid URL$/)
  })

  it.each([300, 303, 307])('follows a %d without waiting for its body', async (status) => {
    const cancel = vi.fn<() => void>()
    const init = { status, headers: { location: '/moved' } }
    const moved = new Response(new ReadableStream({ cancel }), init)
    const { response, requests } = read([moved, new Response('{}')])
    expect((await response).status).toBe(200)
    expect(requests).toHaveLength(2)
    expect(cancel).toHaveBeenCalledOnce()
  })

  it.each([200, 400, 404])('does not follow the location of a %d', async (status) => {
    const response = new Response('{}', { status, headers: { location: '/moved' } })
    expect(await read([response]).response).toMatchObject({ status, body: {} })
  })

  it.each([
    [301, {}],
    [304, {}],
    [304, { location: '/moved' }],
  ])('treats a %d with %j as a response', async (status, headers) => {
    const { response } = read([new Response(null, { status, headers })])
    await expect(response).rejects.toThrow(`HTTP ${status} without a body`)
  })
})

describe('the delay after a response', () => {
  const MINUTE = 60_000
  const now = Date.UTC(2026, 10, 20, 11, 30)

  it.each([
    [429, undefined, 20 * MINUTE],
    [429, '5', 5_000],
    [429, 'Fri, 20 Nov 2026 12:00:00 GMT', 30 * MINUTE],
    [429, 'Fri, 20 Nov 2026 11:00:00 GMT', -30 * MINUTE],
    [429, '1.5', 20 * MINUTE],
    [429, '20 Nov 2026 12:00:00 GMT', 20 * MINUTE],
    [429, 'Fr, 20 Nov 2026 12:00:00 GMT', 20 * MINUTE],
    [429, '-1', 20 * MINUTE],
    [429, 'Mon, 99 Nov 2026', 20 * MINUTE],
    [503, '90', 90_000],
    [503, undefined, undefined],
    [401, undefined, 15 * MINUTE],
    [403, undefined, 15 * MINUTE],
    [404, undefined, 15 * MINUTE],
    [410, undefined, 15 * MINUTE],
    [403, '7200', 120 * MINUTE],
    [200, '7200', undefined],
  ])('of %d with Retry-After %s is %s ms', async (status, retryAfter, delay) => {
    const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
    const { given } = openRead([new Response('{}', { status, headers })])
    expect((await readJson({ ...given, now: () => now })).retryAfterMs).toBe(delay)
  })
})

it('readText() requests the media type and reads the text, split anywhere', async () => {
  const bytes = new TextEncoder().encode('żółw')
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
      controller.close()
    },
  })
  const { requests, given } = openRead([new Response(body)])
  expect(await readText(given, 'text/csv')).toMatchObject({ status: 200, body: 'żółw' })
  expect(requests).toMatchObject([{ init: { headers: { accept: 'text/csv' } } }])
})

it('readBytes() keeps no chunk: `fetch` may use its memory again', async () => {
  const chunk = new Uint8Array(1)
  const source = {
    pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      chunk[0] = (chunk[0] ?? 0) + 1
      controller.enqueue(chunk)
      if (chunk[0] === 3) controller.close()
    },
  }
  const response = new Response(new ReadableStream(source, { highWaterMark: 0 }))
  const { body } = await readBytes(openRead([response]).given, '*/*')
  expect([...body]).toEqual([1, 2, 3])
})

it('sends headers to the first host, including its redirects to itself, and to no other', async () => {
  const moves = [redirect('/moved'), redirect('https://new.example/table')]
  const { requests, given } = openRead([...moves, new Response('{}')])
  const [accept, authorization] = ['application/json', 'Bearer abc']
  await readJson({ ...given, headers: { authorization } })
  const all = { accept, 'user-agent': USER_AGENT }
  const own = { ...all, authorization }
  expect(requests.map(({ init }) => init.headers)).toEqual([own, own, all])
})

it('does not say who sends it in browsers, some of which would ask the upstream first', async () => {
  vi.stubGlobal('navigator', { userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0' })
  const { response, requests } = read([new Response('{}')])
  await response.finally(() => vi.unstubAllGlobals())
  expect(requests[0]?.init.headers).toEqual({ accept: 'application/json' })
})

describe('a request with a body', () => {
  const BODY = '{"table":1}'
  const headers = { 'content-type': 'application/json' }

  it('is a POST request with its headers', async () => {
    const { given, requests } = openRead([new Response('a;b')])
    const response = await readText({ ...given, body: BODY, headers }, 'text/csv')
    expect(response).toEqual({ host: 'rates.example', status: 200, body: 'a;b' })
    const init = { method: 'POST', body: BODY, headers: { ...headers, accept: 'text/csv' } }
    expect(requests).toMatchObject([{ url: ROOT, init }])
  })

  it('follows no redirect', async () => {
    const { given, requests } = openRead([redirect('https://new.example/', 307), new Response('a')])
    await expect(readText({ ...given, body: BODY }, 'text/csv')).rejects.toThrow(
      /^rates\.example redirected a POST request$/,
    )
    expect(requests).toHaveLength(1)
  })
})

it('a text in another encoding is decoded', async () => {
  const bytes = Uint8Array.of(0xc4, 0xee, 0xeb, 0xeb, 0xe0, 0xf0, 0x3c)
  const { given } = openRead([new Response(bytes)])
  const { body } = await readText({ ...given, encoding: 'windows-1251' }, 'text/xml')
  expect(body).toBe('Доллар<')
})
