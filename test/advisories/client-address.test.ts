import { describe, expect, test } from 'vitest'

import { ENDPOINTS } from './endpoints.ts'
import { compress, fetchFrom, get, loadedHandler } from './loaded-handler.ts'

/** Headers by which a proxy says who asks, or a client makes it up. */
const HEADERS =
  `forwarded via x-forwarded x-forwarded-for x-original-forwarded-for x-real-ip x-client-ip client-ip
  true-client-ip cf-connecting-ip cf-connecting-ipv6 cf-ipcountry fastly-client-ip x-cluster-client-ip x-azure-clientip
  x-appengine-user-ip fly-client-ip x-envoy-external-address x-vercel-forwarded-for x-nf-client-connection-ip
  x-remote-addr remote-addr x-host x-proxyuser-ip wl-proxy-client-ip`.split(/\s+/)

const ADDRESSES =
  '127.0.0.1 | 203.0.113.7, 10.0.0.1 | ::1 | ::ffff:127.0.0.1 | 2001:0db8:0000:0000:0000:0000:0000:0001 | ' +
  'for="[2001:db8::1%25eth0]:80";by=unknown | unknown | 0177.0.0.1 | "'

/** The only headers that an answer depends on; all of them are in the contract. */
const READ = new Set(['if-none-match', 'accept-encoding', 'host'])

const handler = await loadedHandler()
const targets = [...ENDPOINTS.map(({ target }) => target), '/api/v1/latest?base=ZZZ', '/nothing']

describe('the address of a client', () => {
  test.each(targets)('changes no answer, whoever tells it: %s', async (target) => {
    const plain = await fetchFrom(handler, target)
    for (const address of ADDRESSES.split(' | ')) {
      const each = HEADERS.map((name) => ({ [name]: address }))
      for (const headers of [...each, Object.assign({}, ...each)]) {
        expect(await fetchFrom(handler, target, headers)).toEqual(plain)
      }
    }
  })

  test('is not counted: a thousand requests of one are answered as those of a thousand', async () => {
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
  ])('is not even looked for by %s, which reads few headers', async (_, asked) => {
    for (const target of targets) {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
        const read: string[] = []
        await asked.answer({ method, target, header: (name) => void read.push(name) })
        const request = new Request(`http://localhost${target}`, { method })
        const get = (name: string): null => (read.push(name), null)
        Object.defineProperty(request, 'headers', { value: { get } })
        await asked(request)
        expect(read.filter((name) => !READ.has(name))).toEqual([])
      }
    }
  })
})
