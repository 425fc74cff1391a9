// Both upstreams on the loopback interface, which can fail on request: prints `{ url }`; `PUT /mode/<id of a fault>`, or
// `good`.
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'

import { UPSTREAM_FAULTS } from '../test/faults/all.ts'
import type { Inject } from '../test/faults/fault.ts'

import { settingsFromParent, tellParent } from '../test/system/child.ts'
import { listenOnFreePort } from '../test/system/ports.ts'
import { createLoopbackUpstream } from './load/loopback-upstream.ts'
import { createTurningClock } from './load/turning-clock.ts'
import type { ClockSettings } from './load/turning-clock.ts'

const settings: ClockSettings = JSON.parse(settingsFromParent())
const upstream = createLoopbackUpstream(createTurningClock(settings))

function listenerOf(mode = ''): RequestListener | undefined {
  if (mode === 'good') return upstream.listener
  const inject = UPSTREAM_FAULTS.find(({ id }) => id === mode)?.forms[0]?.inject
  return inject && ((request, response) => void fail(inject, request, response))
}

/** Answers as `inject` does: what it rejects with is a connection that is reset. */
async function fail(inject: Inject, ...[{ url }, response]: Parameters<RequestListener>) {
  try {
    const answer = await inject({
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
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
  } catch {
    response.socket?.resetAndDestroy()
  }
}

let answer = upstream.listener
const server = createServer((request, response) => {
  const isTold = request.method === 'PUT'
  const mode = isTold ? listenerOf(request.url?.split('/').at(-1)) : undefined
  if (mode) {
    answer = mode
    response.end()
  } else {
    answer(request, response)
  }
})
tellParent({ url: `http://127.0.0.1:${await listenOnFreePort(server)}` })
