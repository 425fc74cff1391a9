import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

import express from 'express'
import { describe, expect, it } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import { toExpressHandler } from 'ratesmith/express'
import { fakeProviders } from 'ratesmith/testing'

import { serveForSuite } from './commands.ts'
import { describeRuntimes, listen } from './processes.ts'

const LARGE = '/api/v1/latest?base=EUR'
const SMALL = '/api/v1/convert?from=USD&to=EUR'

async function send(url: string, headers: OutgoingHttpHeaders = {}, method = 'GET') {
  const outgoing = request(url, { method, headers, agent: false }).end()
  const [response]: IncomingMessage[] = await once(outgoing, 'response')
  if (!response) throw new Error('no response')
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) }
}

function lasting(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  // `cache-status` counts down by the second.
  const passing = ['cache-status', 'date', 'connection', 'keep-alive']
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !passing.includes(name)))
}

describeRuntimes('ratesmith serve', (runtime) => {
  const demo = serveForSuite([], runtime)
  const plain = serveForSuite(['--no-compress', '--no-explorer'], runtime)

  it('compresses a large response with the coding that the client accepts', async () => {
    const uncoded = await send(demo.root + LARGE)
    expect(uncoded.headers['content-encoding']).toBeUndefined()
    const decoders = { br: brotliDecompressSync, gzip: gunzipSync }
    for (const [encoding, decode] of Object.entries(decoders)) {
      const { status, headers, body } = await send(demo.root + LARGE, {
        'accept-encoding': encoding,
      })
      expect(status).toBe(200)
      expect(headers).toMatchObject({
        'content-encoding': encoding,
        vary: 'Accept-Encoding',
        etag: uncoded.headers.etag?.replace(/"$/, `-${encoding}"`),
        'content-length': String(body.byteLength),
      })
      expect(body.byteLength).toBeLessThan(uncoded.body.byteLength)
      expect(decode(body).equals(uncoded.body)).toBe(true)
    }
  })

  it('returns 304 only for the entity tag of the accepted coding, and the same headers for HEAD and GET', async () => {
    const accept = { 'accept-encoding': 'br;q=0.5, gzip' }
    const { headers } = await send(demo.root + LARGE, accept)
    const again = await send(demo.root + LARGE, { ...accept, 'if-none-match': headers.etag })
    expect(again.status).toBe(304)
    expect(again.body.byteLength).toBe(0)
    expect(again.headers).toMatchObject({ etag: headers.etag, vary: 'Accept-Encoding' })
    const other = await send(demo.root + LARGE, { 'if-none-match': headers.etag })
    expect(other.status).toBe(200)
    for (const target of [LARGE, SMALL, '/api/v1/latest?base=XXX']) {
      const whole = await send(demo.root + target, accept)
      const head = await send(demo.root + target, accept, 'HEAD')
      expect(head.status).toBe(whole.status)
      expect(lasting(head.headers)).toEqual(lasting(whole.headers))
      expect(head.body.byteLength).toBe(0)
    }
  })

  it('compresses nothing with --no-compress', async () => {
    const { headers, body } = await send(plain.root + LARGE, { 'accept-encoding': 'br, gzip' })
    expect(headers['content-encoding']).toBeUndefined()
    expect(headers.vary).toBeUndefined()
    expect(JSON.parse(body.toString())).toMatchObject({ base: 'EUR' })
  })

  it('serves the explorer compressed, and not at all with --no-explorer', async () => {
    for (const path of ['/api', '/api/']) {
      const response = await fetch(demo.root + path, { headers: { 'accept-encoding': 'br' } })
      expect(response.headers.get('content-encoding')).toBe('br')
      expect(await response.text()).toContain('<title>')
    }
    expect((await fetch(`${plain.root}/api`)).status).toBe(404)
    const explorerUrl = /http:\S+\/api\/(?=\s)/
    expect(demo.stdout).toMatch(explorerUrl)
    expect(plain.stdout).not.toMatch(explorerUrl)
  })
})

describe('the explorer in Express', () => {
  async function expressApp(explorer: boolean, prefix = ''): Promise<string> {
    const basePath = `${prefix}/api`
    const handler = createRatesHandler({ providers: fakeProviders(), explorer, basePath })
    const app = express().use(prefix || '/', toExpressHandler(handler))
    app.use((_request, response) => void response.status(418).send('the app'))
    return (await listen(app)).url + basePath
  }

  it.each(['', '/fx'])(
    'is at the base path, with or without a trailing slash: %j',
    async (prefix) => {
      const root = await expressApp(true, prefix)
      for (const path of ['', '/', '?x']) {
        const response = await fetch(root + path)
        expect(response.status, path).toBe(200)
        expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none';/)
        expect(await response.text()).toContain('<title>')
      }
    },
  )

  it('passes the base path to the app if it is off', async () => {
    const root = await expressApp(false)
    for (const path of ['', '/']) expect((await fetch(root + path)).status).toBe(418)
  })
})
