import { Response as WhatwgResponse } from '@whatwg-node/server'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { openService } from '../fixtures/service.ts'
import { bodyInOnePart, wholeBody } from '../whole-body.ts'

const BYTES = '/api/v1/history?from=USD&to=EUR&period=5Y'
const LARGE = '/api/v1/history?from=USD&to=EUR&start=1999-01-04'
const TEXT = '/api/v1/convert?from=USD&to=EUR'

afterEach(() => vi.unstubAllGlobals())

async function openOn(userAgent: string | undefined) {
  vi.stubGlobal('navigator', userAgent && { userAgent })
  const service = openService()
  await service.handler.refresh()
  return service
}

describe.each(['Node.js/24', 'Bun/1.4.5', 'Deno/2.9.5', 'Cloudflare-Workers', undefined])(
  'a Response on %s',
  (userAgent) => {
    it.each([
      ['bytes', BYTES, Uint8Array],
      ['many bytes', LARGE, Uint8Array],
      ['text', TEXT, String],
    ])('has the status, the headers and %s of the raw response', async (_what, target, form) => {
      const { handler, get } = await openOn(userAgent)
      // Loads the data.
      await get(target)
      const raw = await handler.answer({ method: 'GET', target, header: () => null })
      expect(Object(raw.body)).toBeInstanceOf(form)
      const expected = await new Response(bodyInOnePart(raw.body)).text()
      for (let round = 0; round < 3; round += 1) {
        const response = await get(target)
        expect(response.status).toBe(raw.status)
        expect([...response.headers]).toEqual([...new Headers(raw.headers)])
        const bytes = await response.arrayBuffer()
        expect(new TextDecoder().decode(bytes)).toBe(expected)
        // A reader may change its own headers and bytes.
        response.headers.set('content-type', 'text/plain')
        new Uint8Array(bytes).fill(0)
        structuredClone(bytes, { transfer: [bytes] })
      }
    })
  },
)

class LightResponse extends Response {}

/** On Bun, @whatwg-node/server has the platform's class. */
const CLASSES = [
  ['of @whatwg-node/server', WhatwgResponse],
  ['that inherits from the platform’s', LightResponse],
] as const

describe.each(CLASSES.filter(([, Light]) => Light !== Response))(
  'a global Response %s, on Node',
  (_, Light) => {
    it.each<[target: string, init?: RequestInit]>([
      [TEXT],
      ['/api/v1/latest?base=EUR'],
      [BYTES],
      ['/api/v1/latest?base=EUR', { method: 'HEAD' }],
      ['/api/v1/latest?base=EUR', { headers: { 'if-none-match': '*' } }],
      ['/api/v1/latest?base=EUR', { headers: { 'if-match': '"other"' } }],
      ['/api/v1/latest?base=EURO'],
      ['/api/v1/latest', { method: 'OPTIONS', headers: { origin: 'https://shop.example' } }],
      ['/elsewhere'],
    ])('has the status, headers and body of the platform’s: %s %j', async (target, init) => {
      const { get } = await openOn('Node.js/24')
      const contentOf = async (response: Response) => {
        return [response.status, Object.fromEntries(response.headers), await response.text()]
      }
      // The first is computed, the second cached, and the third has the headers of the second.
      for (let round = 0; round < 3; round += 1) {
        const expected = await get(target, init)
        expect(expected).not.toBeInstanceOf(Light)
        vi.stubGlobal('Response', Light)
        const response = await get(target, init)
        vi.unstubAllGlobals()
        vi.stubGlobal('navigator', { userAgent: 'Node.js/24' })
        expect(response).toBeInstanceOf(Light)
        expect(await contentOf(response)).toEqual(await contentOf(expected))
      }
    })
  },
)

describe('an entity tag', () => {
  async function tagsOf(bodies: (string | Uint8Array<ArrayBuffer>)[]): Promise<string[]> {
    const { handler } = openService({
      routes: [
        { path: '/:index', get: ({ params }) => new Response(bodies[Number(params['index'])]) },
      ],
    })
    const tags: string[] = []
    for (const index of bodies.keys()) {
      const { headers, body } = await handler.answer({
        method: 'GET',
        target: `/${index}`,
        header: () => null,
      })
      await wholeBody(body)
      tags.push(new Headers(headers).get('etag') ?? '')
    }
    return tags
  }

  it('is well-formed, and equal for equal bodies only', async () => {
    const bodies = ['{}', 'ä\u0000"\u{1f4b5}', 'x'.repeat(100_000)]
    const tags = await tagsOf([...bodies, ...bodies])
    expect(tags.slice(3)).toEqual(tags.slice(0, 3))
    expect(tags.filter((tag) => !/^"[a-p]{16}\d+"$/.test(tag))).toEqual([])
    const ends = Array.from({ length: 9 }, (_, count) =>
      ['}', '{', 'é'].map((last) => 'x'.repeat(count) + last),
    ).flat()
    expect(new Set(await tagsOf(ends)).size).toBe(ends.length)
  })

  it('differs for 5,000 bodies that differ in a digit', async () => {
    const bodies = Array.from(
      { length: 5_000 },
      (_, number) => `{"from":"USD","to":"EUR","amount":${number},"rate":0.85367936}`,
    )
    expect(new Set(await tagsOf(bodies)).size).toBe(5_000)
  })
})
