import { join } from 'node:path'

import { respondAsUpstream } from '../../system/upstreams.ts'
import { bundleWorker, openWorkers } from '../../system/workerd.ts'
import { urlsOf } from './commands.ts'
import { faultOfServer, startJob } from './job.ts'
import type { Block } from './page.ts'
import type { Site } from './site.ts'

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

/** Code for one runtime only. */
const ONLY: [part: RegExp, host: string][] = [
  [/from 'ratesmith\/bun'|from 'bun|\bBun\.|from 'elysia'/, 'Bun'],
  [/from 'ratesmith\/deno'|\bDeno\./, 'Deno'],
  [/from 'cloudflare:workers'/, 'workerd'],
]

/** Output on stderr that is not an error. */
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

/** Runs a block in workerd until the end of the test. */
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
