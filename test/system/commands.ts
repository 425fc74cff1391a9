import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

import { expect } from 'vitest'

import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { listen, run, start, temporaryFolder } from './processes.ts'
import type { Running } from './processes.ts'
import type { Runtime } from './runtimes.ts'
import { CLI, upstreams } from './serving.ts'

/** Makes a pseudo-terminal; from util-linux. */
export const SCRIPT = '/usr/bin/script'

const DAY = 86_400_000

/** Both upstreams as a server, the paths of its requests, and the environment that points to it and to a new cache. */
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
  return { calls, env: env satisfies NodeJS.ProcessEnv, stop: close }
}

/** The environment of a command: without a cache unless a test sets one, and without the machine's proxy. */
function surroundings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { RATESMITH_CACHE_DIR: '/dev/null/none', NO_PROXY: '127.0.0.1', TERM: 'xterm', ...env }
}

/** The words of `args`, which is a text where no word has a space. */
function wordsOf(args: string | readonly string[]): readonly string[] {
  return typeof args === 'string' ? args.split(' ') : args
}

/** Runs `ratesmith` with its outputs in pipes. */
export function piped(
  [, program, ...parameters]: Runtime,
  args: string | readonly string[],
  env: NodeJS.ProcessEnv = {},
): ReturnType<typeof run> {
  return run(program, [...parameters, CLI, ...wordsOf(args)], { env: surroundings(env) })
}

/** Starts `ratesmith` on a pseudo-terminal that is `columns` characters wide. */
export function startOnTerminal(
  [, program, ...parameters]: Runtime,
  args: string | readonly string[],
  { columns = 80, env = {} }: { columns?: number; env?: NodeJS.ProcessEnv } = {},
): Running {
  const words = [program, ...parameters, CLI, ...wordsOf(args)]
  const command = words.map((word) => `'${word}'`).join(' ')
  return start(SCRIPT, ['-qec', `stty cols ${columns}; exec ${command}`, '/dev/null'], {
    env: surroundings({ LC_ALL: 'C.UTF-8', NO_COLOR: undefined, SHELL: '/bin/sh', ...env }),
  })
}

/** Runs `ratesmith` on a pseudo-terminal to its end: what a person sees, line by line, and what was sent to show it. */
export async function onTerminal(...started: Parameters<typeof startOnTerminal>) {
  const running = startOnTerminal(...started)
  const code = await running.exited
  const raw = running.stdout
  return { code, lines: stripVTControlCharacters(raw).trimEnd().split(/\r*\n/), raw }
}

/** Expects that a command ended with 2 and a line on stderr that contains `line`, and printed nothing else. */
export function expectRefused(
  { code, stdout, stderr }: Awaited<ReturnType<typeof run>>,
  line: string,
): void {
  expect(stderr).toMatch(/^ratesmith: [^\n]+\n$/)
  expect(stderr).toContain(line)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
}

/** Makes everything in the cache `folder` older by `days`. */
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
    writeFileSync(join(folder, name), JSON.stringify(envelope))
  }
}
