import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { expect } from 'vitest'

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
  const ended = killOnExit(running.process).finally(() => clearTimeout(timer))
  return {
    running,
    ended,
    /** Rejects unless the program ends with 0 before it is killed after the timeout. */
    async succeed(): Promise<void> {
      const code = await running.exited
      if (code !== 0) throw new Error(`ended with ${code}: ${running.stdout}${running.stderr}`)
    },
    async stop(): Promise<void> {
      kill()
      await ended
    },
  }
}

/** Requests `url` until `job` responds; rejects if it ends before, or if the response is an error. */
export async function requestServer({ running, ended }: Job, url: string): Promise<void> {
  while (!(await Promise.race([ended.then(() => true), sleep(50, false)]))) {
    const response = await fetch(url).catch(() => undefined)
    const text = await response?.text()
    if (response?.ok) return
    if (response) throw new Error(`${url} returns ${response.status} ${text}`)
  }
  throw new Error(`ended before it responded to ${url}: ${running.stdout}${running.stderr}`)
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

  return {
    /** Rejects if a command fails, or installs a package that is not in the folder. */
    async run(command: string): Promise<void> {
      const packages = installedBy(command)
      const path = (name: string): string => join(site.folder, 'node_modules', name)
      const missing = packages.filter((name) => !existsSync(path(name)))
      if (missing.length > 0) throw new Error(`missing: ${missing.join(', ')}`)
      if (packages.length > 0) return
      const serving = servingOf(command, site)
      if (!serving) return start(command, site).succeed()
      // The next server may use the same port.
      await server?.stop()
      server = start(serving.command, site)
      await requestServer(server, site.adapted(serving.url))
    },
    close: async () => server?.stop(),
  }
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

/** In comments of a program, which serves them. */
function urlsOf(program: string): string[] {
  return program.match(/(?<=\/\/ .*)http:\/\/127\.0\.0\.1:\d+[^\s'`]*/g) ?? []
}

function start(command: string, site: Site): Job {
  const added = (text: string, [form, replacement]: [RegExp, string]): string =>
    text.replace(form, replacement)
  const line = ADDITIONS.reduce(added, site.adapted(command))
  return startJob(['sh', '-c', line], site)
}

/** Runtimes besides workerd: the commands before the path of a program, and the output of a passed test. */
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
]

export function isProgram({ language }: Block): boolean {
  return language === 'ts' || language === 'js'
}

export function hostsOf({ text }: Block): string[] {
  const [, only] = ONLY.find(([part]) => part.test(text)) ?? []
  return only === undefined ? Object.keys(HOSTS) : [only]
}

/** Runs a block as a test, a server, a handler or a script; rejects if it fails or prints an error. */
export async function runProgram(block: Block, name: string, site: Site): Promise<void> {
  const host = HOSTS[name]
  if (!host) return runWorker(block, site)
  const path = `./${site.write(block)}`
  const program = site.adapted(block.text)
  const urls = urlsOf(program)
  if (urls.length > 0) {
    const job = startJob([...host.run, path], site)
    try {
      for (const url of urls) await requestServer(job, url)
    } finally {
      await job.stop()
    }
    return expectNoErrors(job.running.stderr)
  }
  const isTest = program.includes("from 'node:test'")
  const isHandler = /^export (?:default|const handler\b)/m.test(program)
  const asking = isHandler ? ['./asking.mts', path] : [path]
  const command = isTest ? [...host.test, path] : [...host.run, ...asking]
  const { running, succeed } = startJob(command, site)
  await succeed()
  if (isTest) expect(running.stdout + running.stderr).toMatch(host.passed)
  else expectNoErrors(running.stderr)
}

async function runWorker(block: Block, site: Site): Promise<void> {
  const simulator = openWorkers({
    script: await bundleWorker(join(site.folder, site.write(block))),
    outboundService: ({ url }) => respondAsUpstream(new URL(url)),
  })
  const worker = await simulator.getWorker('one')
  const response = await worker.fetch('http://localhost/api/v1/latest')
  expect(response.status, await response.text()).toBe(200)
}

function expectNoErrors(stderr: string): void {
  expect(NOTICES.reduce((text, notice) => text.replace(notice, ''), stderr)).toBe('')
}
