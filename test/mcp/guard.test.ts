import { describe, expect, it } from 'vitest'

import { createAccess } from '../../src/access/index.ts'
import { createRatesHandler } from '../../src/index.ts'
import { createMcpHandler } from '../../src/mcp/index.ts'
import { recordedStore } from '../access/service.ts'
import { market } from '../fixtures/service.ts'

type Send = (request: Request, info: object) => Promise<Response>

const PLANS = { pro: '3/day', public: '2/day' } as const

/** Opens a bare handler of messages and one with a route for them, with the same access. */
async function openBoth() {
  const { store, keys } = await recordedStore([{ id: 'acme', plan: 'pro' }])
  const access = createAccess({ plans: PLANS, keys: store })
  const route = createRatesHandler({
    providers: market,
    access,
    routes: [{ path: '/mcp', post: (request, rates) => createMcpHandler(rates)(request) }],
  })
  const bare: Send = createMcpHandler(route.rates, { access })
  return { bare, route, key: keys[0] ?? '' }
}

async function send(
  handler: Send,
  sent: Record<string, string> = {},
  address = '127.0.0.1',
  query = '',
) {
  const accept = 'application/json, text/event-stream'
  const headers = { accept, 'content-type': 'application/json', ...sent }
  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
  const request = new Request(`http://localhost/mcp${query}`, { method: 'POST', headers, body })
  const response = await handler(request, { remoteAddr: { hostname: address } })
  return { response, status: response.status, text: await response.text() }
}

describe('messages to a handler with access', () => {
  it.each(['bare', 'route'] as const)('need a key and count for its plan: %s', async (kind) => {
    const { key, ...handlers } = await openBoth()
    for (const wrong of [{}, { 'x-api-key': `${key}x` }]) {
      const { response, text } = await send(handlers[kind], wrong)
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
      expect(JSON.parse(text).error.code).toBe('unauthorized')
    }
    for (const left of [2, 1, 0]) {
      const { response, text } = await send(handlers[kind], { authorization: `Bearer ${key}` })
      expect(response.headers.get('ratelimit')).toMatch(`"burst";r=${left};`)
      expect(text).toContain('get_history')
    }
    const { response, text } = await send(handlers[kind], { 'x-api-key': key })
    expect([response.status, JSON.parse(text).error.code]).toEqual([429, 'rate_limited'])
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it('count together with requests to /api/v1', async () => {
    const { bare, route, key } = await openBoth()
    const headers = { 'x-api-key': key }
    const getLatest = () => route(new Request('http://localhost/api/v1/latest', { headers }))
    for (const expected of [200, 429]) {
      const all = [await send(bare, headers), await send(route, headers), await getLatest()]
      expect(all.map(({ status }) => status)).toEqual([expected, expected, expected])
    }
  })

  it.each([
    ['of the connection', {}, (client: string) => ({ address: client })],
    ['behind proxies', { trustedProxies: 1 }, (client: string) => ({ 'x-forwarded-for': client })],
  ])('count without a key by the address %s', async (_, proxies, sentBy) => {
    const access = createAccess({ plans: PLANS, anonymous: 'public' })
    const { rates } = createRatesHandler({ providers: market })
    const handler = createMcpHandler(rates, { access, ...proxies })
    const statuses: number[] = []
    for (const client of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2']) {
      const { address, ...headers }: Record<string, string> = sentBy(client)
      statuses.push((await send(handler, headers, address)).status)
    }
    expect(statuses).toEqual([200, 200, 429, 200])
  })

  it('may have the key in the query', async () => {
    const { store, keys } = await recordedStore([{ id: 'acme', plan: 'pro' }])
    const access = createAccess({ plans: PLANS, keys: store, queryParameters: ['key'] })
    const { rates } = createRatesHandler({ providers: market })
    const handler: Send = createMcpHandler(rates, { access })
    expect((await send(handler, {}, '127.0.0.1', `?key=${keys[0]}`)).status).toBe(200)
  })
})
