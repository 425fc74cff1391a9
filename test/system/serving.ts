import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { onTestFinished } from 'vitest'

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

/** The path of the command line in a folder where the package is installed with what it depends on, and nothing else. */
export function installAlone(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ratesmith-alone-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const modules = join(folder, 'node_modules')
  for (const part of ['dist', 'package.json']) {
    cpSync(join(ROOT, part), join(modules, 'ratesmith', part), { recursive: true })
  }
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
  return join(modules, 'ratesmith/dist/cli.js')
}
