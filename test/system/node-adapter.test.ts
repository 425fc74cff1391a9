import { connect } from 'node:net'

import { describe, expect, it, onTestFinished } from 'vitest'

import { serve, toNodeHandler } from '../../adapters/node.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { Answer, AnswerRequest } from '../../src/index.ts'
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

  it.each([
    ['GET /nope', 'a/api/v1/convert?from=USD&to=EUR&x=', 404],
    ['GET /nope', 'a/api/v1/latest#', 404],
    ['GET /api/v1/latest?base=EUR', 'x/abc?', 200],
    ['GET /api/v1/latest?base=EUR', 'a\\b', 200],
    ['GET /api/v1/latest?base=EUR', 'a?base=GBP&', 200],
    ['GET /api/v1/latest?base=EUR', '<script>', 200],
    ['GET /api/v1/latest?base=EUR', '[::1', 200],
    ['GET /api/v1/latest?base=EUR', '[::1]:80', 200],
    ['GET /api/v1/latest?base=EUR', '', 200],
    ['GET http://other.example/api/v1/latest?base=EUR', 'localhost', 200],
    ['GET //other.example/api/v1/latest?base=EUR', 'localhost', 404],
  ])('lets no Host choose what is answered: %s, Host %s', async (line, host, status) => {
    const handler = createRatesHandler({ providers: fakeProviders() })
    const { url } = await listen(toNodeHandler(handler))
    const answer = await sendRaw(
      url,
      `${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    )
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answer).toContain(status === 200 ? '"base":"EUR"' : '"code":"not_found"')
  })

  it('ends a connection over which it cannot send an answer, and only that', async () => {
    const answer = async ({ target }: { target: string }): Promise<Answer> => ({
      status: 200,
      headers: target === '/bad' ? [['x-bad', 'a\nb']] : [],
      body: 'fine',
      matched: true,
    })
    const { url } = await listen(toNodeHandler(Object.assign(notAsked, { answer })))
    await expect(fetch(`${url}/bad`)).rejects.toThrow('fetch failed')
    expect(await (await fetch(url)).text()).toBe('fine')
  })

  it('stops the waiting of a client that has left', async () => {
    const signals: (AbortSignal | undefined)[] = []
    const answer = ({ signal }: AnswerRequest): Promise<Answer> => {
      signals.push(signal)
      return new Promise(() => {})
    }
    const { url } = await listen(toNodeHandler(Object.assign(notAsked, { answer })))
    const leaving = new AbortController()
    const left = fetch(url, { signal: leaving.signal })
    await expect.poll(() => signals.length).toBe(1)
    expect(signals[0]?.aborted).toBe(false)
    leaving.abort()
    await expect(left).rejects.toThrow('aborted')
    await expect.poll(() => signals[0]?.aborted).toBe(true)
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

describe('serve()', () => {
  it('ends a connection whose client does not come to an end with its headers', async () => {
    const server = await serve(createRatesHandler({ providers: fakeProviders() }), { port: 0 })
    onTestFinished(() => server.stop())
    const answer = await sendRaw(server.url, 'GET / HTTP/1.1\r\nHost: lo', { isOpen: true })
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
  })

  it('is refused a port that is taken', async () => {
    const first = await serve(notAsked, { port: 0 })
    onTestFinished(() => first.stop())
    const port = Number(new URL(first.url).port)
    await expect(serve(notAsked, { port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})

function notAsked(): never {
  throw new Error('not to be asked')
}

/** What comes back for `text`, written as it is. */
async function sendRaw(url: string, text: string, { isOpen = false } = {}): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  if (isOpen) socket.write(text)
  else socket.end(text)
  let answer = ''
  for await (const chunk of socket) answer += String(chunk)
  return answer
}
