import { request } from 'undici'

import { startChild } from '../child.ts'
import type { ClockSettings } from './loopback-upstream.ts'

export const CLIENTS = ['ioredis', 'redis'] as const

export type ClientName = (typeof CLIENTS)[number]

export interface ServerSettings {
  client: ClientName
  /** URL. */
  redis: string
  clock: ClockSettings
  /**
   * Whether skipped time passes on the monotonic clock too, as idle hours do (default false: like a clock change).
   * Requests that wait for a load meanwhile exceed their deadline.
   */
  sleeps?: boolean
  /** Root of both upstreams (default providers in process that publish with every call). */
  upstream?: string
}

/** Figures of a server since its start. */
export interface ServerReport {
  /** Of upstreams. */
  calls: { latest: number; history: number }
  /** Unhandled rejections, uncaught exceptions and internal errors. */
  unhandled: string[]
  storeFailures: { get: number; set: number; claim: number }
  /** Values from the store that were rejected. */
  refused: number
  /** Heap in use without compiled code, which grows for hours; in bytes, after a garbage collection if `gc` is exposed. */
  heap: number
  /** In bytes. */
  rss: number
  /** Active resources by kind. */
  handles: Record<string, number>
  /** p99 of the event-loop delay since the last report, in ms. */
  loopDelay: number
}

export type StartedServer = Awaited<ReturnType<typeof startServer>>

/** Starts `server-program.ts` and resolves when it listens. The caller must kill it. */
export async function startServer(settings: ServerSettings, flags: readonly string[] = []) {
  const child = startChild({ program: 'test/system/load/server-program.ts', settings, flags })
  const { url }: { url: string } = JSON.parse(await child.firstLine)
  return {
    ...child,
    url,
    async report(): Promise<ServerReport> {
      const { body } = await request(`${url}/report`)
      return JSON.parse(await body.text())
    },
  }
}
