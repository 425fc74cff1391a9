import { urlsOf } from './commands.ts'
import { faultOfServer, startJob } from './job.ts'
import type { Job } from './job.ts'
import type { Block } from './page.ts'
import type { Site } from './site.ts'

/** A runtime, and what its command line says before a program. */
interface Host {
  run: string[]
  test: string[]
  /** What it prints when there was a test that passed. */
  passed: RegExp
}

/** Those that the package is for. On Node, the environment loads what stands in for the upstreams. */
const HOSTS: Record<string, Host> = {
  Node: {
    run: [process.execPath],
    test: [process.execPath, '--test', '--test-reporter=tap'],
    // It makes a test of a file that has none.
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

/** What only some runtimes have, and which. */
const ONLY: [part: RegExp, hosts: string[]][] = [
  [/from 'ratesmith\/bun'|from 'bun|\bBun\./, ['Bun']],
  [/from 'ratesmith\/deno'|\bDeno\./, ['Deno']],
  [/from 'elysia'/, ['Bun']],
  [/from 'cloudflare:workers'/, ['workerd']],
]

/** What a runtime says on stderr without anything being wrong. */
const NOTICES: readonly RegExp[] = [
  // Deno, once it has answered a request.
  /^Deno\.serve: request\.signal aborts .*\n/m,
  // Node, of a file whose name leaves open what its text is: in the reader's own project the manifest says it.
  /^\(node:\d+\) \[MODULE_TYPELESS_PACKAGE_JSON\].*\n(?:Reparsing|To eliminate|\(Use) .*\n.*\n.*\n/m,
  // The first that a store is asked on a busy machine: its client is still on its way to the database. Bun shows the source.
  /^(?:get|claim) (?:\d+ \|.*\n(?:.*\n){1,9}?)?TimeoutError: no answer within 50 ms\n(?: +at .*\n)+\n?/gm,
]

/** Whether a block is a program. */
export function isProgram({ language }: Block): boolean {
  return language === 'ts' || language === 'js'
}

/** The names of the runtimes that a block is for. */
export function hostsOf({ text }: Block): string[] {
  const [, only] = ONLY.find(([part]) => part.test(text)) ?? []
  return only ?? Object.keys(HOSTS)
}

/** Runs a block on a runtime, as what it is; resolves with what went wrong, or with nothing. */
export async function faultOfProgram(
  block: Block,
  name: string,
  site: Site,
): Promise<string | undefined> {
  const host = HOSTS[name]
  if (!host) throw new TypeError(`there is no ${name}`)
  const path = `./${site.write(block)}`
  const text = site.adapted(block.text)
  if (text.includes("from 'node:test'")) return faultOfTests([...host.test, path], host, site)
  const urls = urlsOf(text)
  if (urls.length > 0) return faultOfServing([...host.run, path], urls, site)
  if (/^export (?:default|const handler\b)/m.test(text)) {
    return faultOfEnding([...host.run, './asking.mts', path], site)
  }
  return faultOfEnding([...host.run, path], site)
}

async function faultOfTests(
  command: string[],
  { passed }: Host,
  site: Site,
): Promise<string | undefined> {
  const { code, stdout, stderr } = await start(command, site).ended
  const hasPassed = code === 0 && passed.test(stdout + stderr)
  return hasPassed ? undefined : `ended with ${code}: ${stdout}${stderr}`
}

async function faultOfServing(
  command: string[],
  urls: string[],
  site: Site,
): Promise<string | undefined> {
  const job = start(command, site)
  const faults: (string | undefined)[] = []
  for (const url of urls) faults.push(await faultOfServer(job, url))
  const { stderr } = job.written()
  await job.stop()
  return faults.find(Boolean) ?? faultOfErrors(stderr)
}

async function faultOfEnding(command: string[], site: Site): Promise<string | undefined> {
  const { code, stdout, stderr } = await start(command, site).ended
  return code === 0 ? faultOfErrors(stderr) : `ended with ${code}: ${stdout}${stderr}`
}

function faultOfErrors(stderr: string): string | undefined {
  const errors = NOTICES.reduce((text, notice) => text.replace(notice, ''), stderr)
  return errors === '' ? undefined : errors
}

function start(command: string[], { folder, env }: Site): Job {
  return startJob(command, { cwd: folder, env })
}
