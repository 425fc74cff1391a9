import { expect, test } from 'vitest'

import { send } from '../catalogue/catalogue.ts'
import type { RequestData } from '../catalogue/catalogue.ts'
import { ENDPOINTS } from './endpoints.ts'
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

test.each(requests)('CORS adds only headers to $method $target', async (request) => {
  const { headers, ...other } = await send(open, request)
  const { headers: fewer, ...same } = await send(closed, request)
  expect(other).toEqual(same)
  expect(headers).toMatchObject(fewer)
  expect(headers['access-control-allow-origin']).toBe('*')
  expect(headers).not.toHaveProperty('access-control-allow-credentials')
  expect(fewer).not.toHaveProperty('access-control-allow-origin')
})

test.each(requests)('every header occurs once on $method $target', async ({ method, target }) => {
  for (const handler of handlers) {
    const { headers } = await handler.answer({ method, target, header: () => '*' })
    const names = headers.map(([name]) => name)
    expect(names).toEqual([...new Set(names)])
  }
})
