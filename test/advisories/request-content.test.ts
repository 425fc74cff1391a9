import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { send } from '../catalogue/catalogue.ts'
import { ENDPOINTS, SEED } from './endpoints.ts'
import { loadedHandler } from './loaded-handler.ts'

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

const handler = await loadedHandler()

describe.each(ENDPOINTS)('on $path', ({ target }) => {
  test('content of any type does not change the response', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
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

  test('no way to the content is taken', async () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
      const request = new Request(`http://localhost${target}`, { method })
      const taken: string[] = []
      for (const name of READERS) {
        Object.defineProperty(request, name, { get: () => taken.push(name) })
      }
      const { status } = await handler(request)
      expect([method, status, taken]).toEqual([method, STATUSES[method], []])
    }
  })
})

const STATUSES: Record<string, number> = { GET: 200, HEAD: 200, OPTIONS: 204, POST: 405 }
