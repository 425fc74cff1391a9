import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { dirname, join } from 'node:path'

import { beforeAll } from 'vitest'

import { frankfurterPayload } from '../fixtures/upstream-payloads.ts'
import { launch, start, temporaryFolder } from './processes.ts'
import type { Running } from './processes.ts'
import { ROOT } from './root.ts'
import { NODE } from './runtimes.ts'
import type { Runtime } from './runtimes.ts'

/** The built command line. */
export const CLI: string = `${ROOT}/dist/cli.js`

/** Starts `ratesmith serve` on a free port, unless `args` set one; `env` is added to this process's. It ends with the test. */
export function serve(
  args: string[],
  env: NodeJS.ProcessEnv = {},
  runtime: Runtime = NODE,
): Running {
  return start(...serveCommand(args, env, runtime))
}

/** One `ratesmith serve --demo` for all tests of a suite, by the URL of its root; it has loaded its rates. */
export function serveForSuite(
  args: string[],
  runtime: Runtime = NODE,
): { readonly root: string; readonly stdout: string } {
  let running: Running | undefined
  const server = {
    root: '',
    get stdout() {
      return running?.stdout ?? ''
    },
  }
  beforeAll(async () => {
    if (!existsSync(runtime[1])) return undefined
    running = launch(...serveCommand(['--demo', ...args], {}, runtime))
    server.root = await rootOf(running)
    await fetch(`${server.root}/api/v1/latest`)
    return () => void running?.process.kill('SIGKILL')
  })
  return server
}

function serveCommand(
  args: string[],
  env: NodeJS.ProcessEnv,
  [, program, ...parameters]: Runtime,
): Parameters<typeof launch> {
  // A proxy of the machine cannot reach the servers of a test.
  const surroundings = { env: { NO_PROXY: '127.0.0.1', ...env } }
  return [program, [...parameters, CLI, 'serve', '--port', '0', ...args], surroundings]
}

/** The files that a file store keeps in `folder`, without those that are still being written. */
export function keptFiles(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith('.cache'))
}

/** Where the server listens, once it says so. */
export async function rootOf(running: Running): Promise<string> {
  const [, root = ''] = await running.written(/listens on (https?:\S+:\d+)/)
  return root
}

/** By range: they take long to make on a busy machine, and clients do not wait for long. */
const payloads = new Map<string, string>()

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
      const payload =
        payloads.get(from + end) ?? frankfurterPayload({ start: from, end, now: Date.now() })
      payloads.set(from + end, payload)
      response.end(payload)
    } else response.writeHead(404).end('{"message":"not found"}')
  }
}

/** The path of the command line in a folder where the package is installed with what it depends on, and nothing else. */
export function installAlone(): string {
  const modules = join(temporaryFolder(), 'node_modules')
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
