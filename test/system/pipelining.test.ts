import { get } from 'node:http'
import { connect } from 'node:http2'
import { text } from 'node:stream/consumers'

import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'

import { startChild } from './child.ts'
import { pick } from './pick.ts'
import { requireProgram } from './processes.ts'
import { BUN, DENO, NODE } from './runtimes.ts'
import type { Runtime } from './runtimes.ts'
import { openSocket } from './sockets.ts'

/** Figures of the server: computed histories, CPU time in ms, resident memory in bytes. */
interface Report {
  computed: number
  cpu: number
  rss: number
}

const CONNECTIONS = 12
const REQUESTS = 600
const STREAMS = 200
const PLAIN_REQUESTS = 300
const CODES = 'USD GBP JPY CHF AUD CAD SEK NOK DKK PLN CZK HUF'.split(' ')
const MEGABYTE = 1e6

/** Some 700 kB of CSV each. The system buffers up to 10 MB for a client that does not read. */
const MAX_COMPUTED = CONNECTIONS * 20

// test/smoke/node.test.ts covers other mounts on Node.
const HOSTS: [name: string, adapter: string, runtime: Runtime, version?: 2][] = [
  ['Node', 'node', NODE],
  ['Bun', 'bun', BUN],
  ['Deno', 'deno', DENO],
  ['Deno, over HTTP/2', 'deno', DENO, 2],
]

function targetsOf(connection: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const start = new Date(Date.UTC(1999, 0, 4 + index)).toISOString().slice(0, 10)
    return `/api/v1/history?from=EUR&to=${pick(CODES, connection)}&start=${start}&format=csv`
  })
}

async function writeRequests(port: number, connection: number): Promise<void> {
  const socket = await openSocket(port)
  onTestFinished(() => void socket.destroy())
  const requests = targetsOf(connection, REQUESTS).map(
    (target) => `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  )
  socket.pause().write(requests.join(''))
}

function openStreams(port: number, connection: number): void {
  const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 1 } })
  onTestFinished(() => session.destroy())
  session.on('error', () => {})
  for (const target of targetsOf(connection, STREAMS)) {
    session
      .request({ ':path': target })
      .on('error', () => {})
      .pause()
  }
}

function request(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = get({ port, path, agent: false }, (response) => resolve(text(response)))
    outgoing.on('error', reject)
  })
}

describe.each(HOSTS)('serve() on %s', (_, adapter, [name, runtime, ...flags], version) => {
  beforeEach(({ skip }) => requireProgram(name, runtime, skip))

  it(`responds to others while ${CONNECTIONS} clients send many requests and read nothing`, async () => {
    const program = 'test/system/pipelining-program.mjs'
    const child = startChild({ program, settings: adapter, runtime, flags })
    onTestFinished(child.kill)
    const port = Number(await child.firstLine)
    const before: Report = JSON.parse(await request(port, '/report'))
    for (let connection = 0; connection < CONNECTIONS; connection += 1) {
      if (version === 2) openStreams(port, connection)
      else await writeRequests(port, connection)
    }
    const latencies: number[] = []
    for (let number = 0; number < PLAIN_REQUESTS; number += 1) {
      const askedAt = performance.now()
      expect(await request(port, '/api/v1/convert?from=USD&to=EUR')).toContain('"rate":')
      latencies.push(performance.now() - askedAt)
    }
    const after: Report = JSON.parse(await request(port, '/report'))
    expect(after.computed).toBeGreaterThan(CONNECTIONS / 4)
    expect(after.computed).toBeLessThanOrEqual(MAX_COMPUTED)
    expect(after.rss).toBeLessThan(300 * MEGABYTE)
    // Generous limits for a busy machine: computing everything would take ten times as long.
    expect(after.cpu - before.cpu).toBeLessThan(5_000)
    const [p99 = Infinity] = latencies
      .sort((one, other) => one - other)
      .slice(-PLAIN_REQUESTS / 100)
    expect(p99).toBeLessThan(2_000)
  })
})
