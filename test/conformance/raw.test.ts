import { once } from 'node:events'

import { describe, expect, it } from 'vitest'

import { openSocket, sendRaw } from '../system/sockets.ts'
import type { SocketResponse } from '../system/sockets.ts'
import { HOSTS, runHost } from './hosts.ts'
import type { Host } from './hosts.ts'
import { HIDDEN_RESPONSE, NONCE, RAW_REQUESTS, hiddenRequests } from './raw-requests.ts'
import type { RawRequest } from './raw-requests.ts'

const SLOW_CLIENTS = 1_000

/** Hosts that own their HTTP/1 sockets: the edge owns those of a Worker. */
const SOCKET_OWNERS = HOSTS.filter(
  ({ name, openClient }) => name !== 'workerd' && openClient === undefined,
)

describe.each(SOCKET_OWNERS)('$name', (host) => {
  const { prefix = '' } = host
  const running = runHost(host)

  const inPlace = (text: string): string => text.replace('/api', `${prefix}/api`)

  const conversionOf = (amount: number): string =>
    `GET ${prefix}/api/v1/convert?from=USD&to=USD&amount=${amount} HTTP/1.1\r\nHost: localhost\r\n\r\n`

  async function expectAlive(): Promise<void> {
    const target = `${prefix}/api/v1/latest`
    expect((await running.client.send({ method: 'GET', target })).status).toBe(200)
  }

  it.each(RAW_REQUESTS)('survives $name', async (request) => {
    const timeout = request.outcomes.includes('silent') ? 1_000 : 20_000
    const response = await sendRaw(running.port, inPlace(request.text), { timeout })
    expect(faultsOf(host, request, response), response.text.slice(0, 500)).toEqual([])
    await expectAlive()
  })

  it.each(hiddenRequests(prefix))(
    'does not respond to a request hidden in $name',
    async ({ text }) => {
      // Responses are in the order of their requests: a hidden request's response would precede the last one.
      const isComplete = (received: string): boolean => received.includes('"amount":815,')
      const response = await sendRaw(running.port, text + conversionOf(815), {
        isComplete,
        nextTimeout: 500,
      })
      expect([200, 400, 405, 501]).toContain(response.status)
      expect(response.text).not.toContain(HIDDEN_RESPONSE)
      await expectAlive()
    },
  )

  it('responds to 100 pipelined requests in order', async () => {
    const amounts = Array.from({ length: 100 }, (_, index) => index + 1)
    const text = amounts.map((amount) => conversionOf(amount)).join('')
    const amountsIn = (received: string): string[] =>
      [...received.matchAll(/"amount":(\d+),/g)].map(([, amount = '']) => amount)
    const response = await sendRaw(running.port, text, {
      isComplete: (received) => amountsIn(received).length === 100,
    })
    expect(amountsIn(response.text)).toEqual(amounts.map(String))
  })

  it('responds without reading a body of 10 MB', async () => {
    const head = `POST ${prefix}/api/rates HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000`
    const response = await sendRaw(running.port, `${head}\r\n\r\n${'x'.repeat(10_000_000)}`)
    expect(response.status).toBe(405)
    await expectAlive()
  })

  it('responds to a client that closed its side of the connection', async () => {
    const socket = await openSocket(running.port)
    socket.end(
      `GET ${prefix}/api/v1/latest HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    )
    let received = ''
    for await (const chunk of socket) received += String(chunk)
    expect(received).toMatch(/^HTTP\/1\.1 200 [^]*"disclaimer":/)
  })

  it('survives clients that disconnect before and during their responses', async () => {
    const target = `${prefix}/api/v1/history?from=USD&to=EUR&period=5Y`
    for (let round = 0; round < 20; round += 1) {
      const socket = await openSocket(running.port)
      socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(5))
      if (round % 2 === 0) await once(socket, 'data')
      socket.resetAndDestroy()
    }
    await expectAlive()
  })

  it(`responds to other clients while ${SLOW_CLIENTS} clients are slow`, async () => {
    const slow = await Promise.all(
      Array.from({ length: SLOW_CLIENTS }, () => openSocket(running.port)),
    )
    for (const [index, socket] of slow.entries()) {
      socket.write(`GET ${prefix}/api/v1/latest HTTP/1.1\r\nHost: local${'x'.repeat(index % 50)}`)
    }
    const target = `${prefix}/api/v1/convert?from=USD&to=EUR`
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const { status } = await running.client.send({ method: 'GET', target })
        return status
      }),
    )
    expect(new Set(statuses)).toEqual(new Set([200]))
    for (const socket of slow) socket.destroy()
    await expectAlive()
  })
})

function faultsOf(
  { scope }: Host,
  { outcomes, good }: RawRequest,
  response: SocketResponse,
): string[] {
  const { status, text } = response
  // The 404 page of a framework may contain the path.
  const mayRepeat = scope !== 'all' && status === 404
  return [
    outcomes.includes(status ?? 'silent') ? '' : `expected ${outcomes.join()}, got ${status}`,
    status !== 200 || text.includes(good) ? '' : `expected a body with ${good}`,
    mayRepeat || !text.includes(NONCE) ? '' : 'repeats a text of the request',
    /\bat .+:\d+:\d+/.test(text) ? 'shows a stack' : '',
  ].filter((fault) => fault !== '')
}
