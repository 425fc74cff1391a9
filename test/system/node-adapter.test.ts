import { connect } from 'node:net'

import { describe, expect, it } from 'vitest'

import { toNodeHandler } from '../../adapters/node.ts'
import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { listen } from './processes.ts'

describe('toNodeHandler()', () => {
  it('answers on a socket as the handler does in process', async () => {
    const handler = createRatesHandler({ providers: fakeProviders() })
    const { url } = await listen(toNodeHandler(handler))
    const requests = [
      ['GET', '/api/v1/latest'],
      ['HEAD', '/api/v1/latest'],
      ['GET', '/api/v1/history?from=USD&to=EUR&period=5Y'],
      ['OPTIONS', '/api/v1/latest'],
      ['POST', '/api/v1/latest'],
      ['GET', '/api/convert?from=US&to=EUR'],
      ['GET', '/none'],
    ] as const
    for (const [method, target] of requests) {
      const expected = await handler(new Request(`http://localhost${target}`, { method }))
      const response = await fetch(url + target, { method })
      expect(response.status).toBe(expected.status)
      expect(await response.text()).toBe(await expected.text())
      const names = [...expected.headers.keys()].filter((name) => name !== 'cache-status')
      for (const name of names) {
        expect(response.headers.get(name), name).toBe(expected.headers.get(name))
      }
    }
  })

  it('hides what a failing handler throws', async () => {
    const { url } = await listen(
      toNodeHandler(async () => {
        throw new Error('secret')
      }),
    )
    const response = await fetch(url)
    expect(response.status).toBe(500)
    expect(await response.text()).toBe('')
  })

  it('lives on when a client leaves before its answer', async () => {
    const waiting: (() => void)[] = []
    const { url } = await listen(
      toNodeHandler(async (request) => {
        if (request.url.endsWith('/slow')) await new Promise<void>((go) => waiting.push(go))
        return new Response('answer'.repeat(100_000))
      }),
    )
    const { port } = new URL(url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.write('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await expect.poll(() => waiting.length).toBe(1)
    socket.destroy()
    for (const go of waiting) go()
    expect((await fetch(url)).status).toBe(200)
  })
})
