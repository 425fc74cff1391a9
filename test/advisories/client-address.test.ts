import { describe, expect, test } from 'vitest'

import { ENDPOINTS } from './endpoints.ts'
import { compress, loadedHandler } from './loaded-handler.ts'

/** The only headers that may affect a response. */
const READ = new Set(['if-match', 'if-none-match', 'accept-encoding', 'host'])

const handler = await loadedHandler()
const targets = [...ENDPOINTS.map(({ target }) => target), '/api/v1/latest?base=ZZZ', '/nothing']

describe('the address of a client', () => {
  test.each([
    ['the handler', handler],
    ['the handler with compression', compress(handler)],
  ])('is not read by %s', async (_, subject) => {
    for (const target of targets) {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
        const read: string[] = []
        await subject.answer({ method, target, header: (name) => void read.push(name) })
        const request = new Request(`http://localhost${target}`, { method })
        const get = (name: string): null => (read.push(name), null)
        Object.defineProperty(request, 'headers', { value: { get } })
        await subject(request)
        expect(read.filter((name) => !READ.has(name))).toEqual([])
      }
    }
  })
})
