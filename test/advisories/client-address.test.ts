import { describe, expect, test } from 'vitest'

import { ENDPOINTS } from './endpoints.ts'
import { compress, loadedHandler } from './loaded-handler.ts'

/** The only headers that may affect a response, with values that lead to different responses. */
const READ: Readonly<Record<string, string>> = {
  'if-match': '"other"',
  'if-none-match': '*',
  'accept-encoding': 'gzip',
  host: 'other.example',
}

const HANDLERS = {
  'the handler': await loadedHandler(),
  'the handler with compression': compress(await loadedHandler()),
  'a handler with CORS on all paths': await loadedHandler({ cors: 'all' }),
  'a handler without CORS': await loadedHandler({ cors: 'off' }),
}

const targets = [
  ...ENDPOINTS.map(({ target }) => target),
  '/api/v1/latest?base=ZZZ',
  '/api/v1/unknown',
  '/nothing',
]

/** With no header, each alone, and all. */
const SENT = [{}, ...Object.entries(READ).map((header) => Object.fromEntries([header])), READ]

/** Neither addresses nor origins, other hosts of proxies, or names of properties of all objects. */
describe('any other header than ETags, codings and Host', () => {
  test.each(Object.entries(HANDLERS))('is not read by %s', async (name, subject) => {
    const isRead = (header: string): boolean =>
      Object.hasOwn(READ, header) && (header !== 'accept-encoding' || name.includes('compression'))
    for (const target of targets) {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
        for (const sent of SENT) {
          const read: string[] = []
          const get = (name: string): string | null => (read.push(name), sent[name] ?? null)
          const { status } = await subject.answer({ method, target, header: get })
          const request = new Request(`http://localhost${target}`, { method })
          Object.defineProperty(request, 'headers', { value: { get } })
          expect((await subject(request)).status).toBe(status)
          expect(status).toBeLessThan(500)
          expect(read.filter((header) => !isRead(header))).toEqual([])
        }
      }
    }
  })
})
