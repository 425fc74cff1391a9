import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

import { onTestFinished } from 'vitest'

import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { listen, run } from './processes.ts'
import type { Runtime } from './runtimes.ts'
import { CLI, upstreams } from './serving.ts'

/** What makes a pseudo-terminal, from util-linux. */
export const SCRIPT = '/usr/bin/script'

const DAY = 86_400_000

/** What a command has written, and its exit code. */
export interface Ran {
  code: number | null
  stdout: string
  stderr: string
}

/** An empty folder for the cache of a test. */
export function cacheFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ratesmith-cache-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Both upstreams as a server, what they were asked for, and the environment that leads to them and to a new cache. */
export async function startUpstreams(
  listener: RequestListener = upstreams(openErApiPayload({ now: Date.now() })),
): Promise<{ calls: string[]; env: NodeJS.ProcessEnv; stop: () => Promise<void> }> {
  const calls: string[] = []
  const { url, server } = await listen((request, response) => {
    calls.push(request.url ?? '')
    listener(request, response)
  })
  return {
    calls,
    env: {
      RATESMITH_LATEST_URL: url,
      RATESMITH_HISTORY_URL: url,
      RATESMITH_CACHE_DIR: cacheFolder(),
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The environment of a command: a test that says nothing of a cache has none, and the machine's proxy is none of its business. */
function surroundings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { RATESMITH_CACHE_DIR: '/dev/null/none', NO_PROXY: '127.0.0.1', TERM: 'xterm', ...env }
}

/** Runs `ratesmith` with its outputs in pipes. */
export function piped(
  [, program, ...parameters]: Runtime,
  args: string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Ran> {
  return run(program, [...parameters, CLI, ...args], { env: surroundings(env) })
}

/** What a person has seen on a terminal: what it says, and what was sent to say it. */
export interface Seen {
  code: number | null
  lines: string[]
  raw: string
}

/** Runs `ratesmith` on a pseudo-terminal that is so many characters wide. */
export async function onTerminal(
  [, program, ...parameters]: Runtime,
  args: string[],
  { columns = 80, env = {} }: { columns?: number; env?: NodeJS.ProcessEnv } = {},
): Promise<Seen> {
  const command = [program, ...parameters, CLI, ...args].map((word) => `'${word}'`).join(' ')
  const { code, stdout } = await run(
    SCRIPT,
    ['-qec', `stty cols ${columns}; exec ${command}`, '/dev/null'],
    { env: surroundings({ LC_ALL: 'C.UTF-8', NO_COLOR: undefined, SHELL: '/bin/sh', ...env }) },
  )
  const lines = stripVTControlCharacters(stdout).trimEnd().split(/\r*\n/)
  return { code, lines, raw: stdout }
}

/** Makes everything in the cache `folder` so many days older than it is. */
export function ageCache(folder: string, days: number): void {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  for (const name of names.filter((each) => each.endsWith('.cache'))) {
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
