import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { send } from '../catalogue/catalogue.ts'
import { ENDPOINTS, SEED } from './endpoints.ts'
import { compress, loadedHandler } from './loaded-handler.ts'

const JSONS = ['', ' ; charset=utf-8', '\tx', '; charset=utf-7', ', text/plain']

const TYPES = [
  JSONS.map((ending) => `application/json${ending}`),
  ['Application/JSON', 'application/x-www-form-urlencoded', 'text/plain;charset=', 'text/xml'],
  ['multipart/form-data; boundary=x', 'multipart/form-data; boundary='],
  [';', '/', 'a/b;'.repeat(100)],
].flat()

const BODIES = [
  'base=EUR&symbols=GBP&from=EUR&to=GBP&_method=GET',
  '{"base":"EUR","from":"EUR","to":"GBP","__proto__":{"base":"EUR"}}',
  '--x\r\nContent-Disposition: form-data; name="base"\r\n\r\nEUR\r\n--x--\r\n',
  '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
  '{',
]

/** All properties that read the content of a request. */
const READERS = ['body', 'json', 'text', 'formData', 'arrayBuffer', 'blob', 'bytes', 'clone']

/** The only endpoint that reads bodies, by `POST` with a type that it supports. */
const READS_BODIES = '/api/v1/convert'

const handler = await loadedHandler()

describe.each(ENDPOINTS)('on $path', ({ path, target }) => {
  const methods = ['POST', 'PUT', 'PATCH', 'DELETE']

  test('content of any type does not change the response', async () => {
    for (const method of path === READS_BODIES ? methods.slice(1) : methods) {
      const plain = await send(handler, { method, target })
      expect(plain.status).toBe(405)
      const type = fc.oneof(fc.constantFrom(...TYPES), fc.base64String())
      await fc.assert(
        fc.asyncProperty(type, fc.constantFrom(...BODIES), async (contentType, body) => {
          const headers = { 'content-type': contentType }
          const request = new Request(`http://localhost${target}`, { method, headers, body })
          const response = await handler(request)
          expect([response.status, await response.text()]).toEqual([405, plain.body])
        }),
        { ...SEED, numRuns: 50 },
      )
    }
  })
})

describe.each([
  ['the handler', handler],
  ['the handler with compression', compress(handler)],
])('a request with an endless body to %s', (_, subject) => {
  test.each([...ENDPOINTS.map(({ path }) => path), '/api/unknown', '/'])(
    'is never read on %s',
    async (path) => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']) {
        let reads = 0
        const taken: string[] = []
        const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
          reads += 1
          controller.enqueue(new Uint8Array(65_536))
        }
        const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 })
        const init = { method, body, duplex: 'half' }
        const request = new Request(`http://localhost${path}`, init)
        for (const name of READERS) {
          Object.defineProperty(request, name, { get: () => void taken.push(name) })
        }
        const response = await subject(request)
        expect(response.status, method).toBeLessThan(500)
        expect(response.status, method).not.toBe(200)
        await response.text()
        expect([method, reads, request.bodyUsed, taken]).toEqual([method, 0, false, []])
      }
    },
  )
})
