// Serves both upstreams on the loopback interface and injects faults: prints `{ url }`; `PUT /mode/<id of a fault>` or
// `/mode/good` sets the mode.
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'

import { UPSTREAM_FAULTS } from '../test/faults/all.ts'
import type { Inject } from '../test/faults/fault.ts'
import { reportToParent, settingsFromParent } from '../test/system/child.ts'
import { listenOnFreePort } from '../test/system/sockets.ts'
import {
  createLoopbackUpstream,
  createPublicationClock,
} from '../test/system/load/loopback-upstream.ts'
import type { ClockSettings } from '../test/system/load/loopback-upstream.ts'

const settings: ClockSettings = JSON.parse(settingsFromParent())
const upstream = createLoopbackUpstream(createPublicationClock(settings))

function listenerOf(mode = ''): RequestListener | undefined {
  if (mode === 'good') return upstream.listener
  const inject = UPSTREAM_FAULTS.find(({ id }) => id === mode)?.forms[0]?.inject
  return inject && ((request, response) => void fail(inject, request, response))
}

async function fail(inject: Inject, ...[{ url }, response]: Parameters<RequestListener>) {
  try {
    const injected = await inject({
      dataSet: 'latest',
      url: new URL(url ?? '', 'http://localhost'),
      init: {},
      signal: new AbortController().signal,
      now: Date.now(),
      good: '',
      first: '',
      older: '',
      after: (delay, callback) => void setTimeout(callback, delay),
      healthy: () => new Response(),
    })
    response.writeHead(injected.status, Object.fromEntries(injected.headers))
    response.end(await injected.text())
  } catch {
    response.socket?.resetAndDestroy()
  }
}

let listener = upstream.listener
const server = createServer((request, response) => {
  const isModeChange = request.method === 'PUT'
  const mode = isModeChange ? listenerOf(request.url?.split('/').at(-1)) : undefined
  if (mode) {
    listener = mode
    response.end()
  } else {
    listener(request, response)
  }
})
reportToParent({ url: `http://127.0.0.1:${await listenOnFreePort(server)}` })
