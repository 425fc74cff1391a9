import type { RequestListener } from 'node:http'

import { frankfurterPayload } from '../fixtures/upstream-payloads.ts'
import { start } from './processes.ts'
import type { Running } from './processes.ts'
import { ROOT } from './root.ts'
import { NODE } from './runtimes.ts'
import type { Runtime } from './runtimes.ts'

/** The built command line. */
export const CLI: string = `${ROOT}/dist/cli.js`

/** Starts `ratesmith serve` on a free port, unless `args` say otherwise; `env` is beside this process's. */
export function serve(
  args: string[],
  env: NodeJS.ProcessEnv = {},
  [, program, ...parameters]: Runtime = NODE,
): Running {
  return start(program, [...parameters, CLI, 'serve', '--port', '0', ...args], {
    // The machine may have a proxy, which knows nothing of servers of a test.
    env: { NO_PROXY: '127.0.0.1', ...env },
  })
}

/** Where the server listens, once it says so. */
export async function rootOf(running: Running): Promise<string> {
  const [, root = ''] = await running.written(/listens on (https?:\S+:\d+)/)
  return root
}

/** Answers as both upstreams do, once `mayAnswer` resolves. */
export function upstreams(
  latest: string,
  mayAnswer: () => Promise<void> = async () => {},
): RequestListener {
  return async (request, response) => {
    await mayAnswer()
    const range = /^\/v1\/([\d-]+)\.\.([\d-]+)$/.exec(request.url ?? '')
    if (request.url === '/v6/latest/USD') response.end(latest)
    else if (range) {
      const [, from = '', end = ''] = range
      response.end(frankfurterPayload({ start: from, end, now: Date.now() }))
    } else response.writeHead(404).end('{"message":"not found"}')
  }
}
