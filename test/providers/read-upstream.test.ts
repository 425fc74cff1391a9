import { describe, expect, it, vi } from 'vitest'

import { readBytes, readJson, readText } from '../../src/providers/read-upstream.ts'
import { settled } from '../virtual-runtime.ts'
import { upstream } from './upstream.ts'

const ROOT = 'https://rates.example/table'

/** What a read is given, and the requests that it makes. */
function openRead(...[responses, signal]: Parameters<typeof upstream>) {
  const { context, asked } = upstream(responses, signal)
  const redirectHosts = ['rates.example', 'new.example']
  return { given: { ...context, url: ROOT, maxBytes: 1_000, redirectHosts }, asked }
}

function read(...upstreamOptions: Parameters<typeof upstream>) {
  const { given, asked } = openRead(...upstreamOptions)
  return { answer: readJson(given), asked }
}

function redirect(location: string, status = 301): Response {
  return new Response(null, { status, headers: { location } })
}

describe('readJson()', () => {
  it('requests JSON without letting fetch follow redirects', async () => {
    const { answer, asked } = read([new Response('{"a":1}')])
    expect(await answer).toEqual({ host: 'rates.example', status: 200, body: { a: 1 } })
    const headers = { accept: 'application/json' }
    const signal = expect.any(AbortSignal)
    const init = { headers, redirect: 'manual', cache: 'no-store', signal }
    expect(asked).toMatchObject([{ url: ROOT, init }])
    expect(asked[0]?.init.credentials).toBeUndefined()
  })

  it('reads the body of any status', async () => {
    const { answer } = read([new Response('{"result":"error"}', { status: 403 })])
    expect(await answer).toMatchObject({ status: 403, body: { result: 'error' } })
  })

  it.each([
    ['a byte-order mark', '\uFEFF{"a":1}'],
    ['white space around', ' \n{"a":1}\n'],
  ])('accepts %s', async (_what, body) => {
    expect((await read([new Response(body)]).answer).body).toEqual({ a: 1 })
  })

  it.each([
    ['HTML', '<!doctype html>', 200, 'rates.example answered 200 without JSON'],
    ['nothing', '', 200, 'rates.example answered 200 without JSON'],
    ['no body', null, 204, 'answered 204 without a body'],
    ['NaN', '{"a":NaN}', 200, 'without JSON'],
  ])('refuses %s', async (_what, body, status, message) => {
    await expect(read([new Response(body, { status })]).answer).rejects.toThrow(message)
  })

  it('stops reading an endless body at the limit', async () => {
    const pull = vi.fn<(controller: ReadableStreamDefaultController) => void>((controller) =>
      controller.enqueue(new Uint8Array(400).fill(32)),
    )
    const cancel = vi.fn<() => void>()
    const { answer } = read([new Response(new ReadableStream({ pull, cancel }))])
    await expect(answer).rejects.toThrow('rates.example answered 200 with more than 1000 bytes')
    expect(cancel).toHaveBeenCalledOnce()
    expect(pull.mock.calls.length).toBeLessThan(10)
  })

  it('fails when the body breaks off', async () => {
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"a":1}')),
      pull: (controller) => controller.error(new Error('reset')),
    })
    await expect(read([new Response(broken)]).answer).rejects.toMatchObject({
      message: 'rates.example answered 200 and broke off',
      cause: { message: 'reset' },
    })
  })

  it('accepts as many bytes as the limit', async () => {
    const body = `"${'a'.repeat(998)}"`
    expect((await read([new Response(body)]).answer).body).toHaveLength(998)
    await expect(read([new Response(`${body} `)]).answer).rejects.toThrow('more than 1000 bytes')
  })

  it('rejects with the pause that the upstream asks for, and the cause', async () => {
    const init = { status: 503, headers: { 'retry-after': '90' } }
    const { answer } = read([new Response('<h1>', init)])
    await expect(answer).rejects.toMatchObject({
      name: 'UpstreamError',
      retryAfterMs: 90_000,
      cause: expect.any(SyntaxError),
    })
    expect(await read([new Response('{}', init)]).answer).toMatchObject({ retryAfterMs: 90_000 })
  })

  it('cancels a body that does not end by itself when the signal aborts', async () => {
    const cancelled = Promise.withResolvers<unknown>()
    const hanging = new ReadableStream<Uint8Array>({
      cancel(reason) {
        cancelled.resolve(reason)
        throw new Error('it cannot be cancelled')
      },
    })
    const controller = new AbortController()
    const { answer } = read([new Response(hanging)], controller.signal)
    const failure = answer.catch((error: unknown) => error)
    await settled()
    controller.abort(new Error('time is up'))
    expect(await failure).toMatchObject({ message: 'rates.example answered 200 without JSON' })
    expect(await cancelled.promise).toMatchObject({ message: 'time is up' })
  })

  it('removes its listeners from the signal', async () => {
    const { signal } = new AbortController()
    let left: string[] = []
    signal.addEventListener = (type: string) => void left.push(type)
    signal.removeEventListener = (type: string) => {
      left = left.filter((each) => each !== type)
    }
    await read([new Response('{}')], signal).answer
    await read([new Response('{')], signal).answer.catch(() => undefined)
    expect(left).toEqual([])
  })

  it('names the host when the upstream cannot be reached, and keeps the cause', async () => {
    const cause = new TypeError('fetch failed')
    await expect(read([cause]).answer).rejects.toMatchObject({
      message: 'rates.example did not answer',
      cause,
    })
  })

  // As Node, Bun and Deno report them; some quote what the upstream has sent.
  it.each([
    ['ENOTFOUND', '', ': its name cannot be resolved (ENOTFOUND)'],
    ['', 'tcp connect error: Connection refused', ': the connection was refused'],
    ['CERT_HAS_EXPIRED', '', ': its certificate is not trusted (CERT_HAS_EXPIRED)'],
    ['', "Host: x. is not in the certificate's: secret", ': its certificate is not trusted'],
    ['EPROTO', 'The TLS handshake failed', ': there is no TLS connection (EPROTO)'],
    ['UND_ERR_HEADERS_TIMEOUT', '', ': it took too long (UND_ERR_HEADERS_TIMEOUT)'],
    ['Malformed_HTTP_Response', '', ': it does not speak HTTP'],
    ['UND_ERR_SOCKET', 'other side', ': the connection was closed (UND_ERR_SOCKET)'],
    ['', 'Proxy response (407) !== 200', ': the proxy answered with status 407'],
    ['secret', 'error for https://rates.example/', ''],
  ])('describes a failure with the code %j and the message %j', async (code, message, words) => {
    const cause = Object.assign(new Error(message), { code })
    const { answer } = read([new TypeError('fetch failed', { cause })])
    const wanted = { message: `rates.example did not answer${words}` }
    await expect(answer).rejects.toMatchObject(wanted)
  })

  it('follows two redirects to known https hosts', async () => {
    const { answer, asked } = read([
      redirect('/moved', 308),
      redirect('https://new.example/table?x=1', 302),
      new Response('{"a":1}'),
    ])
    expect((await answer).body).toEqual({ a: 1 })
    const urls = [ROOT, 'https://rates.example/moved', 'https://new.example/table?x=1']
    expect(asked.map(({ url }) => url)).toEqual(urls)
  })

  it.each([
    ['an unknown host', 'https://evil.example/'],
    ['a private address', 'http://169.254.169.254/latest/meta-data'],
    ['an unencrypted host', 'http://rates.example/table'],
    ['another port', 'https://rates.example:8443/table'],
    ['another scheme', 'file:///etc/passwd'],
  ])('does not follow a redirect to %s', async (_what, location) => {
    const { answer, asked } = read([redirect(location), new Response('{}')])
    await expect(answer).rejects.toThrow('is not trusted')
    expect(asked).toHaveLength(1)
  })

  it('gives up a loop of redirects after two', async () => {
    const { answer, asked } = read([() => redirect(ROOT)])
    await expect(answer).rejects.toThrow('rates.example redirected once too often')
    expect(asked).toHaveLength(3)
  })

  it('names the host whose redirect leads nowhere', async () => {
    const { answer } = read([redirect('https://[')])
    await expect(answer).rejects.toThrow('rates.example redirected to something other than a URL')
  })

  it.each([300, 303, 307])('follows a %d without waiting for its body', async (status) => {
    const cancel = vi.fn<() => void>()
    const init = { status, headers: { location: '/moved' } }
    const moved = new Response(new ReadableStream({ cancel }), init)
    const { answer, asked } = read([moved, new Response('{}')])
    expect((await answer).status).toBe(200)
    expect(asked).toHaveLength(2)
    expect(cancel).toHaveBeenCalledOnce()
  })

  it.each([200, 400, 404])('does not follow the location of a %d', async (status) => {
    const response = new Response('{}', { status, headers: { location: '/moved' } })
    expect(await read([response]).answer).toMatchObject({ status, body: {} })
  })

  it.each([
    [301, {}],
    [304, {}],
    [304, { location: '/moved' }],
  ])('takes a %d with %j for an answer', async (status, headers) => {
    const { answer } = read([new Response(null, { status, headers })])
    await expect(answer).rejects.toThrow(`answered ${status} without a body`)
  })
})

describe('the pause after an answer', () => {
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
  ])('of %d with Retry-After %s is %s ms', async (status, retryAfter, pause) => {
    const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
    const { given } = openRead([new Response('{}', { status, headers })])
    expect((await readJson({ ...given, now: () => now })).retryAfterMs).toBe(pause)
  })
})

describe('readText()', () => {
  it('requests the media type and reads the text, split anywhere', async () => {
    const bytes = new TextEncoder().encode('żółw')
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
        controller.close()
      },
    })
    const { asked, given } = openRead([new Response(body)])
    expect(await readText(given, 'text/csv')).toMatchObject({ status: 200, body: 'żółw' })
    expect(asked).toMatchObject([{ init: { headers: { accept: 'text/csv' } } }])
  })
})

describe('readBytes()', () => {
  it('reads the bytes as they are', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
    const { body } = await readBytes(openRead([new Response(bytes)]).given, 'application/zip')
    expect(body).toEqual(bytes)
  })

  it('stops reading at the limit', async () => {
    const answer = readBytes(openRead([new Response(new Uint8Array(1_001))]).given, '*/*')
    await expect(answer).rejects.toThrow('rates.example answered 200 with more than 1000 bytes')
  })
})

describe('the headers of a request', () => {
  it('are sent to the first host, including its redirects to itself, and to no other', async () => {
    const { asked, given } = openRead([
      redirect('/moved'),
      redirect('https://new.example/table'),
      new Response('{}'),
    ])
    const accept = 'application/json'
    const authorization = 'Bearer abc'
    await readJson({ ...given, headers: { authorization } })
    const own = { accept, authorization }
    expect(asked.map(({ init }) => init.headers)).toEqual([own, own, { accept }])
  })
})
