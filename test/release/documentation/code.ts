import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { killOnExit } from '../../system/child.ts'
import { launch } from '../../system/processes.ts'
import { respondAsUpstream } from '../../system/upstreams.ts'
import { bundleWorker, openWorkers } from '../../system/workerd.ts'
import type { Block } from './page.ts'
import { installedBy } from './site.ts'
import type { Site } from './site.ts'

const TIMEOUT_MS = 120_000

export type Job = ReturnType<typeof startJob>

/** Starts a program in a folder, in its own process group, as npx does not pass on signals. */
export function startJob(
  [program = '', ...args]: readonly string[],
  { folder, env }: { folder: string; env: Site['env'] | NodeJS.ProcessEnv },
  timeout: number = TIMEOUT_MS,
) {
  const running = launch(program, args, { cwd: folder, env, detached: true })
  const { pid } = running.process
  const kill = (): void => {
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL')
    } catch {
      // The whole group has ended.
    }
  }
  const timer = setTimeout(kill, timeout)
  void killOnExit(running.process)
  /** Resolves with the fault of an exit code other than 0, if any; a program is killed after the timeout. */
  const ended = running.exited.then((code) => {
    clearTimeout(timer)
    return code === 0 ? undefined : `ended with ${code}: ${running.stdout}${running.stderr}`
  })
  return {
    running,
    ended,
    async stop() {
      kill()
      await ended
    },
  }
}

/** Requests `url` until `job` responds or ends; resolves with the fault of the response, if any. */
export async function faultOfServer(job: Job, url: string): Promise<string | undefined> {
  const ended = job.ended.then(() => true)
  while (!(await Promise.race([ended, sleep(50, false)]))) {
    const response = await fetch(url).catch(() => undefined)
    const text = await response?.text()
    if (response?.ok) return undefined
    if (response) return `${url} returns ${response.status} ${text}`
  }
  return `${(await job.ended) ?? 'ended'} before it responded to ${url}`
}

/** Additions to commands: the replacement of upstreams, which Node loads through the environment, and errors of curl. */
const ADDITIONS: [form: RegExp, replacement: string][] = [
  [/^deno (run|serve|test)\b/, 'deno $1 --preload=./upstream.mts'],
  [/^bun (?=[\w./-]+\.mts\b)/, 'bun --preload=./upstream.mts '],
  [/^bun test\b/, 'bun test --preload=./upstream.mts'],
  [/^bunx\b/, 'BUN_OPTIONS=--preload=./upstream.mts bunx'],
  [/^curl\b/, 'curl --fail --silent --show-error'],
]

/** Returns the commands of a block, without comments, with continued lines joined. */
export function commandsOf({ text }: Block): string[] {
  const lines = text.replaceAll(/ *\\\n\s*/g, ' ').split('\n')
  return lines.map((line) => line.replace(/(?:^|\s+)#\s.*$/, '').trim()).filter(Boolean)
}

/** Opens a terminal for the commands of a page in its folder; the caller closes it. */
export function openSession(site: Site) {
  let server: Job | undefined

  async function faultOfCommand(command: string): Promise<string | undefined> {
    const packages = installedBy(command)
    if (packages.length > 0) return faultOfPackages(packages, site)
    const serving = servingOf(command, site)
    if (serving) {
      // The next server may use the same port.
      await server?.stop()
      server = start(serving.command, site)
      return faultOfServer(server, site.adapted(serving.url))
    }
    return start(command, site).ended
  }

  return {
    /** Runs commands in order; resolves with the fault of the first that fails, if any. */
    async faultOf(commands: readonly string[]): Promise<string | undefined> {
      for (const command of commands) {
        const fault = await faultOfCommand(command)
        if (fault !== undefined) return `${command}: ${fault}`
      }
      return undefined
    },
    async close(): Promise<void> {
      await server?.stop()
    },
  }
}

/** Returns the packages that are not in the folder: nothing is installed from the network. */
function faultOfPackages(names: string[], { folder }: Site): string | undefined {
  const missing = names.filter((name) => !existsSync(join(folder, 'node_modules', name)))
  return missing.length > 0 ? `missing: ${missing.join(', ')}` : undefined
}

/** Returns how a command serves, with its port written out, and its URL; nothing if it ends by itself. */
function servingOf(command: string, site: Site): { command: string; url: string } | undefined {
  if (/\bratesmith serve\b/.test(command)) {
    const [, port = '8787'] = /--port[= ](\d+)/.exec(command) ?? []
    const [, base = '/api'] = /--base-path[= ](\S+)/.exec(command) ?? []
    const line = command.includes('--port') ? command : `${command} --port ${port}`
    return { command: line, url: `http://127.0.0.1:${port}${base}/v1/latest` }
  }
  const program = programOf(command, site)
  const [url] = urlsOf(program)
  if (url !== undefined) return { command, url }
  if (!program.includes('\nexport default ')) return undefined
  const latest = (port: string): string => `http://127.0.0.1:${port}/api/v1/latest`
  return command.startsWith('deno serve ')
    ? { command: command.replace(' serve ', ' serve --port 8000 '), url: latest('8000') }
    : { command: `PORT=3000 ${command}`, url: latest('3000') }
}

function programOf(command: string, { folder }: Site): string {
  const [, file] = /^(?:node|bun|deno (?:run|serve) .*?) ?([\w./-]+\.m?[jt]s)$/.exec(command) ?? []
  const path = join(folder, file ?? '')
  return file !== undefined && existsSync(path) ? readFileSync(path, 'utf8') : ''
}

/** Returns the URLs in comments of a program, which it serves. */
export function urlsOf(program: string): string[] {
  return program.match(/(?<=\/\/ .*)http:\/\/127\.0\.0\.1:\d+[^\s'`]*/g) ?? []
}

function start(command: string, site: Site): Job {
  const added = (text: string, [form, replacement]: [RegExp, string]): string =>
    text.replace(form, replacement)
  const line = ADDITIONS.reduce(added, site.adapted(command))
  return startJob(['sh', '-c', line], site)
}

/**
 * Runtimes besides workerd: the commands before the path of a program, and what matches the output of a test run with a passed
 * test. Node loads the replacement of upstreams through the environment.
 */
const HOSTS: Record<string, { run: string[]; test: string[]; passed: RegExp }> = {
  Node: {
    run: [process.execPath],
    test: [process.execPath, '--test', '--test-reporter=tap'],
    // A file without tests is reported as one, with its name.
    passed: /^ok \d+ - (?!\S+\.m?ts$)/m,
  },
  Bun: {
    run: ['bun', '--preload=./upstream.mts'],
    test: ['bun', 'test', '--preload=./upstream.mts'],
    passed: /^ *[1-9]\d* pass$/m,
  },
  Deno: {
    run: ['deno', 'run', '-A', '--no-lock', '--preload=./upstream.mts'],
    test: ['deno', 'test', '-A', '--no-lock', '--no-check', '--preload=./upstream.mts'],
    passed: /\b[1-9]\d* passed/,
  },
}

const ONLY: [part: RegExp, host: string][] = [
  [/from 'ratesmith\/bun'|from 'bun|\bBun\.|from 'elysia'/, 'Bun'],
  [/from 'ratesmith\/deno'|\bDeno\./, 'Deno'],
  [/from 'cloudflare:workers'/, 'workerd'],
]

const NOTICES: readonly RegExp[] = [
  // Deno, after its first response.
  /^Deno\.serve: request\.signal aborts .*\n/m,
  // Node, about the module type of a file, which the reader's manifest determines.
  /^\(node:\d+\) \[MODULE_TYPELESS_PACKAGE_JSON\].*\n(?:Reparsing|To eliminate|\(Use) .*\n.*\n.*\n/m,
  // The first call of a store on a busy machine, whose client is still connecting.
  /^ratesmith: store: (?:get|claim) \S+ TimeoutError: timed out after 50 ms\n/gm,
  // The provider with a mistake that the page on freshness shows.
  /^ratesmith: latest rates: Our treasury: rejected: updatedAt is in seconds, not in ms\n/m,
]

export function isProgram({ language }: Block): boolean {
  return language === 'ts' || language === 'js'
}

export function hostsOf({ text }: Block): string[] {
  const [, only] = ONLY.find(([part]) => part.test(text)) ?? []
  return only === undefined ? Object.keys(HOSTS) : [only]
}

/** Runs a block as a test, a server, a handler or a script; resolves with its fault, if any. */
export async function faultOfProgram(
  block: Block,
  name: string,
  site: Site,
): Promise<string | undefined> {
  const host = HOSTS[name]
  if (!host) return faultOfWorker(block, site)
  const path = `./${site.write(block)}`
  const program = site.adapted(block.text)
  const urls = urlsOf(program)
  if (urls.length > 0) return faultOfServing([...host.run, path], urls, site)
  const isTest = program.includes("from 'node:test'")
  const isHandler = /^export (?:default|const handler\b)/m.test(program)
  const asking = isHandler ? ['./asking.mts', path] : [path]
  const command = isTest ? [...host.test, path] : [...host.run, ...asking]
  const { ended, running } = startJob(command, site)
  const fault = await ended
  if (fault !== undefined || !isTest) return fault ?? faultOfErrors(running.stderr)
  const text = running.stdout + running.stderr
  return host.passed.test(text) ? undefined : `no test passed: ${text}`
}

async function faultOfServing(
  command: string[],
  urls: string[],
  site: Site,
): Promise<string | undefined> {
  const job = startJob(command, site)
  const faults: (string | undefined)[] = []
  for (const url of urls) faults.push(await faultOfServer(job, url))
  await job.stop()
  return faults.find(Boolean) ?? faultOfErrors(job.running.stderr)
}

async function faultOfWorker(block: Block, site: Site): Promise<string | undefined> {
  const simulator = openWorkers({
    script: await bundleWorker(join(site.folder, site.write(block))),
    outboundService: ({ url }) => respondAsUpstream(new URL(url)),
  })
  const worker = await simulator.getWorker('one')
  const response = await worker.fetch('http://localhost/api/v1/latest')
  const text = await response.text()
  return response.ok ? undefined : `returns ${response.status} ${text}`
}

function faultOfErrors(stderr: string): string | undefined {
  const errors = NOTICES.reduce((text, notice) => text.replace(notice, ''), stderr)
  return errors === '' ? undefined : errors
}
