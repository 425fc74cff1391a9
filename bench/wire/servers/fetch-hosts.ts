// Servers on Node that take `Request` and `Response`: with a prepared response in the form that each sends fastest, or with the
// handler mounted as recommended for it.
import { serve as serveHono } from '@hono/node-server'
import { Response as WhatwgResponse, createServerAdapter } from '@whatwg-node/server'
import { FastResponse, serve as serveSrvx } from 'srvx'

import { settingsFromParent } from '../../../test/system/child.ts'
import { LOOPBACK, listen, loadedHandler, readPreparedResponse, reportReady } from '../peer.ts'
import type { PeerSettings } from '../peer.ts'
import type { HostName } from '../rows.ts'
import { loadH3 } from './modules.ts'

type Fetch = (request: Request) => Response | Promise<Response>

interface Host {
  /** Its own class of responses; the others are sent several times as slowly. @hono/node-server replaces the global one. */
  Response?: typeof Response
  start(fetch: Fetch, path: string): Promise<void>
}

const HOSTS: Record<HostName, Host> = {
  whatwg: {
    Response: WhatwgResponse,
    start: (fetch) => listen(createServerAdapter(fetch)),
  },
  hono: {
    async start(fetch) {
      serveHono({ fetch, ...LOOPBACK }, ({ port }) => reportReady(port))
    },
  },
  srvx: {
    Response: FastResponse,
    start: (fetch) => reportUrl(serveSrvx({ fetch, ...LOOPBACK, silent: true }).ready()),
  },
  h3: {
    Response: FastResponse,
    async start(fetch, path) {
      const { H3, serve } = await loadH3()
      const app = new H3()
      app.get(path, ({ req }) => fetch(req))
      await reportUrl(serve(app, { ...LOOPBACK, silent: true }).ready())
    },
  },
}

const { host = 'srvx', ready, target }: PeerSettings = JSON.parse(settingsFromParent())
const { Response: Own, start } = HOSTS[host]
const { pathname } = new URL(target, 'http://localhost')
if (ready === undefined) {
  const handler = await loadedHandler()
  if (Own) globalThis.Response = Own
  await start(handler, pathname)
} else {
  const { headers, body } = readPreparedResponse()
  const init = { status: 200, headers: Object.fromEntries(headers) }
  await start(() => new (Own ?? Response)(body, init), pathname)
}

async function reportUrl(listening: Promise<{ url?: string }>): Promise<void> {
  const { url = '' } = await listening
  reportReady(Number(new URL(url).port))
}
