import { describe, expect, it } from 'vitest'

import { withCompression } from '../../src/cli/compression.ts'
import type { RawRequest } from '../../src/index.ts'
import {
  createHealth,
  createMetrics,
  withAccessLog,
  withRequestIds,
} from '../../src/monitoring/index.ts'
import { openService } from '../fixtures/service.ts'

const LATEST = '/api/v1/latest?base=EUR'
const write = (): void => {}

function wrap(handler: Parameters<typeof withCompression>[0]) {
  const codec = async (): Promise<never> => expect.unreachable()
  const compressed = withCompression(handler, { br: codec, gzip: codec })
  return withRequestIds(withAccessLog(compressed, { write }))
}

describe('wrappers', () => {
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
    const { handler } = openService()
    await handler.refresh()
    const request = { method, target, header: () => undefined }
    const { headers, ...plain } = await handler.answer(request)
    const { headers: wrapped, ...response } = await wrap(handler).answer(request)
    expect(response).toEqual(plain)
    const added = /^(vary|x-request-id|access-control-expose-headers)$/
    const others = (list: typeof headers) => list.filter(([name]) => !added.test(name))
    expect(others(wrapped)).toEqual(others(headers))
  })

  it('pass every part of a request on, also of a frozen one', async () => {
    const sent: RawRequest = Object.freeze({
      method: 'POST',
      target: LATEST,
      header: (name: string) => `value of ${name}`,
      client: '192.0.2.1',
      signal: AbortSignal.abort(),
      readBody: async (onChunk: (chunk: Uint8Array) => void) => onChunk(new Uint8Array([7])),
      unsentBytes: () => 7,
    })
    const [signal, chunks]: [AbortSignal, Uint8Array[]] = [AbortSignal.abort(), []]
    const partsOf = async (request: RawRequest): Promise<unknown[]> => {
      await request.readBody?.((chunk) => chunks.push(chunk), signal)
      const { method, target, client } = request
      return [method, target, client, request.header('a'), request.signal, request.unsentBytes?.()]
    }
    const seen: unknown[] = []
    const answer = async (request: RawRequest) => {
      seen.push(await partsOf(request))
      return { status: 204, headers: [], body: null, matched: true }
    }
    await wrap({ answer }).answer(sent)
    expect(seen).toEqual([await partsOf(sent)])
    expect(chunks).toHaveLength(2)
  })

  it('keep the members of their handler, and are fetch-style handlers', async () => {
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

  it.each([undefined, null, {}, () => new Response()])('need answer(): %s', (handler) => {
    // @ts-expect-error a handler must have answer()
    expect(() => withRequestIds(handler)).toThrow(/^handler must have answer\(\)/)
    // @ts-expect-error a handler must have answer()
    expect(() => withAccessLog(handler, { write })).toThrow(/^handler must have answer\(\)/)
  })
})
