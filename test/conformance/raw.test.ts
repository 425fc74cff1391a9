import { once } from 'node:events'

import { describe, expect, it } from 'vitest'

import { openSocket, sendRaw } from '../system/sockets.ts'
import type { RawAnswer } from '../system/sockets.ts'
import { HOSTS, runHost } from './hosts.ts'
import type { Host } from './hosts.ts'
import { HIDDEN_ANSWER, NONCE, RAW_REQUESTS, hiddenRequests } from './raw-requests.ts'
import type { RawRequest } from './raw-requests.ts'

/** How many clients are slow at once. */
const SLOW_CLIENTS = 1_000

/** Whose sockets are ours or the user's: those of a Worker are the edge's, and raw HTTP/1 is none for HTTP/2. */
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
    expect((await running.client.ask({ method: 'GET', target })).status).toBe(200)
  }

  it.each(RAW_REQUESTS)('lives through $name', async (request) => {
    const patience = request.outcomes.includes('silent') ? 1_000 : 20_000
    const answer = await sendRaw(running.port, inPlace(request.text), { patience })
    expect(complaints(host, request, answer), answer.text.slice(0, 500)).toEqual([])
    await expectAlive()
  })

  it.each(hiddenRequests(prefix))(
    'answers no request that is hidden in $name',
    async ({ text }) => {
      // Answers come in the order of their requests: that of a hidden one would be before that of the last.
      const isEnough = (heard: string): boolean => heard.includes('"amount":815,')
      const answer = await sendRaw(running.port, text + conversionOf(815), {
        isEnough,
        patienceLater: 500,
      })
      expect([200, 400, 405, 501]).toContain(answer.status)
      expect(answer.text).not.toContain(HIDDEN_ANSWER)
      await expectAlive()
    },
  )

  it('answers 100 requests that come without waiting, in their order', async () => {
    const amounts = Array.from({ length: 100 }, (_, index) => index + 1)
    const text = amounts.map((amount) => conversionOf(amount)).join('')
    const amountsIn = (heard: string): string[] =>
      [...heard.matchAll(/"amount":(\d+),/g)].map(([, amount = '']) => amount)
    const answer = await sendRaw(running.port, text, {
      isEnough: (heard) => amountsIn(heard).length === 100,
    })
    expect(amountsIn(answer.text)).toEqual(amounts.map(String))
  })

  it('answers without a look at 10 MB that are sent along', async () => {
    const head = `POST ${prefix}/api/rates HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000`
    const answer = await sendRaw(running.port, `${head}\r\n\r\n${'x'.repeat(10_000_000)}`)
    expect(answer.status).toBe(405)
    await expectAlive()
  })

  it('answers a client that says no more', async () => {
    const socket = await openSocket(running.port)
    socket.end(
      `GET ${prefix}/api/v1/latest HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    )
    let heard = ''
    for await (const chunk of socket) heard += String(chunk)
    expect(heard).toMatch(/^HTTP\/1\.1 200 [^]*"disclaimer":/)
  })

  it('lives on when clients leave before and amid their answers', async () => {
    const target = `${prefix}/api/v1/history?from=USD&to=EUR&period=5Y`
    for (let round = 0; round < 20; round += 1) {
      const socket = await openSocket(running.port)
      socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(5))
      if (round % 2 === 0) await once(socket, 'data')
      socket.resetAndDestroy()
    }
    await expectAlive()
  })

  it(`answers all others while ${SLOW_CLIENTS} clients take their time`, async () => {
    const slow = await Promise.all(
      Array.from({ length: SLOW_CLIENTS }, () => openSocket(running.port)),
    )
    for (const [index, socket] of slow.entries()) {
      socket.write(`GET ${prefix}/api/v1/latest HTTP/1.1\r\nHost: local${'x'.repeat(index % 50)}`)
    }
    const target = `${prefix}/api/v1/convert?from=USD&to=EUR`
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const { status } = await running.client.ask({ method: 'GET', target })
        return status
      }),
    )
    expect(new Set(statuses)).toEqual(new Set([200]))
    for (const socket of slow) socket.destroy()
    await expectAlive()
  })
})

/** What is wrong about `answer`. */
function complaints({ scope }: Host, { outcomes, good }: RawRequest, answer: RawAnswer): string[] {
  const { status, text } = answer
  // A framework's own page for what is not found may name it.
  const mayRepeat = scope !== 'all' && status === 404
  return [
    outcomes.includes(status ?? 'silent') ? '' : `${status} is none of ${outcomes.join()}`,
    status !== 200 || text.includes(good) ? '' : 'is the answer to something else',
    mayRepeat || !text.includes(NONCE) ? '' : 'repeats what it was sent',
    /\bat .+:\d+:\d+/.test(text) ? 'shows a stack' : '',
  ].filter((complaint) => complaint !== '')
}
