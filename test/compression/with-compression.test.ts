import { promisify } from 'node:util'
import { brotliCompress, brotliDecompressSync, gunzipSync, gzip } from 'node:zlib'

import { describe, expect, it, vi } from 'vitest'

import { createAccess } from '../../src/access/index.ts'
import { withCompression } from '../../src/compression/with-compression.ts'
import { frankfurter } from '../../src/compat/frankfurter.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { RawResponse } from '../../src/index.ts'
import { withRequestIds } from '../../src/monitoring/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { settled } from '../virtual-runtime.ts'

type Codecs = Parameters<typeof withCompression>[1]
type Codec = Codecs['br']

const CODECS: Codecs = {
  br: async (body) => new Uint8Array(await promisify(brotliCompress)(body)),
  gzip: async (body) => new Uint8Array(await promisify(gzip)(body)),
}

const NOW = Date.UTC(2026, 10, 20, 18)
const LARGE = '/api/v1/latest?base=EUR'
const SMALL = '/api/v1/convert?from=USD&to=EUR'

const plain = createRatesHandler({ providers: fakeProviders({ now: () => NOW }), now: () => NOW })
// The first response differs, because its data are loaded for the request.
await plain.refresh()
const compressed = withCompression(plain, CODECS)

function send(target: string, headers: Record<string, string> = {}, method = 'GET') {
  return compressed.answer({ method, target, header: (name) => headers[name] })
}

function accepting(encoding: string | null | undefined) {
  return (name: string) => (name === 'accept-encoding' ? encoding : undefined)
}

function header({ headers }: RawResponse, wanted: string): string | undefined {
  return headers.find(([name]) => name === wanted)?.[1]
}

function textOf({ body }: RawResponse): Promise<string> {
  return new Response(body).text()
}

async function plainBody(target: string): Promise<string> {
  return (await plain(new Request(`http://localhost${target}`))).text()
}

describe('withCompression', () => {
  it('passes the body of a POST on, and compresses its response fast', async () => {
    const rows = JSON.stringify(Array.from({ length: 20 }, () => ({ from: 'USD', to: 'EUR' })))
    const sent: Record<string, string> = {
      'content-type': 'application/json',
      'accept-encoding': 'br, gzip',
    }
    const request = {
      method: 'POST',
      target: '/api/v1/convert',
      header: (name: string) => sent[name],
      readBody: async (onChunk: (chunk: Uint8Array) => void) =>
        onChunk(new TextEncoder().encode(rows)),
    }
    const response = await compressed.answer(request)
    expect([response.status, header(response, 'content-encoding')]).toEqual([200, 'gzip'])
    const whole = await textOf(await plain.answer(request))
    const { body } = response
    expect(typeof body === 'string' || body === null ? body : String(gunzipSync(body))).toBe(whole)
    expect(header(response, 'content-length')).toBe(String(body?.length))
  })

  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ])('responds in %s with a separate ETag', async (encoding, decode) => {
    const response = await send(LARGE, { 'accept-encoding': encoding })
    const { headers } = await plain(new Request(`http://localhost${LARGE}`))
    expect(response).toMatchObject({ status: 200, matched: true })
    expect(header(response, 'content-encoding')).toBe(encoding)
    expect(header(response, 'vary')).toBe('Accept-Encoding')
    expect(header(response, 'etag')).toBe(headers.get('etag')?.replace(/"$/, `-${encoding}"`))
    for (const name of ['content-type', 'cache-control', 'last-modified', 'cache-status']) {
      expect(header(response, name)).toBe(headers.get(name))
    }
    const body = response.body instanceof Uint8Array ? response.body : new Uint8Array()
    expect(body.byteLength).toBeLessThan(2_500)
    expect(header(response, 'content-length')).toBe(String(body.byteLength))
    expect(decode(body).toString()).toBe(await plainBody(LARGE))
  })

  it.each([
    ['a client without Accept-Encoding', LARGE, {}],
    ['a small body', SMALL, { 'accept-encoding': 'br' }],
  ])('sends the plain body and its ETag for %s', async (_case, target, headers) => {
    const response = await send(target, headers)
    expect(await textOf(response)).toBe(await plainBody(target))
    expect(header(response, 'etag')).toMatch(/^"\w+"$/)
    expect(header(response, 'content-encoding')).toBeUndefined()
    expect(header(response, 'vary')).toBe('Accept-Encoding')
  })

  it.each(['', 'br', 'gzip'])('compares preconditions with the ETag for %j', async (encoding) => {
    const accept = { 'accept-encoding': encoding }
    const own = header(await send(LARGE, accept), 'etag') ?? ''
    const tags = await Promise.all(
      ['', 'br', 'gzip'].map(async (each) =>
        header(await send(LARGE, { 'accept-encoding': each }), 'etag'),
      ),
    )
    expect(new Set(tags).size).toBe(3)
    for (const tag of tags) {
      const response = await send(LARGE, { ...accept, 'if-none-match': `"other", W/${tag}` })
      expect(response.status).toBe(tag === own ? 304 : 200)
      expect(header(response, 'etag')).toBe(own)
      expect(header(response, 'vary')).toBe('Accept-Encoding')
      expect(response.body === null).toBe(tag === own)
      const matched = await send(LARGE, { ...accept, 'if-match': `"other", ${tag}` })
      expect(matched.status).toBe(tag === own ? 200 : 412)
    }
    const any = await send(LARGE, { ...accept, 'if-match': '*', 'if-none-match': '*' })
    expect(any.status).toBe(304)
    const refused = { method: 'GET', target: LARGE, header: () => '"other"' }
    expect(await compressed.answer(refused)).toEqual(await plain.answer(refused))
  })

  it.each([
    [LARGE, {}],
    [LARGE, { 'accept-encoding': 'br' }],
    [LARGE, { 'accept-encoding': 'gzip', 'if-none-match': '*' }],
    [LARGE, { 'accept-encoding': 'gzip', 'if-match': '"other"' }],
    [SMALL, { 'accept-encoding': 'gzip' }],
    ['/api/v1/latest?base=XXX', { 'accept-encoding': 'br' }],
    ['/api/v1/nothing', {}],
  ])('responds to HEAD %s %j like GET, with the length and no body', async (target, headers) => {
    const got = await send(target, headers)
    const length = got.status === 304 ? undefined : String(new Blob([got.body ?? '']).size)
    expect(header(got, 'content-length')).toBe(length)
    expect(await send(target, headers, 'HEAD')).toEqual({ ...got, body: null })
  })

  it.each([
    ['OPTIONS', LARGE, 204],
    ['POST', LARGE, 405],
    ['GET', '/api/v1/latest?base=XXX', 400],
    ['GET', '/elsewhere', 404],
  ])('passes on other statuses than 200: %s %s', async (method, target, status) => {
    const response = await send(target, { 'accept-encoding': 'br' }, method)
    const passed = await plain.answer({ method, target, header: () => undefined })
    expect(response.status).toBe(status)
    expect(response).toEqual(passed)
  })

  const rejecting = async () => Promise.reject(new Error('no memory'))
  const throwing = () => {
    throw new Error('no memory')
  }

  it.each<[how: string, fail: Codec]>([
    ['rejects', rejecting],
    ['throws', throwing],
  ])('sends the plain body if a codec %s, and retries it', async (_how, fail) => {
    const br = vi.fn<Codec>(CODECS.br).mockImplementationOnce(fail)
    const { answer } = withCompression(plain, { br, gzip: fail })
    const accept = (encoding: string) =>
      answer({ method: 'GET', target: LARGE, header: accepting(encoding) })
    for (const failed of [await accept('gzip;q=0.5, br'), await accept('gzip')]) {
      expect(await textOf(failed)).toBe(await plainBody(LARGE))
      expect(header(failed, 'etag')).toMatch(/^"\w+"$/)
      expect(header(failed, 'content-encoding')).toBeUndefined()
    }
    for (let round = 0; round < 2; round += 1) {
      expect(header(await accept('br'), 'content-encoding')).toBe('br')
    }
    expect(br).toHaveBeenCalledTimes(2)
  })

  it('encodes a body once for concurrent requests', async () => {
    const br = vi.fn<Codec>(CODECS.br)
    const handler = withCompression(plain, { ...CODECS, br })
    const request = (): Request =>
      new Request(`http://localhost${LARGE}`, { headers: { 'accept-encoding': 'br' } })
    const bodies = await Promise.all(
      Array.from({ length: 50 }, async () => (await handler(request())).arrayBuffer()),
    )
    expect(new Set(bodies.map(({ byteLength }) => byteLength)).size).toBe(1)
    expect(br).toHaveBeenCalledOnce()
  })

  it('encodes a cached body once, and then serves the same bytes', async () => {
    const br = vi.fn<Codec>(CODECS.br)
    const { answer } = withCompression(plain, { ...CODECS, br })
    const target = '/api/v1/history?from=USD&to=JPY&period=5Y'
    const header = accepting('br')
    await plain.answer({ method: 'GET', target, header })
    const first = await answer({ method: 'GET', target, header })
    for (const again of [target, target.replace('USD', 'usd'), `${target}&_=1`]) {
      expect((await answer({ method: 'GET', target: again, header })).body).toBe(first.body)
    }
    expect(br).toHaveBeenCalledOnce()
  })
})

/** Serves `bodies` by target, each encoded as ten bytes; `encoded` records the encoded bodies in order. */
function serveBodies(bodies: Record<string, () => RawResponse['body']>) {
  const encoded: RawResponse['body'][] = []
  const codec: Codec = async (body) => {
    encoded.push(body)
    return new Uint8Array(10)
  }
  const { answer } = withCompression(
    {
      answer: async ({ target }) => {
        return { status: 200, headers: [], body: bodies[target]?.() ?? null, matched: true }
      },
    },
    { br: codec, gzip: codec },
  )
  const get = async (target: string, acceptEncoding?: string | null): Promise<RawResponse> =>
    answer({ method: 'GET', target, header: accepting(acceptEncoding) })
  return { encoded, get }
}

describe('an encoded body', () => {
  it('is cached by value for a text', async () => {
    const text = (length: number) => () => 'x'.repeat(length)
    const { encoded, get } = serveBodies({ one: text(2_000), other: text(2_001) })
    for (const target of ['one', 'other', 'one', 'other']) await get(target, 'br')
    expect(encoded).toEqual([text(2_000)(), text(2_001)()])
  })

  it('is cached by recent use, up to three bodies of 5 MiB', async () => {
    const targets = Array.from({ length: 10 }, (_, index) => String(index))
    const bodies = targets.map((target) => [target, new Uint8Array(5 * 1_048_576)] as const)
    const { encoded, get } = serveBodies(
      Object.fromEntries(bodies.map(([target, body]) => [target, () => body])),
    )
    for (const target of targets) {
      await get(target, 'br')
      await get('0', 'br')
    }
    expect(encoded).toHaveLength(10)
    await get('1', 'br')
    expect(encoded).toHaveLength(11)
  })

  it('is longer than 1,024 bytes', async () => {
    const { encoded, get } = serveBodies({
      small: () => 'x'.repeat(1_024),
      large: () => 'x'.repeat(1_025),
    })
    expect(header(await get('small', 'br'), 'content-encoding')).toBeUndefined()
    expect(header(await get('large', 'br'), 'content-encoding')).toBe('br')
    expect(encoded).toHaveLength(1)
  })

  it('is cached by coding and, for bytes, by identity', async () => {
    const [one, other] = [new Uint8Array(2_000), new Uint8Array(2_000)]
    const { encoded, get } = serveBodies({ one: () => one, other: () => other })
    const responses = [get('one', 'br'), get('one', 'gzip'), get('other', 'gzip')]
    expect(new Set((await Promise.all(responses)).map(({ body }) => body)).size).toBe(3)
    expect(encoded).toHaveLength(3)
  })
})

describe('an expensive body', () => {
  const EXPENSIVE = '/api/v1/history?from=USD&to=JPY&period=5Y'
  const CODINGS = { gzip: gunzipSync, br: brotliDecompressSync, '': Buffer.from }

  /** Starts a handler with data and an empty response cache; `codecs` count the encoded bodies. */
  async function start(encoded: Partial<Codecs> = {}) {
    const handler = createRatesHandler({
      providers: fakeProviders({ now: () => NOW }),
      now: () => NOW,
    })
    await handler.refresh()
    const { br, gzip } = { ...CODECS, ...encoded }
    const codecs = { br: vi.fn<Codec>(br), gzip: vi.fn<Codec>(gzip) }
    const { answer } = withCompression(handler, codecs)
    const get = async (accept: string, target = EXPENSIVE, tag = ''): Promise<RawResponse> => {
      const headers: Record<string, string> = { 'accept-encoding': accept, 'if-none-match': tag }
      return answer({ method: 'GET', target, header: (name) => headers[name] })
    }
    return { codecs, get }
  }

  it.each<[accepted: string, first: keyof typeof CODINGS, later: keyof typeof CODINGS]>([
    ['gzip, deflate, br', 'gzip', 'br'],
    ['br', '', 'br'],
    ['gzip', 'gzip', 'gzip'],
    ['', '', ''],
  ])('is sent to a client that accepts %j as %j first, then as %j', async (...row) => {
    const [accepted, ...codings] = row
    const { get, codecs } = await start()
    const text = await plainBody(EXPENSIVE)
    for (const coding of [...codings, codings[1]]) {
      const sent = await get(accepted)
      expect(header(sent, 'content-encoding') ?? '').toBe(coding)
      expect(header(sent, 'content-length')).toBe(String(sent.body?.length))
      expect(header(sent, 'etag')).toMatch(coding ? new RegExp(`^"\\w+-${coding}"$`) : /^"\w+"$/)
      expect(CODINGS[coding](Buffer.from(sent.body ?? '')).toString()).toBe(text)
    }
    expect(codecs.br.mock.calls.length + codecs.gzip.mock.calls.length).toBe(
      new Set(codings.filter(Boolean)).size,
    )
  })

  it('matches only the ETags of the codings in which it may have been sent', async () => {
    const { get, codecs } = await start()
    const plainTag = header(await get(''), 'etag') ?? ''
    const tags = ['"', '-gzip"', '-br"'].map((end) => plainTag.replace(/"$/, end))
    const known = async (accept: string) => {
      const responses = await Promise.all(tags.map((tag) => get(accept, EXPENSIVE, `"a", ${tag}`)))
      expect(responses.map((sent) => header(sent, 'vary'))).toEqual(
        Array(3).fill('Accept-Encoding'),
      )
      return responses.flatMap((sent) => (sent.status === 304 ? [header(sent, 'etag')] : []))
    }
    expect(await known('br, gzip')).toEqual(tags)
    expect(codecs.br).not.toHaveBeenCalled()
    expect(await known('gzip')).toEqual(tags.slice(0, 2))
    expect(await known('')).toEqual(tags.slice(0, 1))
    // A body that is computed only for the comparison is not encoded.
    const { get: getOther, codecs: others } = await start()
    const unchanged = await getOther('br, gzip', EXPENSIVE, tags[1])
    expect(unchanged).toMatchObject({ status: 304, body: null })
    expect(others.gzip).not.toHaveBeenCalled()
  })

  it('is computed while the previous one is encoded; the next one waits', async () => {
    const parked: (() => void)[] = []
    const gzip: Codec = async () => {
      await new Promise<void>((resolve) => parked.push(resolve))
      return new Uint8Array(10)
    }
    const { get } = await start({ gzip })
    const targets = ['JPY', 'GBP', 'CHF', 'SEK'].map((to) => EXPENSIVE.replace('JPY', to))
    const responses = Promise.all(targets.map((target) => get('gzip', target)))
    const encoded = []
    for (const _ of targets) {
      await vi.waitFor(() => expect(parked.length).toBeGreaterThan(0))
      // More turns of the event loop than one computation takes.
      for (let turn = 0; turn < 100; turn += 1) await settled()
      encoded.push(parked.length)
      parked.shift()?.()
    }
    expect(encoded).toEqual([2, 2, 2, 1])
    expect((await responses).map(({ body }) => body?.length)).toEqual([10, 10, 10, 10])
  })

  it('is sent in its cached coding, or plain, while two others are encoded', async () => {
    const br = vi.fn<Codec>(() => new Promise(() => {}))
    const { get } = await start({ br })
    const targets = ['JPY', 'GBP', 'CHF', 'SEK'].map((to) => EXPENSIVE.replace('JPY', to))
    for (const target of targets) await get(target.endsWith('CHF') ? '' : 'gzip', target)
    void get('br, gzip', targets[0])
    void get('br, gzip', targets[1])
    await settled()
    expect(header(await get('br, gzip', targets[3]), 'content-encoding')).toBe('gzip')
    expect(header(await get('br', targets[2]), 'content-encoding')).toBeUndefined()
    expect(br).toHaveBeenCalledTimes(2)
  })
})

describe('the coding of a body', () => {
  const { get } = serveBodies({ body: () => 'x'.repeat(2_000) })

  const CHOICES = {
    br: 'gzip, deflate, br | br, gzip | br;q=0.001 | *',
    gzip:
      'gzip | GZip | gzip;q=1 | gzip;q=1.000 | gzip ; q=0.5 ,\tbr;q=0.4 | *, br;q=0 | br;q=0.5, *;q=0.7 | ' +
      'gzip, identity | gzip;q=0.5, identity;q=0.5 | identity;q=0, gzip;q=0.1 | , ,gzip,,',
    none:
      ' | identity | deflate, zstd | x-gzip-like | gzip;q=0 | gzip;q=0.000, br;q=0 | *;q=0 | identity, gzip;q=0.5 | ' +
      '*, gzip;q=0.5, br;q=0.9 | identity;q=0 | gzip;q=2 | gzip;q=-1 | gzip;q=0.5555 | gzip;q=NaN | gzip;q | ' +
      'gzip;level=9 | gzip br | "gzip" | __proto__, constructor',
  }

  it.each(
    Object.entries(CHOICES).flatMap(([encoding, texts]) =>
      texts.split(' | ').map((accepted) => ({ encoding, accepted })),
    ),
  )('is $encoding for a client that accepts $accepted', async ({ encoding, accepted }) => {
    const response = await get('body', accepted)
    expect(header(response, 'content-encoding') ?? 'none').toBe(encoding)
  })

  it.each([undefined, null])('is plain for a client that sends %j', async (accepted) => {
    expect(header(await get('body', accepted), 'content-encoding')).toBeUndefined()
  })
})

describe('a counted request to a compressed handler', () => {
  const LIST = '/api/v1/convert?from=USD&to=EUR,GBP,JPY,CHF,SEK,NOK'

  /** Opens a handler with one limit, and records what its responses cost and how they are reported. */
  async function openCounted(path: string) {
    const now = (): number => NOW
    const plans = { free: { burst: '1000/day' } }
    const access = createAccess({ anonymous: 'free', plans, client: () => 'all' })
    const counted = createRatesHandler({ providers: fakeProviders({ now }), now, access })
    const route = frankfurter(counted, { now })
    const reported: number[] = []
    route.subscribe({ onResponse: ({ status }) => reported.push(status) })
    // A wrapper in between.
    const handler = withCompression(withRequestIds(route), CODECS)
    const sendTo = (headers: Record<string, string> = {}, target = path) =>
      handler.answer({ method: 'GET', target, header: (name) => headers[name] })
    const left = async (): Promise<number> => {
      // An error has the header fields of limits, and costs 1.
      const limits = header(await sendTo({}, '/api/v1/latest?base=zzz'), 'ratelimit')
      reported.pop()
      return Number(/;r=(\d+)/.exec(limits ?? '')?.[1])
    }
    const first = await sendTo({ 'accept-encoding': 'gzip' })
    reported.length = 0
    return { sendTo, left, reported, etag: header(first, 'etag') ?? '' }
  }

  it.each([
    [LIST, 6],
    // An expensive body, which is encoded before the guard gets the response.
    ['/api/v1/history?from=USD&to=EUR&period=5Y', 1],
    ['/v1/latest', 1],
  ])('%s costs %d, a 304 and a 412 cost 1, and each is reported once', async (path, cost) => {
    const { sendTo, left, reported, etag } = await openCounted(path)
    const gzip = { 'accept-encoding': 'gzip' }
    const requests = [
      [{}, 200, cost],
      [{ 'if-none-match': etag }, 304, 1],
      [{ 'if-none-match': '"other"' }, 200, cost],
      [{ 'if-match': '"other"' }, 412, 1],
      [{ 'if-match': etag }, 200, cost],
    ] as const
    for (const [headers, status, expected] of requests) {
      const before = await left()
      expect((await sendTo({ ...gzip, ...headers })).status).toBe(status)
      expect(before - (await left()) - 1).toBe(expected)
    }
    expect(reported).toEqual(requests.map(([, status]) => status))
  })
})
