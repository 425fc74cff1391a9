// Serves a handler that fails at some paths and otherwise never answers, stops while a request is under way, and prints a
// `StopReport`.
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

import { settingsFromParent, tellParent } from './child.ts'

/** Where it listened, its answers at the failing paths, and whether it waited for the request for 9 s, by its clock. */
export type StopReport = typeof report

/** Handlers that fail, by path. */
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

/** The adapter to use. */
const adapter: 'node' | 'bun' | 'deno' = JSON.parse(settingsFromParent())

// A clock that stands still, is moved by hand, and counts how often it is read.
let [now, reads] = [performance.now(), 0]
performance.now = () => {
  reads += 1
  return now
}

const { serve }: typeof import('../../adapters/node.ts') = await import(
  `../../adapters/${adapter}.ts`
)

const { promise: isRequested, resolve: markRequested } = Promise.withResolvers<void>()
async function answer({ url }: Request): Promise<unknown> {
  const fail = FAILING[new URL(url).pathname]
  if (fail) return fail()
  markRequested()
  return new Promise(() => {})
}

// @ts-expect-error a handler must return a Response
const server = await serve(answer, { port: 0 })
const { hostname, port } = new URL(server.url)
const failures: Record<string, { status: number; cacheControl: string | null; body: string }> = {}
for (const path of Object.keys(FAILING)) {
  const response = await fetch(server.url + path)
  const cacheControl = response.headers.get('cache-control')
  failures[path] = { status: response.status, cacheControl, body: await response.text() }
}

const client = connect(Number(port), '127.0.0.1')
client.on('error', () => {}).write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
await isRequested
let hasWaited = true
const stopped = server.stop().then(() => (hasWaited = false))
now += 9_000
await untilRead(reads + 20)
const report = { hostname, failures, hasWaited }
now += 1_001
await stopped
tellParent(report)

/** Resolves once the clock was read so often, or the server has stopped. */
async function untilRead(count: number): Promise<void> {
  if (!hasWaited || reads >= count) return
  await pause(10)
  await untilRead(count)
}
