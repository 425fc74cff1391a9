// For the server programs: what each of them is given, and what it owes to the bench that started it.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import process from 'node:process'

import { createRatesHandler } from 'ratesmith'
import type { RatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

import { settingsFromParent, tellParent } from '../../test/system/child.ts'
import { listenOnFreePort } from '../../test/system/ports.ts'

/** The seed of the market that every server serves. */
export const SEED = 7

/** Where every server listens. */
export const LOOPBACK = { hostname: '127.0.0.1', port: 0 } as const

/** What a server program is given as JSON. */
export interface PeerSettings {
  /** Path and query that it is asked for. */
  target: string
  /** A file with the `ReadyText` to answer with; our own servers have none. */
  ready?: string
}

/** An answer of our handler as it is written to a file; the body in base64. */
export interface ReadyText {
  headers: [name: string, value: string][]
  body: string
}

/** An answer of our handler, ready to be sent. */
export interface ReadyAnswer {
  target: string
  /** The target without its query. */
  path: string
  headers: [name: string, value: string][]
  body: Buffer<ArrayBuffer>
}

/** What a server has used since it started: processor time in µs, resident memory in bytes. */
export interface Usage {
  cpu: number
  rss: number
}

/** Reads what this program is to answer with. */
export function readyAnswer(): ReadyAnswer {
  const { target, ready = '' }: PeerSettings = JSON.parse(settingsFromParent())
  const { headers, body }: ReadyText = JSON.parse(readFileSync(ready, 'utf8'))
  return {
    target,
    path: new URL(target, 'http://localhost').pathname,
    headers,
    body: Buffer.from(body, 'base64'),
  }
}

/** Our handler over the market of all servers, with its data loaded. */
export async function loadedHandler(): Promise<RatesHandler> {
  settingsFromParent()
  const handler = createRatesHandler({ providers: fakeProviders({ seed: SEED }) })
  await handler.refresh()
  return handler
}

/** Has `listener` answer on a free port, and tells the bench so. */
export async function listen(listener: RequestListener): Promise<void> {
  tellReady(await listenOnFreePort(createServer(listener)))
}

/** Tells the bench that the server listens on `port`, and from then on its usage for every line that comes. */
export function tellReady(port: number): void {
  tellParent({ url: `http://127.0.0.1:${port}` })
  process.stdin.on('data', () => {
    const { user, system } = process.cpuUsage()
    tellParent({ cpu: user + system, rss: process.memoryUsage().rss } satisfies Usage)
  })
}
