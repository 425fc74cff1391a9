import { promisify } from 'node:util'
import { brotliCompress, brotliDecompressSync, gunzipSync, gzip } from 'node:zlib'

import { describe, expect, it, vi } from 'vitest'

import { withCompression } from '../../src/cli/compression.ts'
import type { Codecs } from '../../src/cli/compression.ts'
import { isStreamed } from '../../src/core.ts'
import type { Header, RawResponse, StreamedBody } from '../../src/index.ts'
import { openService } from '../fixtures/service.ts'
import { settled } from '../virtual-runtime.ts'
import { bodyInOnePart, wholeBody } from '../whole-body.ts'

type Codec = Codecs['br']

const CODECS: Codecs = {
  br: async (body) => new Uint8Array(await promisify(brotliCompress)(body)),
  gzip: async (body) => new Uint8Array(await promisify(gzip)(body)),
}

const TABLE = '/api/v1/latest?base=EUR'
const SMALL = '/api/v1/convert?from=USD&to=EUR'
const LARGE = '/api/v1/history?from=USD&to=JPY&period=5Y'
const DAYS = '/api/v1/days?start=2026-01-01'

const { handler: plain, text: plainBody } = openService()
// The first response differs, because its data are loaded for the request.
await plain.refresh()

/** Starts compression without encoded bodies; `codecs` count those that they encode. */
function start(encoded: Partial<Codecs> = {}, handler: { answer: typeof plain.answer } = plain) {
  const { br, gzip } = { ...CODECS, ...encoded }
  const codecs = { br: vi.fn<Codec>(br), gzip: vi.fn<Codec>(gzip) }
  const { answer } = withCompression(handler, codecs)
  const send = async (target: string, headers: Record<string, string> = {}, method = 'GET') =>
    answer({ method, target, header: (name) => headers[name] })
  const get = (target: string, accept?: string): Promise<RawResponse> =>
    send(target, accept === undefined ? {} : { 'accept-encoding': accept })
  const calls = () => [codecs.br, codecs.gzip].map((codec) => codec.mock.calls.length)
  return { codecs, send, get, calls }
}

const { send, get } = start()

function header({ headers }: RawResponse, wanted: string): string | undefined {
  const found = headers.filter(([name]) => name === wanted)
  expect(found.length).toBeLessThan(2)
  return found[0]?.[1]
}

const codingOf = (response: RawResponse) => header(response, 'content-encoding') ?? 'none'

const DECODE = { gzip: gunzipSync, br: brotliDecompressSync, none: Buffer.from }

describe('a compressed response', () => {
  it.each(['br', 'gzip'] as const)('has a weak ETag in %s, and its length', async (coding) => {
    const response = await get(TABLE, coding)
    const { headers } = await plain(new Request(`http://localhost${TABLE}`))
    expect(response).toMatchObject({ status: 200, matched: true })
    expect([codingOf(response), header(response, 'vary')]).toEqual([coding, 'Accept-Encoding'])
    expect(header(response, 'etag')).toBe(`W/${headers.get('etag')}`)
    for (const name of ['content-type', 'cache-control', 'last-modified', 'cache-status']) {
      expect(header(response, name)).toBe(headers.get(name))
    }
    const body = Buffer.from(bodyInOnePart(response.body) ?? '')
    expect(body.length).toBeLessThan(2_500)
    expect(header(response, 'content-length')).toBe(String(body.length))
    expect(DECODE[coding](body).toString()).toBe(await plainBody(TABLE))
  })

  it.each([
    [TABLE, {}],
    [TABLE, { 'accept-encoding': 'br' }],
    [TABLE, { 'accept-encoding': 'gzip', 'if-none-match': '*' }],
    [TABLE, { 'accept-encoding': 'gzip', 'if-match': '"other"' }],
    [SMALL, { 'accept-encoding': 'gzip' }],
    ['/api/v1/latest?base=XXX', { 'accept-encoding': 'br' }],
  ])('to HEAD %s %j is that to GET without the body', async (target, headers) => {
    const got = await send(target, headers)
    const size = String(new Blob([bodyInOnePart(got.body) ?? '']).size)
    expect(header(got, 'content-length')).toBe(got.status === 304 ? undefined : size)
    expect(await send(target, headers, 'HEAD')).toEqual({ ...got, body: null })
  })

  it.each<Codec>([
    async () => Promise.reject(new Error('no memory')),
    () => {
      throw new Error('no memory')
    },
  ])('is plain if a codec fails, which is retried', async (fail) => {
    const { codecs, get: retry } = start({ gzip: fail })
    codecs.br.mockImplementationOnce(fail)
    for (const failed of [await retry(TABLE, 'gzip;q=0.5, br'), await retry(TABLE, 'gzip')]) {
      expect(await wholeBody(failed.body)).toBe(await plainBody(TABLE))
      expect(header(failed, 'etag')).toMatch(/^"\w+"$/)
      expect(codingOf(failed)).toBe('none')
    }
    expect([await retry(TABLE, 'br'), await retry(TABLE, 'br')].map(codingOf)).toEqual(['br', 'br'])
    expect(codecs.br).toHaveBeenCalledTimes(2)
  })
})

it('a precondition is met by the tag of the plain and of an encoded body, and calls the handler once', async () => {
  const answer = vi.fn<typeof plain.answer>(plain.answer)
  const { calls, send: ask } = start({}, { answer })
  const tag = header(await get(TABLE), 'etag') ?? ''
  for (const accepted of ['br, gzip', 'gzip', '']) {
    const askWith = (headers: object) => ask(TABLE, { 'accept-encoding': accepted, ...headers })
    for (const sent of [tag, `"a", W/${tag}`]) {
      const known = await askWith({ 'if-none-match': sent })
      expect(known).toMatchObject({ status: 304, body: null })
      expect(header(known, 'vary')).toBe('Accept-Encoding')
      expect(await askWith({ 'if-match': sent })).toMatchObject({ status: 200 })
    }
    expect(await askWith({ 'if-match': 'W/"other"' })).toMatchObject({ status: 412 })
  }
  expect([answer.mock.calls.length, ...calls()]).toEqual([15, 1, 1])
})

interface Served {
  body: RawResponse['body']
  tag?: string
  headers?: Header[]
}

/** Serves `bodies` by target, each encoded as ten bytes; `encoded` has the encoded bodies in order. */
function serveBodies(bodies: Record<string, Served>, encode: () => Promise<void> = async () => {}) {
  const encoded: RawResponse['body'][] = []
  const codec: Codec = async (body) => {
    encoded.push(body)
    await encode()
    return new Uint8Array(10)
  }
  const answer = ({ target }: { target: string }): RawResponse => {
    const { body = null, tag, headers = [] } = bodies[target] ?? {}
    const tags: Header[] = tag === undefined ? [] : [['etag', tag]]
    return { status: 200, headers: [...headers, ...tags], body, matched: true }
  }
  return { encoded, ...start({ br: codec, gzip: codec }, { answer }) }
}

const LONG = 'x'.repeat(2_000)

/** Bodies of 5 MiB by their numbers. */
const hugeBodies = (length: number): Record<string, Served> =>
  Object.fromEntries(
    Array.from({ length }, (_, index) => {
      return [String(index), { body: new Uint8Array(5 * 1_048_576), tag: `"${index}"` }]
    }),
  )

describe('a body', () => {
  it('is encoded once for concurrent requests and for every spelling', async () => {
    const { calls, get: ask } = start()
    const targets = [TABLE, `${TABLE}&_=1`, '/api/v1/latest?base=eur']
    const asking = Array.from({ length: 60 }, (_, index) => ask(targets[index % 3] ?? '', 'br'))
    expect(new Set((await Promise.all(asking)).map(({ body }) => body)).size).toBe(1)
    await ask(TABLE, 'gzip')
    expect(calls()).toEqual([1, 1])
  })

  it('is longer than 1,024 bytes and not encoded yet; a weak tag stays', async () => {
    const done: Header[] = [
      ['content-encoding', 'zstd'],
      ['vary', 'Origin'],
    ]
    const { encoded, get: ask } = serveBodies({
      small: { body: 'x'.repeat(1_024), tag: '"s"' },
      large: { body: 'x'.repeat(1_025), tag: '"l"' },
      weak: { body: LONG, tag: 'W/"1"' },
      done: { body: LONG, headers: done },
    })
    const targets = ['small', 'large', 'weak', 'done']
    const sent = await Promise.all(targets.map((target) => ask(target, 'br')))
    expect(sent.map(codingOf)).toEqual(['none', 'br', 'br', 'zstd'])
    expect(sent.map((each) => header(each, 'etag'))).toEqual(['"s"', 'W/"l"', 'W/"1"', undefined])
    expect(sent.map((each) => header(each, 'vary')).at(-1)).toBe('Origin, Accept-Encoding')
    expect(encoded).toHaveLength(2)
  })

  it('without an entity tag is encoded in gzip each time', async () => {
    const { encoded, get: ask } = serveBodies({ '/': { body: LONG } })
    const codings: string[] = []
    for (const each of ['br, gzip', 'br, gzip', 'br']) codings.push(codingOf(await ask('/', each)))
    expect([codings, encoded.length]).toEqual([['gzip', 'gzip', 'none'], 2])
  })

  it('is not taken for another one with the same entity tag', async () => {
    const [one, other, tag] = [LONG, 'y'.repeat(2_000), '"1"']
    const bodies = { one: { body: one, tag }, other: { body: other, tag } }
    const { encoded, get: ask } = serveBodies(bodies)
    for (const target of ['one', 'one', 'other', 'one']) await ask(target, 'br')
    expect(encoded).toEqual([one, other, one])
  })

  it('is kept by recent use, up to six of 5 MiB', async () => {
    const bodies = hugeBodies(20)
    const { encoded, get: ask } = serveBodies(bodies)
    for (const target of Object.keys(bodies)) {
      await ask(target, 'gzip')
      await ask('0', 'gzip')
    }
    expect(encoded).toHaveLength(20)
    for (const target of ['19', '16', '1']) await ask(target, 'gzip')
    expect(encoded).toHaveLength(21)
  })
})

describe('a large body', () => {
  it.each<[accepted: string, first: keyof typeof DECODE, later: keyof typeof DECODE]>([
    ['gzip, deflate, br', 'gzip', 'br'],
    ['br', 'none', 'br'],
    ['gzip', 'gzip', 'gzip'],
    ['', 'none', 'none'],
  ])('is sent to a client that accepts %j as %j first, then as %j', async (...row) => {
    const [accepted, first, later] = row
    const { get: ask, calls } = start()
    for (const coding of [first, later, later]) {
      const sent = await ask(LARGE, accepted)
      expect(codingOf(sent)).toBe(coding)
      const body = Buffer.from(bodyInOnePart(sent.body) ?? '')
      expect(header(sent, 'content-length')).toBe(String(body.length))
      expect(header(sent, 'etag')).toMatch(coding === 'none' ? /^"\w+"$/ : /^W\/"\w+"$/)
      expect(DECODE[coding](body).toString()).toBe(await plainBody(LARGE))
    }
    const codings = new Set([first, later].filter((coding) => coding !== 'none'))
    expect(calls().reduce((sum, count) => sum + count)).toBe(codings.size)
  })

  it('waits for its turn, and is sent plain while 16 MiB of others wait', async () => {
    const parked: (() => void)[] = []
    const bodies = { ...hugeBodies(6), small: { body: LONG, tag: '"s"' } }
    const { get: ask } = serveBodies(bodies, () => new Promise((resolve) => parked.push(resolve)))
    const ended: string[] = []
    for (const target of Object.keys(bodies)) {
      void ask(target, 'gzip').then((sent) => ended.push(`${target} ${codingOf(sent)}`))
    }
    await settled()
    // One large body at a time, and the small one.
    expect(parked).toHaveLength(2)
    expect(ended).toEqual(['4 none', '5 none'])
    for (let turn = 0; turn < 5; turn += 1) {
      parked.splice(0).forEach((encode) => encode())
      await settled()
    }
    const gzipped = ['0', '1', '2', '3', 'small'].map((target) => `${target} gzip`)
    expect(ended.slice(2).toSorted()).toEqual(gzipped)
  })
})

describe('a body in parts', () => {
  const partsIn = async ({ body }: RawResponse): Promise<Uint8Array[]> => {
    const parts: Uint8Array[] = []
    if (isStreamed(body)) for await (const part of body) parts.push(part)
    return parts
  }

  it('is sent in gzip, each part at once, or as it is to clients without gzip', async () => {
    const response = await get(DAYS, 'br, gzip')
    const raw = { method: 'GET', target: DAYS, header: () => null }
    const unencoded = await plain.answer(raw)
    expect([codingOf(response), header(response, 'content-length')]).toEqual(['gzip', undefined])
    expect(header(response, 'etag')).toBe(header(unencoded, 'etag'))
    const [parts, plainParts] = [await partsIn(response), await partsIn(unencoded)]
    expect(plainParts.length).toBeGreaterThan(3)
    expect(parts.length).toBeGreaterThan(plainParts.length)
    expect(gunzipSync(Buffer.concat(parts)).toString()).toBe(await plainBody(DAYS))
    expect((await send(DAYS, { 'accept-encoding': 'gzip' }, 'HEAD')).body).toBeNull()
    const asIs = await get(DAYS, 'br')
    expect([codingOf(asIs), await wholeBody(asIs.body)]).toEqual(['none', await plainBody(DAYS)])
  })

  /** Serves one part and then an error, or endless parts. */
  function serveParts(failure?: Error) {
    const state = { isOpen: true }
    async function* parts(): StreamedBody {
      try {
        for (;;) {
          yield new Uint8Array(10_000)
          await settled()
          if (failure) throw failure
        }
      } finally {
        state.isOpen = false
      }
    }
    const answer = (): RawResponse => ({ status: 200, headers: [], body: parts(), matched: true })
    return { ...start({}, { answer }), state }
  }

  it.each(['gzip', 'br'])('fails where its source fails, with %s', async (coding) => {
    const { body } = await serveParts(new Error('gone')).get('parts', coding)
    await expect(wholeBody(body)).rejects.toThrow('gone')
  })

  it('ends its source when it is read no further', async () => {
    const endless = serveParts()
    const { body } = await endless.get('parts', 'gzip')
    if (isStreamed(body)) for await (const part of body) if (part.length > 0) break
    await expect.poll(() => endless.state.isOpen).toBe(false)
  })
})

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

it.each(Object.entries(CHOICES))('chooses %s by the weights of RFC 9110', async (coding, texts) => {
  const { get: ask } = serveBodies({ body: { body: LONG, tag: '"1"' } })
  for (const accepted of texts.split(' | ')) {
    expect(codingOf(await ask('body', accepted)), accepted).toBe(coding)
  }
})
