// Serves a handler that fails at some paths and never responds at others, stops it during a request, and prints a
// report.
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

import type { RawResponse } from '../../src/index.ts'
import { reportToParent, settingsFromParent } from '../system/child.ts'

const FAILING: Record<string, () => unknown> = {
  '/throws': () => {
    throw new Error('secret')
  },
  '/says-nothing': () => undefined,
  '/says-text': () => 'text',
  '/was-read': async () => {
    const response = new Response('text')
    await response.text()
    return response
  },
}

const adapter: 'node' | 'bun' | 'deno' = JSON.parse(settingsFromParent())

// A clock that is advanced manually, and counts its reads.
let [now, reads] = [performance.now(), 0]
performance.now = () => {
  reads += 1
  return now
}

const { serve }: typeof import('../../adapters/node.ts') = await import(
  `../../adapters/${adapter}.ts`
)

const { promise: isRequested, resolve: markRequested } = Promise.withResolvers<void>()
// Not async: what it throws or returns is not in a promise.
function respond({ url }: Request): unknown {
  const fail = FAILING[new URL(url).pathname]
  if (fail) return fail()
  markRequested()
  return new Promise(() => {})
}

// @ts-expect-error a handler must return a Response
const server = await serve(respond, { port: 0 })
const { hostname, port } = new URL(server.url)
const failures: Record<string, { status: number; cacheControl: string | null; body: string }> = {}
for (const path of Object.keys(FAILING)) {
  const response = await fetch(server.url + path)
  const cacheControl = response.headers.get('cache-control')
  failures[path] = { status: response.status, cacheControl, body: await response.text() }
}

const both = Object.assign(() => new Response('handler'), {
  answer: (): RawResponse => ({ status: 200, headers: [], body: 'answer', matched: true }),
})
const { url: urlOfBoth } = await serve(both, { port: 0 })
const called = await (await fetch(urlOfBoth)).text()

const client = connect(Number(port), '127.0.0.1')
client.on('error', () => {}).write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
await isRequested
let hasWaited = true
const stopped = server.stop().then(() => (hasWaited = false))
now += 9_000
await untilRead(reads + 20)
const report = { hostname, failures, called, hasWaited }
now += 1_001
await stopped
reportToParent(report)

async function untilRead(count: number): Promise<void> {
  if (!hasWaited || reads >= count) return
  await pause(10)
  await untilRead(count)
}
