import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { cpus } from 'node:os'

import { ROOT } from '../../test/system/runtimes.ts'
import { hasOwnCores } from './cores.ts'
import type { Measuring } from './rounds.ts'
import { RUNTIMES } from './rows.ts'
import type { RuntimeName } from './rows.ts'

const PEERS =
  '@hono/node-server @whatwg-node/server autocannon express fastify h3 hono itty-router srvx zod'

/** Describes machine, versions and command of a measurement, as lines of Markdown. */
export function describeMachine(
  command: string,
  runtimes: readonly RuntimeName[],
  { connections, rounds, seconds }: Measuring,
): string {
  const versions = PEERS.split(' ').map((name) => `${name} ${versionOf(name)}`)
  return [
    `- ${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${cpus().length} cores, ${process.platform}`,
    `- ${[...runtimes.map(runtimeVersion), ...versions].join(', ')}`,
    `- dist/ of ${builtAt()}`,
    `- \`${[command, ...process.argv.slice(2)].join(' ')}\`, ${new Date().toISOString().slice(0, 10)}`,
    `- ${connections} keep-alive connections; medians of ${rounds} rounds of ${seconds} s per server` +
      (hasOwnCores ? '; servers and load on separate cores' : ''),
  ].join('\n')
}

function builtAt(): string {
  const { mtime } = statSync(`${ROOT}/dist/index.js`)
  const isOld = ['src', 'adapters'].some((folder) =>
    readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: 'utf8' }).some(
      (name) => statSync(`${ROOT}/${folder}/${name}`).mtime > mtime,
    ),
  )
  return `${mtime.toISOString()}${isOld ? ', **older than the sources**' : ''}`
}

function runtimeVersion(name: RuntimeName): string {
  const [title, program] = RUNTIMES[name]
  const [version] = /\d+\.\d+\.\d+\S*/.exec(execFileSync(program, ['--version']).toString()) ?? []
  return `${title} ${version ?? ''}`
}

function versionOf(name: string): string {
  const manifest = readFileSync(`${ROOT}/node_modules/${name}/package.json`, 'utf8')
  const { version }: { version: string } = JSON.parse(manifest)
  return version
}
