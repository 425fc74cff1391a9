import { describe, expect, it } from 'vitest'

import { createAccess, createKey } from '../../src/access/index.ts'
import { withRequestIds } from '../../src/monitoring/index.ts'
import { market, openService } from '../fixtures/service.ts'

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

const PUBLIC = '/api/v1/latest'
const UNCACHED = '/api/v1/status'

function open(options: Parameters<typeof openService>[0] = {}) {
  const service = openService(options)
  const handler = withRequestIds(service.handler)
  const plain = (target: string, headers: Record<string, string> = {}) =>
    service.handler(new Request(`http://localhost${target}`, { headers }))
  const request = (target: string, id?: string, headers: Record<string, string> = {}) => {
    const all = id === undefined ? headers : { ...headers, 'x-request-id': id }
    return handler.fetch(new Request(`http://localhost${target}`, { headers: all }))
  }
  return { ...service, plain, wrapped: handler, request }
}

describe('request ids', () => {
  const UUID_OF_CLIENT = '3f2b8f5e-3b0e-4b0c-9f0e-0c6a3ce1d6c1'
  it.each(['a', '0', 'req_4711', 'Root-1.67891233-abcdef', 'a'.repeat(128), UUID_OF_CLIENT])(
    'are taken from the request: %s',
    async (id) => {
      expect((await open().request(UNCACHED, id)).headers.get('x-request-id')).toBe(id)
    },
  )

  const MALFORMED = 'a,b a" é <a> rsk_1234567890 x-RSK_1234567890 a\u0085b'.split(' ')
  it.each([undefined, '', ' ', 'a b', 'a'.repeat(129), ...MALFORMED])(
    'are made for each request without a well-formed one: %j',
    async (id) => {
      const { wrapped } = open()
      const header = (name: string) => (name === 'x-request-id' ? id : undefined)
      const ids = [1, 2].map(async () => {
        const { headers } = await wrapped.answer({ method: 'GET', target: UNCACHED, header })
        return Object.fromEntries(headers)['x-request-id'] ?? ''
      })
      const [one = '', other = ''] = await Promise.all(ids)
      expect([one, other]).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)])
      expect(one).not.toBe(other)
    },
  )

  it('are taken from an outer wrapper first, and are on a response once', async () => {
    const header = (name: string) => (name === 'x-request-id' ? 'inner' : undefined)
    const request = { method: 'GET', target: UNCACHED, header, requestId: 'outer' }
    const { headers } = await withRequestIds(open().wrapped).answer(request)
    expect(headers.filter(([name]) => name === 'x-request-id')).toEqual([['x-request-id', 'outer']])
  })

  it('do not change a public response, a path of others or a preflight', async () => {
    const { request, plain, wrapped } = open()
    await request(PUBLIC)
    const expected = await plain(PUBLIC)
    const response = await request(PUBLIC, 'a')
    expect([...response.headers]).toEqual([...expected.headers])
    expect(await response.text()).toBe(await expected.text())
    const tag = expected.headers.get('etag') ?? ''
    const revalidated = await request(PUBLIC, undefined, { 'if-none-match': tag })
    expect([revalidated.status, revalidated.headers.has('x-request-id')]).toEqual([304, false])
    for (const sent of [
      { method: 'GET', target: '/other' },
      { method: 'OPTIONS', target: PUBLIC },
    ]) {
      const { headers } = await wrapped.answer({ ...sent, header: () => undefined })
      expect(headers.flat().join()).not.toMatch(/x-request-id/i)
    }
  })

  it('are on errors, and scripts of other origins may read them', async () => {
    const { request, plain } = open()
    const response = await request('/api/v1/convert?from=USD', 'a')
    const exposed = 'access-control-expose-headers'
    const own = (await plain('/api/v1/convert?from=USD')).headers.get(exposed)
    expect(response.status).toBe(400)
    expect(response.headers.get('x-request-id')).toBe('a')
    expect(response.headers.get(exposed)).toBe(`${own}, X-Request-Id`)
    const unversioned = await request('/api/convert?from=USD', 'a')
    expect(unversioned.headers.get('x-request-id')).toBe('a')
    expect(unversioned.headers.has(exposed)).toBe(false)
  })

  it('are on private responses, which needed a key', async () => {
    const { key } = await createKey()
    const keys = { find: () => ({ id: 'k', plan: 'free' }) }
    const { request } = open({ access: createAccess({ plans: { free: '60/min' }, keys }) })
    const { headers } = await request(PUBLIC, 'a', { 'x-api-key': key })
    expect(headers.get('cache-control')).toMatch(/^private/)
    expect(headers.get('x-request-id')).toBe('a')
  })

  it('are in internal_error events, and in the summaries of responses', async () => {
    let isBroken = false
    const attribution = {
      get name() {
        if (isBroken) throw new Error('broken')
        return 'Breakable'
      },
      url: 'https://broken.example',
    }
    const { fetchLatest } = market.latest
    const providers = { latest: { attribution, fetchLatest }, history: false } as const
    const { request, eventsOf, handler } = open({ providers })
    const ids: unknown[] = []
    await handler.refresh()
    isBroken = true
    handler.subscribe({ onResponse: (response) => ids.push(response.request.requestId) })
    const { status, headers } = await request(PUBLIC, 'abc')
    expect([status, headers.get('x-request-id'), ids]).toEqual([500, 'abc', ['abc']])
    expect(eventsOf('internal_error')).toMatchObject([{ requestId: 'abc' }])
  })
})
