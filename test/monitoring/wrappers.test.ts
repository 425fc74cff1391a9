import { promisify } from 'node:util'
import { brotliCompress, gunzipSync, gzip } from 'node:zlib'

import { describe, expect, it } from 'vitest'

import { createAccess } from '../../src/access/index.ts'
import { withCompression } from '../../src/cli/compression.ts'
import type { RawRequest, RawResponse } from '../../src/index.ts'
import {
  createHealth,
  createMetrics,
  withAccessLog,
  withRequestIds,
} from '../../src/monitoring/index.ts'
import { market, openService } from '../fixtures/service.ts'
import { listenersLeftBy, settled } from '../virtual-runtime.ts'

const CODECS: Parameters<typeof withCompression>[1] = {
  br: async (body) => new Uint8Array(await promisify(brotliCompress)(body)),
  gzip: async (body) => new Uint8Array(await promisify(gzip)(body)),
}

const LATEST = '/api/v1/latest?base=EUR'

/** Larger than 16 kB, and thus computed and compressed as expensive work. */
const EXPENSIVE = '/api/v1/history?from=USD&to=JPY&period=5Y'

type Service = ReturnType<typeof openService>['handler']

const lines: string[] = []

const write = (line: string): void => void lines.push(line)

interface Stack {
  (request: Request): Promise<Response>
  answer: Service['answer']
}

/** Stacks of wrappers, with compression at every place. */
const STACKS: Record<string, (handler: Service) => Stack> = {
  'compression inside': (handler) =>
    withRequestIds(withAccessLog(withCompression(handler, CODECS), { write })),
  'compression outside': (handler) =>
    withCompression(withRequestIds(withAccessLog(handler, { write })), CODECS),
  'compression between': (handler) =>
    withRequestIds(withCompression(withAccessLog(handler, { write }), CODECS)),
}

function requestOf(
  target: string,
  given: Partial<Omit<RawRequest, 'headers'>> & { headers?: object } = {},
) {
  const { headers = {}, ...more } = given
  const header = (name: string): string | undefined => Reflect.get(headers, name)
  return { method: 'GET', target, header, ...more }
}

function headersOf({ headers }: RawResponse) {
  const {
    'x-request-id': _id,
    'access-control-expose-headers': _exposed,
    ...rest
  } = Object.fromEntries(headers)
  return rest
}

describe.each(Object.entries(STACKS))('wrappers with %s', (_name, stack) => {
  async function open(options: Parameters<typeof openService>[0] = {}) {
    const service = openService(options)
    await service.handler.refresh()
    return { ...service, wrapped: stack(service.handler) }
  }

  it.each([
    ['GET', LATEST],
    ['HEAD', LATEST],
    ['OPTIONS', LATEST],
    ['DELETE', LATEST],
    ['GET', '/api/v1/convert?from=USD&to=XXX'],
    ['GET', '/api/convert'],
    ['GET', '/other'],
    ['GET', '//'],
  ])('return the same response as the handler: %s %s', async (method, target) => {
    const { handler, wrapped } = await open()
    const plain = await handler.answer(requestOf(target, { method }))
    const response = await wrapped.answer(requestOf(target, { method }))
    const { vary: _, ...headers } = headersOf(response)
    expect({ ...response, headers }).toEqual({ ...plain, headers: headersOf(plain) })
  })

  it('count a request once that gets a 412', async () => {
    const access = createAccess({
      plans: { free: '10/min' },
      anonymous: 'free',
      client: () => '192.0.2.1',
    })
    const { wrapped } = await open({ access })
    const headers = { 'if-match': '"other"' }
    const statuses: number[] = []
    for (let number = 0; number < 12; number += 1) {
      const { status } = await wrapped.answer(requestOf(LATEST, { headers }))
      statuses.push(status)
    }
    const counted = Array.from(statuses, (_, index) => (index < 10 ? 412 : 429))
    expect(statuses).toEqual(counted)
  })

  it('read the body of a fetch request', async () => {
    const { handler, wrapped } = await open()
    const rows = Array.from({ length: 20 }, () => ({ from: 'USD', to: 'EUR' }))
    const request = new Request('http://localhost/api/v1/convert', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-encoding': 'gzip' },
      body: JSON.stringify(rows),
    })
    const expected = await (await handler(request.clone())).text()
    const response = await wrapped(request)
    expect([response.status, response.headers.get('content-encoding')]).toEqual([200, 'gzip'])
    const body = gunzipSync(new Uint8Array(await response.arrayBuffer())).toString()
    expect(body).toBe(expected)
  })

  it('pass on what waits for clients to read', async () => {
    const { wrapped } = await open()
    const unsentBytes = (): number => 1e9
    const refused = await wrapped.answer(requestOf(EXPENSIVE, { unsentBytes }))
    expect(refused.status).toBe(503)
    expect(await wrapped.answer(requestOf(LATEST, { unsentBytes }))).toMatchObject({ status: 200 })
  })

  it('write a line for a response, with the id of its request', async () => {
    const { wrapped } = await open()
    lines.length = 0
    await wrapped.answer(requestOf(LATEST, { headers: { 'x-request-id': 'abc' } }))
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(['abc'])
  })

  it('end the reading of a body when the client disconnects', async () => {
    const { handler, wrapped, eventsOf } = await open()
    const request = requestOf('/api/v1/convert', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      readBody: () => Promise.reject(new Error('disconnected')),
    })
    const { status, body } = await handler.answer(request)
    expect(await wrapped.answer(request)).toMatchObject({ status, body })
    expect(eventsOf('internal_error')).toEqual([])
  })

  it('end a wait when the client disconnects, and leave no listener', async () => {
    const never = { ...market.latest, fetchLatest: () => new Promise<never>(() => {}) }
    const service = openService({ providers: { latest: never, history: false } })
    const wrapped = stack(service.handler)
    const listeners = await listenersLeftBy(async () => {
      const controller = new AbortController()
      const wait = wrapped.answer(requestOf(LATEST, { signal: controller.signal }))
      await settled()
      controller.abort()
      await service.runtime.advance(10_000)
      expect((await wait).status).toBe(502)
    })
    service.handler.close()
    expect(listeners).toBe(0)
  })
})

describe('a wrapper', () => {
  it('keeps the members of its handler, and is a fetch-style handler', async () => {
    const { handler } = openService()
    const wrapped = withRequestIds(withAccessLog(handler, { write }))
    const { answer: _, fetch: _fetch, ...members } = handler
    expect({ ...wrapped }).toMatchObject(members)
    const request = new Request(`http://localhost${LATEST}`)
    const [called, fetched] = [await wrapped(request), await wrapped.fetch(request)]
    expect([called.status, fetched.status]).toEqual([200, 200])
    expect(await called.text()).toBe(await fetched.text())
    expect(createMetrics(wrapped).text()).toContain('ratesmith_data_ready{data_set="latest"} 1')
    expect(createHealth(wrapped).ready().status).toBe(503)
  })

  it.each([undefined, null, {}, () => new Response()])('needs answer(): %s', (handler) => {
    // @ts-expect-error a handler must have answer()
    expect(() => withRequestIds(handler)).toThrow(/^handler must have answer\(\)/)
    // @ts-expect-error a handler must have answer()
    expect(() => withAccessLog(handler, { write })).toThrow(/^handler must have answer\(\)/)
  })
})
