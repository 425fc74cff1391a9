import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'

import express from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'

import { toExpressHandler } from '../../adapters/express.ts'
import { toNodeHandler } from '../../adapters/node.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { RatesEvent } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { listen } from '../system/processes.ts'
import { listenOnFreePort, openSocket, portIn, sendRaw } from '../system/sockets.ts'

const events: RatesEvent[] = []
const handler = createRatesHandler({
  providers: fakeProviders(),
  onEvent: (event) => void events.push(event),
})
const fetchStyle = (request: Request): Promise<Response> => handler(request)

const PATH = '/api/v1/convert'
const ROWS = JSON.stringify([{ from: 'USD', to: 'EUR', amount: 5 }, { from: 'USD' }])
const CSV = 'from,to,amount\r\nUSD,EUR,5\r\nUSD,,1\r\n'
const JSON_TYPE = 'application/json'

const mounted = toExpressHandler(handler)

const MOUNTS: [name: string, listener: RequestListener][] = [
  ['toNodeHandler()', toNodeHandler(handler)],
  ['toNodeHandler() for a fetch-style handler', toNodeHandler(fetchStyle)],
  ['toExpressHandler()', express().use(mounted)],
  [
    'toExpressHandler() after express.json()',
    express().use(express.json({ limit: '2mb' }), mounted),
  ],
  [
    'toExpressHandler() after express.text() and express.raw()',
    express().use(
      express.text({ type: 'text/csv', limit: '2mb' }),
      express.raw({ type: JSON_TYPE, limit: '2mb' }),
      mounted,
    ),
  ],
]

async function expected(type: string, body: string): Promise<string> {
  const headers = { 'content-type': type }
  const init = { method: 'POST', body, headers }
  return (await handler(new Request(`http://localhost${PATH}`, init))).text()
}

describe.each(MOUNTS)('%s', (name, listener) => {
  it('reads the body of many conversions', async () => {
    const { url } = await listen(listener)
    for (const [type, body] of [
      [JSON_TYPE, ROWS],
      ['text/csv', CSV],
    ] as const) {
      const headers = { 'content-type': type }
      const response = await fetch(`${url}${PATH}`, { method: 'POST', body, headers })
      expect([response.status, await response.text()]).toEqual([200, await expected(type, body)])
    }
  })

  it('refuses a body over 1 MiB, with its length or without it', async () => {
    const { url } = await listen(listener)
    const body = ' '.repeat(1_048_577) + ROWS
    const chunked = new ReadableStream({
      start(controller) {
        for (let part = 0; part < 20; part += 1) controller.enqueue(new Uint8Array(65_536).fill(32))
        controller.enqueue(new TextEncoder().encode(ROWS))
        controller.close()
      },
    })
    for (const each of [body, chunked]) {
      const headers = { 'content-type': JSON_TYPE }
      const init = { method: 'POST', body: each, headers, duplex: 'half' }
      const response = await fetch(`${url}${PATH}`, init)
      // A parser before the handler may leave only the value of JSON, which is short.
      expect(response.status).toBe(/json\(\)/.test(name) && each !== body ? 200 : 413)
      await response.text()
    }
  })

  it('serves the next request of the connection after a refused body', async () => {
    const { url } = await listen(listener)
    const head = (lines: string) => `${lines}\r\nHost: localhost\r\n`
    const refused = `${head(`POST ${PATH} HTTP/1.1`)}Content-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello`
    const next = `${head('GET /api/v1/convert?from=USD&to=EUR HTTP/1.1')}Connection: close\r\n\r\n`
    const { text } = await sendRaw(portIn(url), refused + next)
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 415', 'HTTP/1.1 200'])
  })

  it('continues a request that expects it', async () => {
    const { url } = await listen(listener)
    const head = `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${JSON_TYPE}\r\n`
    const request = `${head}Content-Length: ${ROWS.length}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n${ROWS}`
    const { text } = await sendRaw(portIn(url), request)
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200'])
  })

  it('survives a client that disconnects during its upload', async () => {
    const { url, server } = await listen(listener)
    const client = await openSocket(portIn(url))
    const requested = once(server, 'request')
    const head = `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${JSON_TYPE}\r\n`
    client.write(`${head}Content-Length: 100\r\n\r\n[`)
    const [{ socket }] = await requested
    // Without rejecting for the error of the incomplete request.
    const closed = new Promise((resolve) => void socket.once('close', resolve))
    client.destroy()
    await closed
    const headers = { 'content-type': JSON_TYPE }
    const response = await fetch(`${url}${PATH}`, { method: 'POST', body: ROWS, headers })
    expect(response.status).toBe(200)
    expect(events.filter(({ type }) => type === 'internal_error')).toEqual([])
  })
})

describe('HTTP/2', () => {
  async function open() {
    const server = createHttp2Server(toNodeHandler(handler))
    const port = await listenOnFreePort(server)
    const client = connectHttp2(`http://127.0.0.1:${port}`)
    onTestFinished(() => {
      client.destroy()
      server.close()
    })
    return client
  }

  async function post(client: Awaited<ReturnType<typeof open>>, body: string) {
    const stream = client.request({ ':path': PATH, ':method': 'POST', 'content-type': JSON_TYPE })
    const responded = once(stream, 'response')
    stream.end(body)
    const [headers] = await responded
    let text = ''
    for await (const chunk of stream.setEncoding('utf8')) text += String(chunk)
    return { status: headers[':status'], text }
  }

  it('reads the body of many conversions, and refuses one over 1 MiB', async () => {
    const client = await open()
    const { status, text } = await post(client, ROWS)
    expect([status, text]).toEqual([200, await expected(JSON_TYPE, ROWS)])
    expect((await post(client, ' '.repeat(1_048_577))).status).toBe(413)
    expect((await post(client, ROWS)).status).toBe(200)
  })
})
