import { describe, expect, test } from 'vitest'

import { ENDPOINTS } from './endpoints.ts'
import { compress, get, loadedHandler } from './loaded-handler.ts'

/** The only headers that may affect a response. */
const READ = new Set(['if-match', 'if-none-match', 'accept-encoding', 'host'])

const handler = await loadedHandler()
const targets = [...ENDPOINTS.map(({ target }) => target), '/api/v1/latest?base=ZZZ', '/nothing']

describe('the address of a client', () => {
  test('is not counted: 1,000 requests of one address get the same responses as of 1,000 addresses', async () => {
    const target = '/api/v1/latest?base=EUR'
    const plain = await get(handler, target)
    for (const addressOf of [() => '203.0.113.7', (number: number) => `2001:db8::${number}`]) {
      for (let number = 0; number < 1_000; number += 1) {
        const headers = { 'x-forwarded-for': addressOf(number) }
        expect(await get(handler, target, headers)).toEqual(plain)
      }
    }
  })

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
