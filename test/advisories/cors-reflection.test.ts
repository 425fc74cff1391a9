import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { send } from '../catalogue/catalogue.ts'
import type { RequestData } from '../catalogue/catalogue.ts'
import { ENDPOINTS, SEED } from './endpoints.ts'
import { loadedHandler } from './loaded-handler.ts'

const open = await loadedHandler({ cors: 'all' })
const closed = await loadedHandler({ cors: 'off' })
const handlers = [await loadedHandler({ cors: 'v1' }), open, closed]

const requests: RequestData[] = [
  ...ENDPOINTS.map(({ target }) => ({ method: 'GET', target })),
  { method: 'GET', target: '/api/v1/latest', headers: { 'if-none-match': '*' } },
  { method: 'GET', target: '/api/v1/latest?base=ZZZ' },
  { method: 'HEAD', target: '/api/v1/history?from=EUR&to=USD' },
  { method: 'POST', target: '/api/v1/convert' },
  { method: 'GET', target: '/api/v1/unknown' },
  { method: 'GET', target: '/elsewhere' },
  { method: 'OPTIONS', target: '/api/v1/latest' },
  { method: 'OPTIONS', target: '/api/v1/unknown' },
  { method: 'OPTIONS', target: '/api/rates' },
]

const printable = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
})
const origin = fc.oneof(
  fc.constantFrom('null', '*', '', 'https://app.example', 'file://', 'https://a.example, *'),
  fc.webUrl(),
  printable,
)

test('responses are equal for 1,000 random origins, and never allow credentials', async () => {
  const [anyQuestion, anyHandler] = [fc.constantFrom(...requests), fc.constantFrom(...handlers)]
  const property = fc.asyncProperty(
    origin,
    anyQuestion,
    anyHandler,
    async (sent, request, subject) => {
      const headers = { ...request.headers, origin: sent }
      const response = await send(subject, { ...request, headers })
      expect(response).toEqual(await send(subject, request))
      expect(response.headers).not.toHaveProperty('access-control-allow-credentials')
      expect(response.headers['access-control-allow-origin'] ?? '*').toBe('*')
    },
  )
  await fc.assert(property, { ...SEED, numRuns: 1_000 })
})

test.each(requests)('CORS adds only headers to $method $target', async (request) => {
  const { headers, ...other } = await send(open, request)
  const { headers: fewer, ...same } = await send(closed, request)
  expect(other).toEqual(same)
  expect(headers).toMatchObject(fewer)
  expect(headers['access-control-allow-origin']).toBe('*')
  expect(fewer).not.toHaveProperty('access-control-allow-origin')
})

test.each(requests)('every header occurs once on $method $target', async ({ method, target }) => {
  for (const handler of handlers) {
    const { headers } = await handler.answer({ method, target, header: () => '*' })
    const names = headers.map(([name]) => name)
    expect(names).toEqual([...new Set(names)])
  }
})
