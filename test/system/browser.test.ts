import { build } from 'esbuild'
import { describe, expect, it, onTestFinished } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import type { RatesHandlerOptions } from 'ratesmith'
import { toNodeHandler } from 'ratesmith/node'
import { failingProvider, fakeProviders } from 'ratesmith/testing'

import { needBrowser, newContext } from './browser-context.ts'
import { listen } from './processes.ts'
import { ROOT } from './runtimes.ts'

needBrowser()

/** Opens a page on another origin than the API of `options`; `received` are the requests that have arrived there. */
async function openPage(options: RatesHandlerOptions = {}) {
  const received: string[] = []
  const listener = toNodeHandler(createRatesHandler({ providers: fakeProviders(), ...options }))
  const api = await listen((request, response) => {
    response.on('finish', () => {
      received.push(`${request.method} ${request.url} ${response.statusCode}`)
    })
    listener(request, response)
  })
  const site = await listen((_, response) => {
    response.setHeader('content-type', 'text/html').end('<title>A page</title>')
  })
  const context = await newContext()
  const origins = new Set<string>()
  context.on('request', (request) => origins.add(new URL(request.url()).origin))
  onTestFinished(() => expect([...origins]).toEqual([site.url, api.url]))
  const page = await context.newPage()
  await page.goto(site.url)
  return {
    received,
    url: api.url,
    evaluate: async (script: string, expression: string): Promise<unknown> => {
      await page.addScriptTag({ content: script })
      return page.evaluate(expression)
    },
    send: (path: string, init: Pick<RequestInit, 'headers' | 'cache' | 'credentials'> = {}) =>
      page.evaluate(
        async ([url, given]) => {
          try {
            const response = await fetch(url, given)
            const { type, status } = response
            const body = await response.text()
            return { type, status, headers: Object.fromEntries(response.headers), body }
          } catch (error) {
            return { error: String(error) }
          }
        },
        [api.url + path, init] as const,
      ),
  }
}

async function globalClient(): Promise<string> {
  const stdin = { contents: "export * from 'ratesmith/client'", resolveDir: ROOT }
  const always = { bundle: true, minify: true, write: false } as const
  const { outputFiles } = await build({ stdin, ...always, format: 'iife', globalName: 'ratesmith' })
  return outputFiles[0]?.text ?? ''
}

const REFUSED = { error: 'TypeError: Failed to fetch' }
const LATEST = '/api/v1/latest'

const WITHOUT_DATA = { providers: { latest: failingProvider('unreachable') } }

describe('a page of another origin', () => {
  it('reads rates and their exposed headers without a preflight', async () => {
    const { send, received } = await openPage()
    const read = await send(LATEST)
    expect(read).toMatchObject({
      type: 'cors',
      status: 200,
      headers: { etag: expect.stringMatching(/^"\w+"$/), 'cache-status': 'rates; fwd=miss' },
      body: expect.stringContaining('"base":"USD"'),
    })
    expect(read).not.toHaveProperty(['headers', 'cross-origin-resource-policy'])
    expect(received).toEqual(['GET /api/v1/latest 200'])
  })

  it('revalidates after a preflight, or through the browser cache without one', async () => {
    const { send, received } = await openPage()
    const first = await send(LATEST)
    expect(await send(LATEST)).toEqual(first)
    expect(await send(LATEST, { cache: 'no-cache' })).toMatchObject({ status: 200 })
    const { etag = '' } = Object(first).headers
    const conditional = { headers: { 'if-none-match': etag }, cache: 'no-store' } as const
    expect(await send(LATEST, conditional)).toMatchObject({
      type: 'cors',
      status: 304,
      headers: { etag },
      body: '',
    })
    expect(received).toEqual([
      'GET /api/v1/latest 200',
      'GET /api/v1/latest 304',
      'OPTIONS /api/v1/latest 204',
      'GET /api/v1/latest 304',
    ])
  })

  it('reads errors, also after a preflight, and nothing with credentials, which the API does not use', async () => {
    const { send, received } = await openPage()
    expect(await send('/api/v1/latest?base=XYZ')).toMatchObject({
      type: 'cors',
      status: 400,
      body: expect.stringContaining('"code":"invalid_currency"'),
    })
    expect(await send('/api/v1/none', { headers: { 'x-trace': '1' } })).toMatchObject({
      status: 404,
      body: expect.stringContaining('"code":"not_found"'),
    })
    expect(received.slice(1)).toEqual(['OPTIONS /api/v1/none 204', 'GET /api/v1/none 404'])
    expect(await send(LATEST, { credentials: 'include' })).toEqual(REFUSED)
    expect(await send(LATEST, { credentials: 'omit' })).toMatchObject({ status: 200 })
    expect(received).toHaveLength(5)
    const down = await openPage(WITHOUT_DATA)
    expect(await down.send(LATEST)).toMatchObject({
      status: 502,
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
      body: expect.stringContaining('"code":"provider_unavailable"'),
    })
  })
})

describe('the client in a page of another origin', () => {
  it('uses the browser cache, and needs no preflight', async () => {
    const { evaluate, received, url } = await openPage()
    const expression = `(async () => {
      const client = ratesmith.createRatesClient({ baseUrl: '${url}/api' })
      const { rates } = await client.latest({ symbols: ['EUR'] })
      await client.latest({ symbols: ['EUR'] })
      const refusal = await client.convert({ from: 'USD', to: 'XYZ' }).catch((reason) => reason)
      return { rates, isOurs: refusal instanceof ratesmith.RatesError, code: refusal.code }
    })()`
    expect(await evaluate(await globalClient(), expression)).toEqual({
      rates: { EUR: expect.any(Number) },
      isOurs: true,
      code: 'invalid_currency',
    })
    expect(received).toEqual([
      'GET /api/v1/latest?symbols=EUR 200',
      'GET /api/v1/convert?from=USD&to=XYZ 400',
    ])
  })

  it('reads Retry-After, and accepts a path as baseUrl', async () => {
    const { evaluate, received, url } = await openPage(WITHOUT_DATA)
    const expression = `(async () => {
      const client = ratesmith.createRatesClient({ baseUrl: '${url}/api', retries: 0 })
      const { code, retryAfter } = await client.latest().catch((reason) => reason)
      const urls = []
      const fetch = ({ url }) => (urls.push(url), Promise.reject())
      await ratesmith.createRatesClient({ baseUrl: '/api', fetch }).latest().catch(() => {})
      return { code, retryAfter, isHere: urls.join() === location.origin + '/api/v1/latest' }
    })()`
    expect(await evaluate(await globalClient(), expression)).toEqual({
      code: 'provider_unavailable',
      retryAfter: expect.any(Number),
      isHere: true,
    })
    expect(received).toEqual(['GET /api/v1/latest 502'])
  })
})
