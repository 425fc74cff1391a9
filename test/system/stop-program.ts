// Serves a handler that fails at some paths and otherwise never answers, stops while it is being asked, and prints where
// it listened, what it answered at those paths and how long it took to stop, in ms.
import { connect } from 'node:net'

import { settingsFromParent, tellParent } from './child.ts'

/** Whose adapter it is. */
export interface StopSettings {
  adapter: 'node' | 'bun' | 'deno'
}

/** What it prints. */
export interface StopReport {
  hostname: string
  failures: Record<string, { status: number; cacheControl: string | null; body: string }>
  elapsed: number
}

const { adapter }: StopSettings = JSON.parse(settingsFromParent())
const { serve }: typeof import('../../adapters/node.ts') = await import(
  `../../adapters/${adapter}.ts`
)

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

let asked: (() => void) | undefined
const isAsked = new Promise<void>((resolve) => (asked = resolve))
async function answer({ url }: Request): Promise<unknown> {
  const fail = FAILING[new URL(url).pathname]
  if (fail) return fail()
  asked?.()
  return new Promise(() => {})
}

// @ts-expect-error what it answers is the matter
const server = await serve(answer, { port: 0 })
const { hostname, port } = new URL(server.url)
const failures: StopReport['failures'] = {}
for (const path of Object.keys(FAILING)) {
  const response = await fetch(server.url + path)
  const cacheControl = response.headers.get('cache-control')
  failures[path] = { status: response.status, cacheControl, body: await response.text() }
}

const client = connect(Number(port), '127.0.0.1')
client.on('error', () => {}).write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
await isAsked
const startedAt = performance.now()
await server.stop()
const report: StopReport = { hostname, failures, elapsed: performance.now() - startedAt }
tellParent(report)
