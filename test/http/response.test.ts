import { afterEach, describe, expect, it, vi } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { bodyInOnePart } from '../whole-body.ts'

const now = (): number => Date.UTC(2026, 10, 20, 18)
const providers = fakeProviders({ now })

const BYTES = '/api/v1/history?from=USD&to=EUR&period=5Y'
const LARGE = '/api/v1/history?from=USD&to=EUR&start=1999-01-04'
const TEXT = '/api/v1/convert?from=USD&to=EUR'

afterEach(() => vi.unstubAllGlobals())

describe.each(['Node.js/24', 'Bun/1.4.5', 'Deno/2.9.5', 'Cloudflare-Workers', undefined])(
  'a Response on %s',
  (userAgent) => {
    async function createHandlerThere() {
      vi.stubGlobal('navigator', userAgent && { userAgent })
      const handler = createRatesHandler({ providers, now })
      await handler.refresh()
      const get = (target: string, headers: HeadersInit = {}): Promise<Response> =>
        handler(new Request(`http://localhost${target}`, { headers }))
      return { handler, get }
    }

    it.each([
      ['bytes', BYTES, Uint8Array],
      ['many bytes', LARGE, Uint8Array],
      ['text', TEXT, String],
    ])('has the status, the headers and %s of the raw response', async (_what, target, form) => {
      const { handler, get } = await createHandlerThere()
      // Loads the data.
      await get(target)
      const raw = await handler.answer({ method: 'GET', target, header: () => null })
      expect(Object(raw.body)).toBeInstanceOf(form)
      const expected = await new Response(bodyInOnePart(raw.body)).arrayBuffer()
      for (let round = 0; round < 3; round += 1) {
        const response = await get(target)
        expect(response.status).toBe(raw.status)
        expect([...response.headers]).toEqual([...new Headers(raw.headers)])
        expect(await response.arrayBuffer()).toEqual(expected)
        // Each response has its own headers.
        response.headers.set('content-type', 'text/plain')
      }
    })

    it.each([BYTES, TEXT])('has its own bytes, which a reader may change: %s', async (target) => {
      const { get } = await createHandlerThere()
      await get(target)
      const expected = await (await get(target)).text()
      for (let round = 0; round < 3; round += 1) {
        const bytes = await (await get(target)).arrayBuffer()
        new Uint8Array(bytes).fill(0)
        structuredClone(bytes, { transfer: [bytes] })
        expect(await (await get(target)).text()).toBe(expected)
      }
    })
  },
)
