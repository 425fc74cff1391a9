import { beforeEach, describe, expect, it } from 'vitest'

import { NGINX, replace } from './nginx.ts'
import type { HandlerName } from './origin-program.ts'
import { startProxiedApp } from './proxied-app.ts'
import type { Seen } from './proxied-app.ts'
import { requireProgram } from './require-program.ts'

const LATEST = '/api/v1/latest?symbols=EUR'
const HISTORY = '/api/v1/history?from=USD&to=EUR'
const MINUTE = { maxAge: 60, staleWhileRevalidate: 60, staleIfError: 86_400 }
const HOUR = { maxAge: 3_600, staleWhileRevalidate: 3_600, staleIfError: 604_800 }
const A_MOMENT_LATE = 90
const HOURS_LATE = 10_000
const DAYS_LATE = 200_000

const CLIENTS: Record<string, string>[] = [
  { 'accept-encoding': 'gzip' },
  { 'accept-encoding': 'br, zstd, identity;q=0' },
  { origin: 'https://one.example' },
  { origin: 'null' },
  { accept: 'text/html' },
  { cookie: 'session=1', authorization: 'Bearer token' },
  { 'user-agent': 'curl/8', 'accept-language': 'de' },
  { 'cache-control': 'no-cache', pragma: 'no-cache' },
  { 'if-modified-since': 'Fri, 20 Nov 1998 15:00:00 GMT' },
]

/** The headers of an answer but for those that tell when and how it was had. */
function lasting({ headers }: Seen): [string, string][] {
  return [...headers].filter(([name]) => !/^(date|(x-)?cache-status)$/.test(name))
}

/** The configuration with more directives for the cache. */
function also(directives: string): (configuration: string) => string {
  return (text) => replace(text, 'proxy_cache rates;', `proxy_cache rates; ${directives}`)
}

beforeEach(({ skip }) => requireProgram('nginx', NGINX, skip))

describe('nginx, as the documentation configures it, keeps', () => {
  it('every 200 for as long as it says', async () => {
    const { ask, asked, kept, makeOlder } = await startProxiedApp()
    const targets = [LATEST, '/api/v1/convert?from=USD&to=EUR', '/api/rates', HISTORY]
    for (const target of targets) {
      const { body } = await ask(target)
      makeOlder(30)
      expect(await ask(target), target).toMatchObject({ status: 200, from: 'HIT', body })
    }
    expect((await asked()).map(({ target }) => target)).toEqual(targets)
    expect(kept().sort((one, other) => one.maxAge - other.maxAge)).toEqual([
      MINUTE,
      MINUTE,
      MINUTE,
      HOUR,
    ])
  })

  it('one answer for everybody, whatever headers the first client and the others send', async () => {
    const { ask, asked, kept } = await startProxiedApp()
    const plain = await ask(LATEST)
    expect(plain.headers.get('vary')).toBeNull()
    for (const [index, headers] of CLIENTS.entries()) {
      const first = await ask(`${LATEST}&client=${index}`, { headers })
      expect(first).toMatchObject({ status: 200, from: 'MISS', body: plain.body })
      expect(lasting(first)).toEqual(lasting(plain))
      const later = await ask(LATEST, { headers })
      expect(later).toMatchObject({ status: 200, from: 'HIT', body: plain.body })
      expect(lasting(later)).toEqual(lasting(plain))
    }
    expect(await asked()).toHaveLength(1 + CLIENTS.length)
    expect(kept()).toHaveLength(1 + CLIENTS.length)
  })

  it('one answer for GET and HEAD', async () => {
    const { ask, asked } = await startProxiedApp()
    expect(await ask(LATEST, { method: 'HEAD' })).toMatchObject({ from: 'MISS', body: '' })
    expect(await ask(LATEST)).toMatchObject({ from: 'HIT', body: expect.stringMatching(/^{/) })
    expect(await asked()).toMatchObject([{ method: 'GET' }])
  })

  it('whole answers only: their length is known', async () => {
    const { ask } = await startProxiedApp()
    const { headers, body } = await ask(LATEST)
    // By HTTP/1.0 Node ends an answer by closing the connection: half of one would pass for a whole.
    expect(headers.get('content-length')).toBe(String(body.length))
  })

  it('the headers that let other origins read an answer, also on its 304', async () => {
    const { ask, asked } = await startProxiedApp()
    const first = await ask(LATEST)
    const etag = String(first.headers.get('etag'))
    const second = await ask(LATEST, { headers: { 'if-none-match': etag } })
    expect(second).toMatchObject({ status: 304, from: 'HIT', body: '' })
    for (const { headers } of [first, second]) {
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-expose-headers')).toContain('ETag')
      expect(headers.get('etag')).toBe(etag)
    }
    expect(await asked()).toHaveLength(1)
  })

  it('neither a preflight nor the status, even if it keeps whatever it may', async () => {
    const { ask, kept } = await startProxiedApp(also('proxy_cache_valid any 1h;'))
    const method = 'OPTIONS'
    const preflight = await ask(LATEST, { method })
    expect(preflight).toMatchObject({ status: 204 })
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(await ask('/api/v1/status')).toMatchObject({ status: 200, from: 'MISS' })
    expect(await ask('/api/v1/status')).toMatchObject({ status: 200, from: 'MISS' })
    expect(kept()).toEqual([])
  })
})

describe('an error', () => {
  const EVERYTHING = 'proxy_cache_methods GET HEAD POST; proxy_cache_valid any 1h;'
  const ERRORS: [number, string, HandlerName][] = [
    [400, 'GET', 'withoutEuro'],
    [404, 'GET', 'elsewhere'],
    [405, 'POST', 'good'],
    [502, 'GET', 'withoutData'],
  ]

  it.each(ERRORS)('%d is not kept, even by who keeps whatever it may', async (...error) => {
    const [status, method, cause] = error
    const { ask, asked, become, kept } = await startProxiedApp(also(EVERYTHING))
    await become(cause)
    for (const time of [1, 2]) {
      expect(await ask(LATEST, { method })).toMatchObject({ status, from: 'MISS' })
      expect(await asked()).toHaveLength(time)
    }
    expect(kept()).toEqual([])
    await become('good')
    expect(await ask(LATEST)).toMatchObject({ status: 200, from: 'MISS' })
    expect(kept()).toEqual([MINUTE])
  })

  it('is kept by who ignores Cache-Control, which the page warns of', async () => {
    const ignorant = `proxy_ignore_headers Cache-Control; ${EVERYTHING}`
    const { ask, become } = await startProxiedApp(also(ignorant))
    await become('withoutEuro')
    await ask(LATEST)
    await become('good')
    expect(await ask(LATEST)).toMatchObject({ status: 400, from: 'HIT' })
  })
})

describe('what nginx keeps, when its time is over,', () => {
  it('is served once more while the app is asked behind the answer', async () => {
    const { ask, asked, become, makeOlder } = await startProxiedApp()
    const { body: old } = await ask(LATEST)
    await become('republished')
    makeOlder(A_MOMENT_LATE)
    expect(await ask(LATEST)).toMatchObject({ status: 200, from: 'STALE', body: old })
    const next = async (): Promise<string> => (await ask(LATEST)).body
    await expect.poll(next, { timeout: 5_000 }).not.toBe(old)
    expect(await ask(LATEST)).toMatchObject({ status: 200, from: 'HIT' })
    expect(await asked()).toHaveLength(2)
  })

  it('is not served later than that, if the app answers', async () => {
    const { ask, become, makeOlder } = await startProxiedApp()
    const { body: old } = await ask(LATEST)
    await become('republished')
    makeOlder(HOURS_LATE)
    const seen = await ask(LATEST)
    expect(seen).toMatchObject({ status: 200, from: 'EXPIRED' })
    expect(seen.body).not.toBe(old)
  })

  it('is kept on if the app says with 304 that it is still good', async () => {
    const { ask, asked, kept, makeOlder } = await startProxiedApp()
    const { body, headers } = await ask(LATEST)
    makeOlder(HOURS_LATE)
    expect(await ask(LATEST)).toMatchObject({ status: 200, from: 'REVALIDATED', body })
    expect(await asked()).toMatchObject([
      { ifNoneMatch: null },
      { ifNoneMatch: headers.get('etag') },
    ])
    expect(kept()).toEqual([MINUTE])
    expect(await ask(LATEST)).toMatchObject({ status: 200, from: 'HIT', body })
  })

  it('is served for a day while the app is down, and then no more', async () => {
    const { app, ask, makeOlder } = await startProxiedApp()
    const { body } = await ask(LATEST)
    await app.kill()
    for (const seconds of [A_MOMENT_LATE, HOURS_LATE]) {
      makeOlder(seconds)
      const seen = await ask(LATEST)
      expect(seen).toMatchObject({ status: 200, from: 'STALE', body })
      expect(seen.headers.get('access-control-allow-origin')).toBe('*')
    }
    makeOlder(DAYS_LATE)
    const gone = await ask(LATEST)
    expect(gone).toMatchObject({ status: 502, body: expect.stringContaining('<html>') })
    expect(gone.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('is served without an end where nginx is told so', async () => {
    const { app, ask, makeOlder } = await startProxiedApp(
      also('proxy_cache_use_stale error timeout updating http_502;'),
    )
    const { body } = await ask(LATEST)
    await app.kill()
    makeOlder(DAYS_LATE)
    expect(await ask(LATEST)).toMatchObject({ status: 200, from: 'STALE', body })
  })

  it.each([
    ['gives way to a 502 of the app', '', { status: 502, from: 'EXPIRED' }],
    [
      'is served instead of a 502 of the app where nginx is told so',
      'proxy_cache_use_stale http_502;',
      { status: 200, from: 'STALE' },
    ],
  ])('%s', async (_, directives, expected) => {
    const { ask, asked, become, makeOlder } = await startProxiedApp(also(directives))
    await ask(LATEST)
    await become('withoutData')
    makeOlder(HOURS_LATE)
    expect(await ask(LATEST)).toMatchObject(expected)
    expect(await asked()).toHaveLength(2)
  })

  it('is served at once while the app hangs, for a minute', async () => {
    const { app, ask, makeOlder } = await startProxiedApp()
    const { body } = await ask(LATEST)
    app.process.kill('SIGSTOP')
    makeOlder(A_MOMENT_LATE)
    // Half of what nginx would wait for the app.
    const signal = AbortSignal.timeout(5_000)
    expect(await ask(LATEST, { signal })).toMatchObject({ status: 200, from: 'STALE', body })
  })

  it('is served later than that when the app has been waited for', async () => {
    const { app, ask, makeOlder } = await startProxiedApp((text) => replace(text, '10s', '1s'))
    const { body } = await ask(LATEST)
    app.process.kill('SIGSTOP')
    makeOlder(HOURS_LATE)
    expect(await ask(LATEST)).toMatchObject({ status: 200, from: 'STALE', body })
  })
})

describe('the URL is the key:', () => {
  it('another order and an unknown parameter make entries of their own', async () => {
    const { ask, kept } = await startProxiedApp()
    const targets = [
      '/api/v1/convert?from=USD&to=EUR',
      '/api/v1/convert?to=EUR&from=USD',
      '/api/v1/convert?from=USD&to=EUR&x=1',
      '/api/v1/convert?from=usd&to=eur',
    ]
    const { body } = await ask('/api/v1/convert?from=USD&to=EUR&amount=1')
    for (const target of targets) {
      expect(await ask(target)).toMatchObject({ status: 200, from: 'MISS', body })
    }
    expect(kept()).toHaveLength(targets.length + 1)
  })

  it('one made of $arg_ keeps the answer to another question, which the page warns of', async () => {
    const { ask } = await startProxiedApp(also('proxy_cache_key $uri?base=$arg_base;'))
    await ask('/api/v1/latest?%62ase=EUR')
    const { from, body } = await ask('/api/v1/latest')
    expect(from).toBe('HIT')
    expect(JSON.parse(body)).toMatchObject({ base: 'EUR' })
  })
})
