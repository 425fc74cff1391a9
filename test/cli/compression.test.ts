import { promisify } from 'node:util'
import { brotliCompress, brotliDecompressSync, gunzipSync, gzip } from 'node:zlib'

import { describe, expect, it, vi } from 'vitest'

import { withCompression } from '../../src/cli/compression.ts'
import type { Codecs } from '../../src/cli/compression.ts'
import { isStreamed } from '../../src/http/response.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { RawResponse, StreamedBody } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { settled } from '../virtual-runtime.ts'
import { bodyInOnePart, wholeBody } from '../whole-body.ts'

type Codec = Codecs['br']

const CODECS: Codecs = {
  br: async (body) => new Uint8Array(await promisify(brotliCompress)(body)),
  gzip: async (body) => new Uint8Array(await promisify(gzip)(body)),
}

const NOW = Date.UTC(2026, 10, 20, 18)
const TABLE = '/api/v1/latest?base=EUR'
const SMALL = '/api/v1/convert?from=USD&to=EUR'
const LARGE = '/api/v1/history?from=USD&to=JPY&period=5Y'

const plain = createRatesHandler({ providers: fakeProviders({ now: () => NOW }), now: () => NOW })
// The first response differs, because its data are loaded for the request.
await plain.refresh()

/** Starts compression without encoded bodies; `codecs` count those that they encode. */
function start(encoded: Partial<Codecs> = {}, handler: { answer: typeof plain.answer } = plain) {
  const { br, gzip } = { ...CODECS, ...encoded }
  const codecs = { br: vi.fn<Codec>(br), gzip: vi.fn<Codec>(gzip) }
  const { answer } = withCompression(handler, codecs)
  const send = (target: string, headers: Record<string, string> = {}, method = 'GET') =>
    answer({ method, target, header: (name) => headers[name] })
  const get = (target: string, accept?: string): Promise<RawResponse> =>
    Promise.resolve(send(target, accept === undefined ? {} : { 'accept-encoding': accept }))
  return { codecs, send, get }
}

const { send, get } = start()

function header({ headers }: RawResponse, wanted: string): string | undefined {
  const found = headers.filter(([name]) => name === wanted)
  expect(found.length).toBeLessThan(2)
  return found[0]?.[1]
}

function textOf({ body }: RawResponse): Promise<string> {
  return wholeBody(body)
}

async function plainBody(target: string): Promise<string> {
  return (await plain(new Request(`http://localhost${target}`))).text()
}

describe('a compressed response', () => {
  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ])('has a weak ETag in %s, and the length of its body', async (coding, decode) => {
    const response = await get(TABLE, coding)
    const { headers } = await plain(new Request(`http://localhost${TABLE}`))
    expect(response).toMatchObject({ status: 200, matched: true })
    expect(header(response, 'content-encoding')).toBe(coding)
    expect(header(response, 'vary')).toBe('Accept-Encoding')
    expect(header(response, 'etag')).toBe(`W/${headers.get('etag')}`)
    for (const name of ['content-type', 'cache-control', 'last-modified', 'cache-status']) {
      expect(header(response, name)).toBe(headers.get(name))
    }
    const body = Buffer.from(bodyInOnePart(response.body) ?? '')
    expect(body.length).toBeLessThan(2_500)
    expect(header(response, 'content-length')).toBe(String(body.length))
    expect(decode(body).toString()).toBe(await plainBody(TABLE))
  })

  it.each([
    [TABLE, {}],
    [TABLE, { 'accept-encoding': 'br' }],
    [TABLE, { 'accept-encoding': 'gzip', 'if-none-match': '*' }],
    [TABLE, { 'accept-encoding': 'gzip', 'if-match': '"other"' }],
    [SMALL, { 'accept-encoding': 'gzip' }],
    ['/api/v1/latest?base=XXX', { 'accept-encoding': 'br' }],
    ['/api/v1/nothing', {}],
  ])('to HEAD %s %j is that to GET without the body', async (target, headers) => {
    const got = await send(target, headers)
    const length =
      got.status === 304 ? undefined : String(new Blob([bodyInOnePart(got.body) ?? '']).size)
    expect(header(got, 'content-length')).toBe(length)
    expect(await send(target, headers, 'HEAD')).toEqual({ ...got, body: null })
  })

  it('is plain if a codec fails, which is retried', async () => {
    const failures: Codec[] = [
      async () => Promise.reject(new Error('no memory')),
      () => {
        throw new Error('no memory')
      },
    ]
    for (const fail of failures) {
      const { codecs, get } = start({ gzip: fail })
      codecs.br.mockImplementationOnce(fail)
      for (const failed of [await get(TABLE, 'gzip;q=0.5, br'), await get(TABLE, 'gzip')]) {
        expect(await textOf(failed)).toBe(await plainBody(TABLE))
        expect(header(failed, 'etag')).toMatch(/^"\w+"$/)
        expect(header(failed, 'content-encoding')).toBeUndefined()
      }
      for (let round = 0; round < 2; round += 1) {
        expect(header(await get(TABLE, 'br'), 'content-encoding')).toBe('br')
      }
      expect(codecs.br).toHaveBeenCalledTimes(2)
    }
  })
})

describe('a precondition', () => {
  it('is met by the tag of the plain and of an encoded body, and calls the handler once', async () => {
    const answer = vi.fn<typeof plain.answer>(plain.answer)
    const { codecs, send } = start({}, { answer })
    const tag = header(await get(TABLE), 'etag') ?? ''
    for (const accepted of ['br, gzip', 'gzip', '']) {
      for (const sent of [tag, `"a", W/${tag}`]) {
        const headers = { 'accept-encoding': accepted }
        const known = await send(TABLE, { ...headers, 'if-none-match': sent })
        expect(known).toMatchObject({ status: 304, body: null })
        expect(header(known, 'vary')).toBe('Accept-Encoding')
        expect((await send(TABLE, { ...headers, 'if-match': sent })).status).toBe(200)
      }
      const other = { 'accept-encoding': accepted, 'if-match': 'W/"other"' }
      expect((await send(TABLE, other)).status).toBe(412)
    }
    expect(answer).toHaveBeenCalledTimes(15)
    expect([codecs.br, codecs.gzip].map((codec) => codec.mock.calls.length)).toEqual([1, 1])
  })

  it('has the weak tag of a handler as it is', async () => {
    const { send } = start(undefined, {
      answer: () => {
        const headers: RawResponse['headers'] = [['etag', 'W/"1"']]
        return { status: 200, headers, body: 'x'.repeat(2_000), matched: true }
      },
    })
    expect(header(await send('/', { 'accept-encoding': 'br' }), 'etag')).toBe('W/"1"')
  })
})

/** Serves `bodies` by target, each encoded as ten bytes; `encoded` has the encoded bodies in order. */
function serveBodies(bodies: Record<string, { body: RawResponse['body']; tag?: string }>) {
  const encoded: RawResponse['body'][] = []
  const codec: Codec = async (body) => {
    encoded.push(body)
    return new Uint8Array(10)
  }
  const { get } = start(
    { br: codec, gzip: codec },
    {
      answer: ({ target }) => {
        const { body = null, tag } = bodies[target] ?? {}
        const headers: RawResponse['headers'] = tag === undefined ? [] : [['etag', tag]]
        return { status: 200, headers, body, matched: true }
      },
    },
  )
  return { encoded, get }
}

describe('a body', () => {
  it('is encoded once for concurrent requests and for every spelling', async () => {
    const { codecs, get } = start()
    const targets = [TABLE, `${TABLE}&_=1`, '/api/v1/latest?base=eur']
    const responses = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => get(targets[index % 3] ?? '', 'br')),
    )
    expect(new Set(responses.map(({ body }) => body)).size).toBe(1)
    expect(codecs.br).toHaveBeenCalledOnce()
    await get(TABLE, 'gzip')
    expect(codecs.gzip).toHaveBeenCalledOnce()
  })

  it('is longer than 1,024 bytes and not encoded yet', async () => {
    const { encoded, get } = serveBodies({
      small: { body: 'x'.repeat(1_024), tag: '"s"' },
      large: { body: 'x'.repeat(1_025), tag: '"l"' },
    })
    expect(header(await get('small', 'br'), 'content-encoding')).toBeUndefined()
    expect(header(await get('large', 'br'), 'content-encoding')).toBe('br')
    expect(encoded).toHaveLength(1)
    const done: RawResponse['headers'] = [
      ['content-encoding', 'zstd'],
      ['vary', 'Origin'],
    ]
    const response = { status: 200, headers: done, body: 'x'.repeat(2_000), matched: true }
    const { get: getEncoded } = start({}, { answer: () => response })
    const kept = await getEncoded('/', 'br')
    expect(header(kept, 'content-encoding')).toBe('zstd')
    expect(header(kept, 'vary')).toBe('Origin, Accept-Encoding')
  })

  it('without an entity tag is encoded in gzip each time', async () => {
    const { encoded, get } = serveBodies({ '/': { body: 'x'.repeat(2_000) } })
    for (let round = 0; round < 2; round += 1) {
      expect(header(await get('/', 'br, gzip'), 'content-encoding')).toBe('gzip')
    }
    expect(header(await get('/', 'br'), 'content-encoding')).toBeUndefined()
    expect(encoded).toHaveLength(2)
  })

  it('is not taken for another one with the same entity tag', async () => {
    const [one, other] = ['x'.repeat(2_000), 'y'.repeat(2_000)]
    const { encoded, get } = serveBodies({
      one: { body: one, tag: '"1"' },
      other: { body: other, tag: '"1"' },
    })
    for (const target of ['one', 'one', 'other', 'one']) await get(target, 'br')
    expect(encoded).toEqual([one, other, one])
  })

  it('is kept by recent use, up to six of 5 MiB', async () => {
    const targets = Array.from({ length: 20 }, (_, index) => String(index))
    const bodies = targets.map((target) => {
      return [target, { body: new Uint8Array(5 * 1_048_576), tag: `"${target}"` }] as const
    })
    const { encoded, get } = serveBodies(Object.fromEntries(bodies))
    for (const target of targets) {
      await get(target, 'gzip')
      await get('0', 'gzip')
    }
    expect(encoded).toHaveLength(20)
    await get('1', 'gzip')
    expect(encoded).toHaveLength(21)
  })
})

describe('a large body', () => {
  const CODINGS = { gzip: gunzipSync, br: brotliDecompressSync, '': Buffer.from }

  it.each<[accepted: string, first: keyof typeof CODINGS, later: keyof typeof CODINGS]>([
    ['gzip, deflate, br', 'gzip', 'br'],
    ['br', '', 'br'],
    ['gzip', 'gzip', 'gzip'],
    ['', '', ''],
  ])('is sent to a client that accepts %j as %j first, then as %j', async (...row) => {
    const [accepted, ...codings] = row
    const { get, codecs } = start()
    const text = await plainBody(LARGE)
    for (const coding of [...codings, codings[1]]) {
      const sent = await get(LARGE, accepted)
      expect(header(sent, 'content-encoding') ?? '').toBe(coding)
      expect(header(sent, 'content-length')).toBe(String(bodyInOnePart(sent.body)?.length))
      expect(header(sent, 'etag')).toMatch(coding ? /^W\/"\w+"$/ : /^"\w+"$/)
      expect(CODINGS[coding](Buffer.from(bodyInOnePart(sent.body) ?? '')).toString()).toBe(text)
    }
    expect(codecs.br.mock.calls.length + codecs.gzip.mock.calls.length).toBe(
      new Set(codings.filter(Boolean)).size,
    )
  })

  it('waits for its turn, and is sent plain while 16 MiB of others wait', async () => {
    const parked: (() => void)[] = []
    const park: Codec = async () => {
      await new Promise<void>((resolve) => parked.push(resolve))
      return new Uint8Array(10)
    }
    const bodies = Array.from({ length: 6 }, () => new Uint8Array(5 * 1_048_576))
    const { get } = start(
      { gzip: park },
      {
        answer: ({ target }) => {
          const headers: RawResponse['headers'] = [['etag', `"${target}"`]]
          return {
            status: 200,
            headers,
            body: bodies[Number(target)] ?? 'x'.repeat(2_000),
            matched: true,
          }
        },
      },
    )
    const ended: string[] = []
    const request = async (target: string): Promise<void> => {
      const sent = await get(target, 'gzip')
      ended.push(`${target} ${header(sent, 'content-encoding') ?? 'plain'}`)
    }
    for (const target of ['0', '1', '2', '3', '4', '5', 'small']) void request(target)
    await settled()
    // One large body at a time, and the small one.
    expect(parked).toHaveLength(2)
    expect(ended).toEqual(['4 plain', '5 plain'])
    for (let turn = 0; turn < 5; turn += 1) {
      parked.shift()?.()
      await settled()
      expect(parked.length).toBeLessThan(3)
    }
    expect(ended.toSorted()).toEqual(
      ['0 gzip', '1 gzip', '2 gzip', '3 gzip', '4 plain', '5 plain', 'small gzip'].toSorted(),
    )
  })
})

describe('a body in parts', () => {
  const DAYS = '/api/v1/days?start=2026-01-01'

  it('is sent in gzip, each part at once', async () => {
    const response = await get(DAYS, 'br, gzip')
    expect(header(response, 'content-encoding')).toBe('gzip')
    expect(header(response, 'content-length')).toBeUndefined()
    const tag = header(await Promise.resolve(plain.answer(rawOf(DAYS))), 'etag')
    expect(header(response, 'etag')).toBe(tag)
    const parts = await partsIn(response)
    const unencoded = await partsIn(await plain.answer(rawOf(DAYS)))
    expect(unencoded.length).toBeGreaterThan(3)
    expect(parts.length).toBeGreaterThan(unencoded.length)
    expect(gunzipSync(Buffer.concat(parts)).toString()).toBe(await plainBody(DAYS))
    expect((await send(DAYS, { 'accept-encoding': 'gzip' }, 'HEAD')).body).toBeNull()
  })

  it('is sent as it is to clients without gzip', async () => {
    const response = await get(DAYS, 'br')
    expect(header(response, 'content-encoding')).toBeUndefined()
    expect(await textOf(response)).toBe(await plainBody(DAYS))
  })

  it.each(['gzip', 'br'])('fails where its source fails, with %s', async (coding) => {
    const failing = serveParts(new Error('gone'))
    const { body } = await failing.get('parts', coding)
    await expect(wholeBody(body)).rejects.toThrow('gone')
  })

  it('ends its source when it is read no further', async () => {
    const endless = serveParts()
    const { body } = await endless.get('parts', 'gzip')
    if (isStreamed(body)) for await (const part of body) if (part.length > 0) break
    await expect.poll(endless.isOpen).toBe(false)
  })

  async function partsIn({ body }: RawResponse): Promise<Uint8Array[]> {
    const parts: Uint8Array[] = []
    if (isStreamed(body)) for await (const part of body) parts.push(part)
    return parts
  }

  const rawOf = (target: string) => ({ method: 'GET', target, header: () => null })

  /** Serves one part and then an error, or endless parts. */
  function serveParts(failure?: Error) {
    let isOpen = true
    async function* parts(): StreamedBody {
      try {
        for (;;) {
          yield new Uint8Array(10_000)
          await settled()
          if (failure) throw failure
        }
      } finally {
        isOpen = false
      }
    }
    const answer = (): RawResponse => ({ status: 200, headers: [], body: parts(), matched: true })
    return { ...start({}, { answer }), isOpen: () => isOpen }
  }
})

describe('the coding of a body', () => {
  const { get } = serveBodies({ body: { body: 'x'.repeat(2_000), tag: '"1"' } })

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

  it.each(Object.entries(CHOICES))('is %s by the weights of RFC 9110', async (coding, texts) => {
    for (const accepted of texts.split(' | ')) {
      const response = await get('body', accepted)
      expect(header(response, 'content-encoding') ?? 'none', accepted).toBe(coding)
    }
  })
})
