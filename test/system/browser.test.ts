import { build } from 'esbuild'
import type { Browser } from 'playwright-core'
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import type { RatesHandlerOptions } from 'ratesmith'
import { toNodeHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

import { CHROMIUM, launchChromium } from './chromium.ts'
import { listen } from './processes.ts'
import { requireProgram } from './require-program.ts'
import { ROOT } from './root.ts'

let launched: Promise<Browser> | undefined

beforeEach(({ skip }) => requireProgram('Chromium', CHROMIUM, skip))
afterAll(async () => (await launched)?.close())

/** What a script gets for an answer, or the error that it gets instead. */
type Told =
  | { type: string; status: number; headers: Record<string, string>; body: string }
  | { error: string }

/** What a script says beside the URL. */
interface Asking {
  headers?: Record<string, string>
  cache?: RequestCache
  credentials?: RequestCredentials
}

/** A page that may ask the API of `options`, which is of another origin; `received` is what has arrived there. */
async function openPage(options: RatesHandlerOptions = {}) {
  const received: string[] = []
  const answer = toNodeHandler(createRatesHandler({ providers: fakeProviders(), ...options }))
  const api = await listen((request, response) => {
    response.on('finish', () =>
      received.push(`${request.method} ${request.url} ${response.statusCode}`),
    )
    answer(request, response)
  })
  const site = await listen((_, response) => {
    response.setHeader('content-type', 'text/html').end('<title>A page</title>')
  })
  launched ??= launchChromium()
  const context = await (await launched).newContext()
  const origins = new Set<string>()
  context.on('request', (request) => origins.add(new URL(request.url()).origin))
  onTestFinished(async () => {
    await context.close()
    expect([...origins]).toEqual([site.url, api.url])
  })
  const page = await context.newPage()
  await page.goto(site.url)
  return {
    received,
    url: api.url,
    /** What an expression in the page comes to, behind `script`. */
    evaluate: async (script: string, expression: string): Promise<unknown> => {
      await page.addScriptTag({ content: script })
      return page.evaluate(expression)
    },
    /** What `fetch` tells a script of the page. */
    ask: (path: string, init: Asking = {}): Promise<Told> =>
      page.evaluate(
        async ([url, given]) => {
          try {
            const response = await fetch(url, given)
            const { type, status, headers } = response
            const body = await response.text()
            return { type, status, headers: Object.fromEntries(headers), body }
          } catch (error) {
            return { error: String(error) }
          }
        },
        [api.url + path, init] as const,
      ),
  }
}

/** The built client, as the global `ratesmith`. */
async function bundleClient(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: "export * from 'ratesmith/client'", resolveDir: ROOT },
    bundle: true,
    minify: true,
    format: 'iife',
    globalName: 'ratesmith',
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}

const REFUSED = { error: 'TypeError: Failed to fetch' }
const LATEST = '/api/v1/latest'

describe('a page of another origin', () => {
  it('reads rates, and the headers that are meant for it, without a preflight', async () => {
    const { ask, received } = await openPage()
    const told = await ask(LATEST)
    expect(told).toMatchObject({
      type: 'cors',
      status: 200,
      headers: { etag: expect.stringMatching(/^"\w+"$/), 'cache-status': 'rates; fwd=miss' },
      body: expect.stringContaining('"base":"USD"'),
    })
    expect(told).not.toHaveProperty(['headers', 'cross-origin-resource-policy'])
    expect(received).toEqual(['GET /api/v1/latest 200'])
  })

  it('revalidates by itself, after a preflight', async () => {
    const { ask, received } = await openPage()
    const { etag = '' } = Object(await ask(LATEST)).headers
    const conditional = { headers: { 'if-none-match': etag }, cache: 'no-store' } as const
    expect(await ask(LATEST, conditional)).toMatchObject({
      type: 'cors',
      status: 304,
      headers: { etag },
      body: '',
    })
    expect(received).toEqual([
      'GET /api/v1/latest 200',
      'OPTIONS /api/v1/latest 204',
      'GET /api/v1/latest 304',
    ])
  })

  it('has the cache of the browser, which revalidates without a preflight', async () => {
    const { ask, received } = await openPage()
    const first = await ask(LATEST)
    expect(await ask(LATEST)).toEqual(first)
    expect(await ask(LATEST, { cache: 'no-cache' })).toMatchObject({ status: 200 })
    expect(received).toEqual(['GET /api/v1/latest 200', 'GET /api/v1/latest 304'])
  })

  it('reads what is wrong with its question', async () => {
    const { ask } = await openPage()
    expect(await ask('/api/v1/latest?base=XYZ')).toMatchObject({
      type: 'cors',
      status: 400,
      body: expect.stringContaining('"code":"invalid_currency"'),
    })
  })

  it('reads that there is no such path, even if it has to ask before it asks', async () => {
    const { ask, received } = await openPage()
    expect(await ask('/api/v1/none', { headers: { 'x-trace': '1' } })).toMatchObject({
      status: 404,
      body: expect.stringContaining('"code":"not_found"'),
    })
    expect(received).toEqual(['OPTIONS /api/v1/none 204', 'GET /api/v1/none 404'])
  })

  it('reads when to ask again while there are no rates', async () => {
    const { latest } = fakeProviders()
    const fetchLatest = (): Promise<never> => Promise.reject(new Error('down'))
    const { ask } = await openPage({ providers: { latest: { ...latest, fetchLatest } } })
    expect(await ask(LATEST)).toMatchObject({
      status: 502,
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
      body: expect.stringContaining('"code":"provider_unavailable"'),
    })
  })

  it('is refused an answer with credentials, which are nobody’s here', async () => {
    const { ask, received } = await openPage()
    expect(await ask(LATEST, { credentials: 'include' })).toEqual(REFUSED)
    expect(await ask(LATEST, { credentials: 'omit' })).toMatchObject({ status: 200 })
    expect(received).toHaveLength(2)
  })

  it.each([
    ['v1', '/api/rates', REFUSED],
    ['v1', '/api/v1/latest', { status: 200 }],
    ['all', '/api/rates', { status: 200 }],
    ['all', '/api/v1/latest', { status: 200 }],
    ['off', '/api/rates', REFUSED],
    ['off', '/api/v1/latest', REFUSED],
  ] as const)('with cors: %j asks %s and gets %j', async (cors, path, expected) => {
    const { ask, received } = await openPage({ cors })
    expect(await ask(path)).toMatchObject(expected)
    // The server has answered; it is the browser that keeps the answer from the page.
    expect(received).toEqual([`GET ${path} 200`])
  })
})

describe('the client in a page of another origin', () => {
  it('leaves it to the browser to keep answers, and needs no preflight', async () => {
    const { evaluate, received, url } = await openPage()
    const expression = `(async () => {
      const client = ratesmith.createRatesClient({ baseUrl: '${url}/api' })
      const { rates } = await client.latest({ symbols: ['EUR'] })
      await client.latest({ symbols: ['EUR'] })
      const refusal = await client.convert({ from: 'USD', to: 'XYZ' }).catch((reason) => reason)
      return { rates, isOurs: refusal instanceof ratesmith.RatesError, code: refusal.code }
    })()`
    expect(await evaluate(await bundleClient(), expression)).toEqual({
      rates: { EUR: expect.any(Number) },
      isOurs: true,
      code: 'invalid_currency',
    })
    expect(received).toEqual([
      'GET /api/v1/latest?symbols=EUR 200',
      'GET /api/v1/convert?from=USD&to=XYZ 400',
    ])
  })

  it('is told when to come back, and has a path for a URL', async () => {
    const { latest } = fakeProviders()
    const fetchLatest = (): Promise<never> => Promise.reject(new Error('down'))
    const { evaluate, received, url } = await openPage({
      providers: { latest: { ...latest, fetchLatest } },
    })
    const expression = `(async () => {
      const client = ratesmith.createRatesClient({ baseUrl: '${url}/api', retries: 0 })
      const { code, retryAfter } = await client.latest().catch((reason) => reason)
      const asked = []
      const fetch = ({ url }) => (asked.push(url), Promise.reject())
      await ratesmith.createRatesClient({ baseUrl: '/api', fetch }).latest().catch(() => {})
      return { code, retryAfter, isHere: asked.join() === location.origin + '/api/v1/latest' }
    })()`
    expect(await evaluate(await bundleClient(), expression)).toEqual({
      code: 'provider_unavailable',
      retryAfter: expect.any(Number),
      isHere: true,
    })
    expect(received).toEqual(['GET /api/v1/latest 502'])
  })
})
