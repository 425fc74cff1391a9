import { Response as WhatwgResponse } from '@whatwg-node/server'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { toFetchHandler } from '../adapters/fetch.ts'
import type { FetchHandlerOptions } from '../adapters/fetch.ts'
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
  const { handler } = openService()
  await handler.refresh()
  return handler
}

async function contentOf(response: Response) {
  const { status, headers } = response
  const lines = [...headers].sort(([one], [other]) => one.localeCompare(other))
  return { status, lines, body: await response.text() }
}

describe.each([
  ['of @whatwg-node/server', WhatwgResponse],
  ['that inherits from the platform’s', LightResponse],
])('a Response %s', (_, Light) => {
  it.each(TARGETS)(
    'has the status, headers and body of the handler: %s %j',
    async (target, init) => {
      const handler = await open()
      const fetch = toFetchHandler(handler, { Response: Light })
      const request = (): Request => new Request(`http://localhost${target}`, init)
      // The first is computed, the second cached, and the third has the headers of the second.
      for (let round = 0; round < 3; round += 1) {
        const response = await fetch(request())
        expect(response).toBeInstanceOf(Light)
        expect(await contentOf(response)).toEqual(await contentOf(await handler(request())))
      }
    },
  )
})

it('passes the address of the client on', async () => {
  const clients: unknown[] = []
  const handler = await open()
  const answer: typeof handler.answer = (request) => {
    clients.push(request.client)
    return handler.answer(request)
  }
  await toFetchHandler({ answer })(new Request('http://localhost/'), { client: '192.0.2.1' })
  expect(clients).toEqual(['192.0.2.1'])
})

it('uses the class by which a server on Node has replaced the global one, also later', async () => {
  vi.stubGlobal('navigator', { userAgent: 'Node.js/24' })
  const handler = await open()
  const request = (): Request => new Request('http://localhost/api/v1/latest')
  expect(await handler(request())).not.toBeInstanceOf(LightResponse)
  vi.stubGlobal('Response', LightResponse)
  expect(await handler(request())).toBeInstanceOf(LightResponse)
  expect(await toFetchHandler(handler)(request())).toBeInstanceOf(LightResponse)
})

it.each<[FetchHandlerOptions, string]>([
  [Object({ Response: {} }), 'Response must be a class'],
  [Object({ response: Response }), 'response'],
])('refuses the options %j', async (options, message) => {
  const handler = await open()
  expect(() => toFetchHandler(handler, options)).toThrow(TypeError)
  expect(() => toFetchHandler(handler, options)).toThrow(message)
})
