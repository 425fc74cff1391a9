import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import type { RequestListener } from 'node:http'
import { dirname, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

import { beforeAll, expect } from 'vitest'

import manifest from '../../package.json' with { type: 'json' }
import { seal } from '../fixtures/envelopes.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { launch, listen, run, start, temporaryFolder } from './processes.ts'
import type { Running } from './processes.ts'
import { NODE, ROOT } from './runtimes.ts'
import type { Runtime } from './runtimes.ts'

const ERASED = /\r[^\n]*\r\u001B\[K/g // oxlint-disable-line no-control-regex

/** The built command line. */
export const CLI: string = `${ROOT}/dist/cli.js`

/**
 * Starts `ratesmith serve` on a free port unless `args` set one, with `env` added to this process's environment. It
 * ends with the test.
 */
export function serve(
  args: string[],
  env: NodeJS.ProcessEnv = {},
  runtime: Runtime = NODE,
): Running {
  return start(...serveCommand(args, env, runtime))
}

/** Starts one `ratesmith serve` for all tests of a suite, by default with `--demo`, and loads its rates. */
export function serveForSuite(
  args: string[],
  runtime: Runtime = NODE,
  rates: string[] = ['--demo'],
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
    running = launch(...serveCommand([...rates, ...args], {}, runtime))
    server.root = await rootOf(running)
    await fetch(`${server.root}/api/v1/latest`)
    return () => void running?.process.kill('SIGKILL')
  })
  return server
}

export function serveCommand(
  args: string[],
  env: NodeJS.ProcessEnv,
  [, program, ...parameters]: Runtime,
): Parameters<typeof launch> {
  // The machine's proxy cannot reach the servers of a test.
  const surroundings = { env: { NO_PROXY: '127.0.0.1', ...env } }
  return [program, [...parameters, CLI, 'serve', '--port', '0', ...args], surroundings]
}

/** Waits for the first URL that a server prints, and returns its origin. */
export async function rootOf(running: Running): Promise<string> {
  const [root] = await running.written(/https?:\/\/\S+:\d+/)
  return root
}

/** Cached by range: they take long to make on a busy machine, and clients time out. */
const payloads = new Map<string, string>()

/** Responds like both upstreams, once `gate` resolves. */
export function upstreams(
  latest: string,
  gate: () => Promise<void> = async () => {},
): RequestListener {
  return async (request, response) => {
    await gate()
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

/** Installs the package alone with its dependencies in `folder`, and returns the path of the command line. */
export function installAlone(folder: string): string {
  const modules = join(folder, 'node_modules')
  for (const part of ['dist', 'package.json']) {
    cpSync(join(ROOT, part), join(modules, 'ratesmith', part), { recursive: true })
  }
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
  return join(modules, 'ratesmith/dist/cli.js')
}

/** Creates a pseudo-terminal; from util-linux. */
export const SCRIPT = '/usr/bin/script'

const DAY = 86_400_000

/**
 * Starts both upstreams as one server; returns the paths of its requests, and the environment that points to it and to
 * a new cache.
 */
export async function startUpstreams(
  listener: RequestListener = upstreams(openErApiPayload({ now: Date.now() })),
) {
  const calls: string[] = []
  const { url, close } = await listen((request, response) => {
    calls.push(request.url ?? '')
    listener(request, response)
  })
  const env = {
    RATESMITH_LATEST_URL: url,
    RATESMITH_HISTORY_URL: url,
    RATESMITH_CACHE_DIR: temporaryFolder(),
  }
  return { calls, env, stop: close }
}

/** Returns the environment of a command: without a cache unless a test sets one, and without the machine's proxy. */
function surroundings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { RATESMITH_CACHE_DIR: '/dev/null/none', NO_PROXY: '127.0.0.1', TERM: 'xterm', ...env }
}

function wordsOf(args: string | readonly string[]): readonly string[] {
  return typeof args === 'string' ? args.split(' ') : args
}

export function piped(
  [, program, ...parameters]: Runtime,
  args: string | readonly string[],
  env: NodeJS.ProcessEnv = {},
): ReturnType<typeof run> {
  return run(program, [...parameters, CLI, ...wordsOf(args)], { env: surroundings(env) })
}

/** Runs `ratesmith` on a pseudo-terminal of 40 columns to its end; returns the visible lines and the raw output. */
export async function onTerminal(
  [, program, ...parameters]: Runtime,
  args: string,
  env: NodeJS.ProcessEnv = {},
) {
  const words = [program, ...parameters, CLI, ...wordsOf(args)]
  const command = words.map((word) => `'${word}'`).join(' ')
  const own = { LC_ALL: 'C.UTF-8', NO_COLOR: undefined, SHELL: '/bin/sh', ...env }
  const script = `stty cols 40; exec ${command}`
  const { code, stdout } = await run(SCRIPT, ['-qec', script, '/dev/null'], {
    env: surroundings(own),
  })
  const lines = stripVTControlCharacters(stdout.replaceAll(ERASED, '')).trimEnd().split(/\r*\n/)
  return { code, lines, raw: stdout }
}

/** Expects exit code 2, and nothing but one line on stderr that contains each of `facts`. */
export function expectRefused(
  { code, stdout, stderr }: Awaited<ReturnType<typeof run>>,
  ...facts: string[]
): void {
  expect(stderr).toMatch(/^ratesmith: [^\n]+\n$/)
  for (const fact of facts) expect(stderr).toContain(fact)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
}

export function ageCache(folder: string, days: number): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.cache')) continue
    const envelope = JSON.parse(readFileSync(join(folder, name), 'utf8'))
    envelope.savedAt -= days * DAY
    const { table } = envelope.data
    if (table) {
      table.updatedAt -= days * DAY
      table.nextUpdateAt -= days * DAY
    } else {
      const newest = new Date(Date.now() - days * DAY).toISOString().slice(0, 10)
      envelope.data.days = envelope.data.days.filter(({ date }: { date: string }) => date <= newest)
    }
    writeFileSync(join(folder, name), seal(envelope))
  }
}
