// Both upstreams on the loopback interface, which may be told how to fail: prints `{ url }`; `PUT /mode/<mode>`.
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'

import { settingsFromParent, tellParent } from '../test/system/child.ts'
import { createLoopbackUpstream } from '../test/system/loopback-upstream.ts'
import { listenOnFreePort } from '../test/system/ports.ts'
import { createTurningClock } from '../test/system/turning-clock.ts'
import type { ClockSettings } from '../test/system/turning-clock.ts'

const settings: ClockSettings = JSON.parse(settingsFromParent())
const upstream = createLoopbackUpstream(createTurningClock(settings))

const MODES: Record<string, RequestListener> = {
  good: upstream.listener,
  reset: ({ socket }) => socket.resetAndDestroy(),
  unavailable: (_, response) => response.writeHead(503).end('Service Unavailable'),
  page: (_, response) => response.setHeader('content-type', 'text/html').end('<html></html>'),
}

let answer = upstream.listener
const server = createServer((request, response) => {
  const mode = request.method === 'PUT' ? MODES[request.url?.split('/').at(-1) ?? ''] : undefined
  if (mode) {
    answer = mode
    response.end()
  } else {
    answer(request, response)
  }
})
tellParent({ url: `http://127.0.0.1:${await listenOnFreePort(server)}` })
