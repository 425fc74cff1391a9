// Serves every day since 1999, and reports what its readers cost: `GET /state`, and `/reset` for a new beginning. Needs
// `--expose-gc`.
import { createServer } from 'node:http'

import { toNodeHandler } from '../../adapters/node.ts'
import { isStreamed } from '../../src/http/response.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { RawRequest, StreamedBody } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { reportToParent, settingsFromParent } from './child.ts'
import { collectGarbage } from './collect-garbage.ts'
import { listenOnFreePort } from './sockets.ts'

settingsFromParent()

/** What readers cost since the last reset. */
export interface StreamsState {
  /** Bodies that are neither sent nor given up. */
  open: number
  /** CPU time of the longest turn of the event loop, in ms. */
  longest: number
  /** Growth of the resident memory to its peak, in bytes. */
  growth: number
}

const handler = createRatesHandler({ providers: fakeProviders() })
const open = new Set<StreamedBody>()
let longest = 0
let start = 0
let peak = 0

async function* counted(body: StreamedBody): StreamedBody {
  open.add(body)
  try {
    yield* body
  } finally {
    open.delete(body)
  }
}

const answer = async (request: RawRequest) => {
  const response = await handler.answer(request)
  const { body } = response
  return isStreamed(body) ? { ...response, body: counted(body) } : response
}
const respond = toNodeHandler(Object.assign((request: Request) => handler(request), { answer }))

function reset(): void {
  collectGarbage()
  longest = 0
  start = process.memoryUsage.rss()
  peak = start
  last = process.threadCpuUsage()
}

let last = process.threadCpuUsage()
setInterval(() => {
  const { user, system } = process.threadCpuUsage(last)
  longest = Math.max(longest, (user + system) / 1_000)
  peak = Math.max(peak, process.memoryUsage.rss())
  last = process.threadCpuUsage()
}, 1)

const port = await listenOnFreePort(
  createServer((request, response) => {
    if (request.url?.startsWith('/api')) return respond(request, response)
    if (request.url === '/reset') reset()
    const state: StreamsState = { open: open.size, longest, growth: peak - start }
    return response.end(JSON.stringify(state))
  }),
)
reportToParent({ port })
