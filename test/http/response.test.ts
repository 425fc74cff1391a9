import { afterEach, describe, expect, it, vi } from 'vitest'

import type { Answer, Header } from '../../src/http/answer.ts'
import { createRendering } from '../../src/http/response.ts'

const BYTES = new TextEncoder().encode('{"a":"ä"}')
const HEADERS: Header[] = [
  ['content-type', 'application/json; charset=utf-8'],
  ['content-length', '10'],
]

function answer(body: Answer['body'], status = 200): Answer {
  return { status, headers: HEADERS, body, matched: true }
}

afterEach(() => vi.unstubAllGlobals())

describe.each(['Node.js/24', 'Bun/1.4.5', 'Deno/2.9.5', 'Cloudflare-Workers', undefined])(
  'a Response on %s',
  (userAgent) => {
    it.each([
      ['bytes', BYTES],
      ['a text', '{"a":"ä"}'],
    ])('has the status, the headers and %s', async (_what, body) => {
      vi.stubGlobal('navigator', userAgent && { userAgent })
      const render = createRendering()
      for (let round = 0; round < 3; round += 1) {
        const response = render(answer(body, 203))
        expect(response.status).toBe(203)
        expect([...response.headers]).toEqual(expect.arrayContaining(HEADERS))
        expect(new Uint8Array(await response.arrayBuffer())).toEqual(BYTES)
      }
    })

    it('has no body where the answer has none', () => {
      vi.stubGlobal('navigator', userAgent && { userAgent })
      const response = createRendering()(answer(null, 304))
      expect(response.status).toBe(304)
      expect(response.body).toBeNull()
    })

    it('has headers of its own', () => {
      vi.stubGlobal('navigator', userAgent && { userAgent })
      const render = createRendering()
      render(answer(BYTES)).headers.set('content-type', 'text/plain')
      expect(render(answer(BYTES)).headers.get('content-type')).toMatch('application/json')
    })
  },
)
