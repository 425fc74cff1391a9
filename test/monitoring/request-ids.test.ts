import { describe, expect, it } from 'vitest'

import { createAccess, createKey } from '../../src/access/index.ts'
import type { LatestProvider } from '../../src/index.ts'
import { withRequestIds } from '../../src/monitoring/index.ts'
import { market, openService } from '../fixtures/service.ts'

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

const PUBLIC = '/api/v1/latest'
const UNCACHED = '/api/v1/status'

function open(options: Parameters<typeof openService>[0] = {}) {
  const service = openService(options)
  const handler = withRequestIds(service.handler)
  const request = (target: string, id?: string) =>
    handler.fetch(
      new Request(
        `http://localhost${target}`,
        id === undefined ? {} : { headers: { 'x-request-id': id } },
      ),
    )
  return { ...service, plain: service.handler, handler, request }
}

/** Creates providers whose attribution throws after `fail()`, which is an internal error. */
function breakable() {
  const state = { fails: false }
  const attribution = {
    get name() {
      if (state.fails) throw new Error('broken')
      return 'Breakable'
    },
    url: 'https://broken.example',
  }
  const { fetchLatest } = market.latest
  const latest: LatestProvider = { attribution, fetchLatest }
  return { providers: { latest, history: false } as const, fail: () => void (state.fails = true) }
}

describe('request ids', () => {
  const UUID_OF_CLIENT = '3f2b8f5e-3b0e-4b0c-9f0e-0c6a3ce1d6c1'
  it.each(['a', '0', 'req_4711', 'Root-1.67891233-abcdef', 'a'.repeat(128), UUID_OF_CLIENT])(
    'are taken from the request: %s',
    async (id) => {
      const { request } = open()
      expect((await request(UNCACHED, id)).headers.get('x-request-id')).toBe(id)
    },
  )

  const MALFORMED = 'a,b a" é <a> rsk_1234567890 x-RSK_1234567890 a\u0085b'.split(' ')
  it.each(['', ' ', 'a b', 'a'.repeat(129), ...MALFORMED])(
    'are made where that of the request is not well formed: %j',
    async (id) => {
      const { handler } = open()
      const header = (name: string) => (name === 'x-request-id' ? id : undefined)
      const { headers } = await handler.answer({ method: 'GET', target: UNCACHED, header })
      expect(Object.fromEntries(headers)['x-request-id']).toMatch(UUID)
    },
  )

  it('are made for each request without one', async () => {
    const { request } = open()
    const ids = [1, 2, 3].map(async () => (await request(UNCACHED)).headers.get('x-request-id'))
    const made = await Promise.all(ids)
    expect(new Set(made).size).toBe(3)
    expect(made.join('\n')).toMatch(new RegExp(UUID, 'm'))
  })

  it('are taken from an outer wrapper first, and are on a response once', async () => {
    const twice = withRequestIds(open().handler)
    const header = (name: string) => (name === 'x-request-id' ? 'inner' : undefined)
    const request = { method: 'GET', target: UNCACHED, header, requestId: 'outer' }
    const { headers } = await twice.answer(request)
    expect(headers.filter(([name]) => name === 'x-request-id')).toEqual([['x-request-id', 'outer']])
  })

  it('do not change a public response', async () => {
    const { request, plain } = open()
    await request(PUBLIC)
    const expected = await plain(new Request(`http://localhost${PUBLIC}`))
    const response = await request(PUBLIC, 'a')
    expect([...response.headers]).toEqual([...expected.headers])
    expect(await response.text()).toBe(await expected.text())
    const tag = expected.headers.get('etag') ?? ''
    const revalidated = await open().handler.fetch(
      new Request(`http://localhost${PUBLIC}`, { headers: { 'if-none-match': tag } }),
    )
    expect(revalidated.headers.has('x-request-id')).toBe(false)
  })

  it('do not change the response to a path of others, or to a preflight', async () => {
    const { handler } = open()
    const about = { header: () => undefined }
    const other = await handler.answer({ ...about, method: 'GET', target: '/other' })
    const preflight = await handler.answer({ ...about, method: 'OPTIONS', target: PUBLIC })
    for (const { headers } of [other, preflight]) {
      expect(headers.flat().join()).not.toMatch(/x-request-id/i)
    }
  })

  it('are on errors, and scripts of other origins may read them', async () => {
    const { request, plain } = open()
    const response = await request('/api/v1/convert?from=USD', 'a')
    const exposed = 'access-control-expose-headers'
    const plainResponse = await plain(new Request('http://localhost/api/v1/convert?from=USD'))
    expect(response.status).toBe(400)
    expect(response.headers.get('x-request-id')).toBe('a')
    expect(response.headers.get(exposed)).toBe(
      `${plainResponse.headers.get(exposed)}, X-Request-Id`,
    )
    const unversioned = await request('/api/convert?from=USD', 'a')
    expect(unversioned.headers.get('x-request-id')).toBe('a')
    expect(unversioned.headers.has(exposed)).toBe(false)
  })

  it('are on private responses, which needed a key', async () => {
    const { key } = await createKey()
    const access = createAccess({
      plans: { free: '60/min' },
      keys: { find: () => ({ id: 'k', plan: 'free' }) },
    })
    const { handler } = open({ access })
    const headers = { 'x-api-key': key, 'x-request-id': 'a' }
    const response = await handler.fetch(new Request(`http://localhost${PUBLIC}`, { headers }))
    expect(response.headers.get('cache-control')).toMatch(/^private/)
    expect(response.headers.get('x-request-id')).toBe('a')
  })

  it('are in internal_error events, and in the summaries of responses', async () => {
    const { providers, fail } = breakable()
    const { request, eventsOf, plain } = open({ providers })
    const ids: unknown[] = []
    await plain.refresh()
    fail()
    plain.subscribe({ onResponse: (response) => ids.push(response.request.requestId) })
    const response = await request(PUBLIC, 'abc')
    expect(response.status).toBe(500)
    expect(response.headers.get('x-request-id')).toBe('abc')
    expect(eventsOf('internal_error').map(({ requestId }) => requestId)).toEqual(['abc'])
    expect(ids).toEqual(['abc'])
  })
})
