// Shared by the server programs: their settings, and the protocol with the bench that starts them.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import process from 'node:process'

import { createRatesHandler } from 'ratesmith'
import type { RatesHandler, RatesHandlerOptions } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

import { reportToParent, settingsFromParent } from '../../test/system/child.ts'
import { listenOnFreePort } from '../../test/system/sockets.ts'
import type { HostName } from './rows.ts'

/** The seed of the market that every server serves. */
export const SEED = 7

export const LOOPBACK = { hostname: '127.0.0.1', port: 0 } as const

/** The settings of a server program, as JSON. */
export interface PeerSettings {
  /** Path and query of the requests. */
  target: string
  /** A file with the `PreparedText` to send; absent for servers with the handler. */
  ready?: string | undefined
  /** The id of the row. */
  id?: string
  /** The server that the program starts, if it knows several. */
  host?: HostName | undefined
}

/** A response of the handler in a file; the body in base64. */
export interface PreparedText {
  headers: [name: string, value: string][]
  body: string
}

/** A response of the handler, ready to be sent. */
export interface PreparedResponse {
  target: string
  /** The target without its query. */
  path: string
  headers: [name: string, value: string][]
  body: Buffer<ArrayBuffer>
}

/** Usage of a server since its start: CPU time in µs, resident memory in bytes. */
export interface Usage {
  cpu: number
  rss: number
}

/** Reads the response that this program sends. */
export function readPreparedResponse(): PreparedResponse {
  const { target, ready = '' }: PeerSettings = JSON.parse(settingsFromParent())
  const { headers, body }: PreparedText = JSON.parse(readFileSync(ready, 'utf8'))
  return {
    target,
    path: new URL(target, 'http://localhost').pathname,
    headers,
    body: Buffer.from(body, 'base64'),
  }
}

/** Returns the handler with the market of all servers, with its data loaded. */
export async function loadedHandler(
  options: Pick<RatesHandlerOptions, 'access'> = {},
): Promise<RatesHandler> {
  settingsFromParent()
  const handler = createRatesHandler({ ...options, providers: fakeProviders({ seed: SEED }) })
  await handler.refresh()
  return handler
}

/** Starts a server on a free port and reports its URL to the bench. */
export async function listen(listener: RequestListener): Promise<void> {
  reportReady(await listenOnFreePort(createServer(listener)))
}

/** Reports the URL of the server to the bench, and its usage for every line on stdin. */
export function reportReady(port: number): void {
  reportToParent({ url: `http://127.0.0.1:${port}` })
  process.stdin.on('data', () => {
    const { user, system } = process.cpuUsage()
    reportToParent({ cpu: user + system, rss: process.memoryUsage().rss } satisfies Usage)
  })
}
