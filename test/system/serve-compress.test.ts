import { request } from 'node:http'
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

import { beforeEach, describe, expect, it } from 'vitest'

import { requireProgram } from './require-program.ts'
import { RUNTIMES } from './runtimes.ts'
import { rootOf, serve } from './serving.ts'

const LARGE = '/api/v1/latest?base=EUR'
const SMALL = '/api/v1/convert?from=USD&to=EUR'

/** An answer as it came over the socket. */
interface Raw {
  status: number | undefined
  headers: IncomingHttpHeaders
  body: Buffer
}

/** Asks without decoding anything, unlike `fetch`. */
function ask(url: string, headers: OutgoingHttpHeaders = {}, method = 'GET'): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, agent: false }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () => {
        resolve({
          status: response.statusCode,
          headers: response.headers,
          body: Buffer.concat(parts),
        })
      })
    })
    asked.on('error', reject).end()
  })
}

/** The headers that say something of the answer, and not of the connection or the moment. */
function lasting(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const passing = ['date', 'connection', 'keep-alive']
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !passing.includes(name)))
}

describe.each(RUNTIMES)('ratesmith serve on %s', (...runtime) => {
  const [name, program] = runtime

  beforeEach(({ skip }) => requireProgram(name, program, skip))

  /** Where a server listens that has its rates already, so that no answer has had to load them. */
  async function startWarm(...args: string[]): Promise<string> {
    const root = await rootOf(serve(['--demo', ...args], {}, runtime))
    await ask(root + LARGE)
    return root
  }

  it('compresses what is large for who asks for it', async () => {
    const root = await startWarm()
    const plain = await ask(root + LARGE)
    expect(plain.headers['content-encoding']).toBeUndefined()
    const decoders = { br: brotliDecompressSync, gzip: gunzipSync }
    for (const [encoding, decode] of Object.entries(decoders)) {
      const { status, headers, body } = await ask(root + LARGE, { 'accept-encoding': encoding })
      expect(status).toBe(200)
      expect(headers['content-encoding']).toBe(encoding)
      expect(headers.vary).toBe('Accept-Encoding')
      expect(headers.etag).toBe(plain.headers.etag?.replace(/"$/, `-${encoding}"`))
      expect(headers['content-length']).toBe(String(body.byteLength))
      expect(body.byteLength).toBeLessThan(plain.body.byteLength)
      expect(decode(body).equals(plain.body)).toBe(true)
    }
  })

  it('answers 304 to the tag of the representation asked for, and HEAD with the headers of GET', async () => {
    const root = await startWarm()
    const accept = { 'accept-encoding': 'br;q=0.5, gzip' }
    const { headers } = await ask(root + LARGE, accept)
    const again = await ask(root + LARGE, { ...accept, 'if-none-match': headers.etag })
    expect(again.status).toBe(304)
    expect(again.body.byteLength).toBe(0)
    expect(again.headers).toMatchObject({ etag: headers.etag, vary: 'Accept-Encoding' })
    const other = await ask(root + LARGE, { 'if-none-match': headers.etag })
    expect(other.status).toBe(200)
    for (const target of [LARGE, SMALL, '/api/v1/latest?base=XXX']) {
      const whole = await ask(root + target, accept)
      const head = await ask(root + target, accept, 'HEAD')
      expect(head.status).toBe(whole.status)
      expect(lasting(head.headers)).toEqual(lasting(whole.headers))
      expect(head.body.byteLength).toBe(0)
    }
  })

  it('is read by fetch, which decodes it, also a 304', async () => {
    const root = await startWarm()
    const response = await fetch(root + LARGE, { headers: { 'accept-encoding': 'gzip, br' } })
    expect(await response.json()).toMatchObject({ base: 'EUR' })
    const etag = response.headers.get('etag') ?? ''
    const headers = { 'accept-encoding': 'gzip, br', 'if-none-match': etag }
    const again = await fetch(root + LARGE, { headers })
    expect(again.status).toBe(304)
    expect(await again.text()).toBe('')
  })

  it('compresses nothing with --no-compress', async () => {
    const root = await startWarm('--no-compress')
    const { headers, body } = await ask(root + LARGE, { 'accept-encoding': 'br, gzip' })
    expect(headers['content-encoding']).toBeUndefined()
    expect(headers.vary).toBeUndefined()
    expect(JSON.parse(body.toString())).toMatchObject({ base: 'EUR' })
  })
})
