import { describe, expect, test } from 'vitest'

import { ENDPOINTS } from './endpoints.ts'
import { compress, loadedHandler } from './loaded-handler.ts'

/** All properties that read the content of a request. */
const READERS = ['body', 'json', 'text', 'formData', 'arrayBuffer', 'blob', 'bytes', 'clone']

const handler = await loadedHandler()

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
