import { Response as WhatwgResponse } from '@whatwg-node/server'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { openService } from './fixtures/service.ts'

afterEach(() => vi.unstubAllGlobals())

class LightResponse extends Response {}

const TARGETS: [target: string, init?: RequestInit][] = [
  ['/api/v1/convert?from=USD&to=EUR&amount=5'],
  ['/api/v1/latest?base=EUR'],
  ['/api/v1/history?from=USD&to=JPY&period=5Y'],
  ['/api/v1/latest?base=EUR', { method: 'HEAD' }],
  ['/api/v1/latest?base=EUR', { headers: { 'if-none-match': '*' } }],
  ['/api/v1/latest?base=EUR', { headers: { 'if-match': '"other"' } }],
  ['/api/v1/latest?base=EURO'],
  ['/api/v1/latest', { method: 'OPTIONS', headers: { origin: 'https://shop.example' } }],
  ['/elsewhere'],
]

async function open() {
  vi.stubGlobal('navigator', { userAgent: 'Node.js/24' })
  const { handler } = openService()
  await handler.refresh()
  return handler
}

async function contentOf(response: Response) {
  const { status, headers } = response
  const lines = [...headers].sort(([one], [other]) => one.localeCompare(other))
  return { status, lines, body: await response.text() }
}

/** On Bun, @whatwg-node/server has the platform's class. */
const CLASSES = [
  ['of @whatwg-node/server', WhatwgResponse],
  ['that inherits from the platform’s', LightResponse],
] as const

describe.each(CLASSES.filter(([, Light]) => Light !== Response))(
  'a global Response %s, on Node',
  (_, Light) => {
    it.each(TARGETS)(
      'has the status, headers and body of the platform’s: %s %j',
      async (target, init) => {
        const handler = await open()
        const request = (): Request => new Request(`http://localhost${target}`, init)
        // The first is computed, the second cached, and the third has the headers of the second.
        for (let round = 0; round < 3; round += 1) {
          const expected = await handler(request())
          expect(expected).not.toBeInstanceOf(Light)
          vi.stubGlobal('Response', Light)
          const response = await handler(request())
          vi.unstubAllGlobals()
          vi.stubGlobal('navigator', { userAgent: 'Node.js/24' })
          expect(response).toBeInstanceOf(Light)
          expect(await contentOf(response)).toEqual(await contentOf(expected))
        }
      },
    )
  },
)
