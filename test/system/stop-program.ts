// Serves a handler that fails at `/fails` and otherwise never answers, stops while it is being asked, and prints how long
// that took in ms, after what was answered at `/fails`.
import { connect } from 'node:net'

import { settingsFromParent, tellParent } from './child.ts'

/** Whose adapter it is. */
export interface StopSettings {
  adapter: 'node' | 'bun' | 'deno'
}

const { adapter }: StopSettings = JSON.parse(settingsFromParent())
const { serve }: typeof import('../../adapters/node.ts') = await import(
  `../../adapters/${adapter}.ts`
)

let asked: (() => void) | undefined
const isAsked = new Promise<void>((resolve) => (asked = resolve))
const server = await serve(
  ({ url }) => {
    if (url.endsWith('/fails')) throw new Error('secret')
    asked?.()
    return new Promise(() => {})
  },
  { port: 0 },
)
const failed = await fetch(`${server.url}/fails`)
const { status, headers } = failed
const failure = { status, store: headers.get('cache-control'), body: await failed.text() }

const client = connect(Number(new URL(server.url).port), '127.0.0.1')
client.on('error', () => {}).write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
await isAsked
const startedAt = performance.now()
await server.stop()
tellParent({ failure, elapsed: performance.now() - startedAt })
