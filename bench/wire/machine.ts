import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'

import { ROOT } from '../../test/system/runtimes.ts'
import { wrkVersion } from './load.ts'
import type { GeneratorName } from './load.ts'
import { RUNTIMES } from './rows.ts'
import type { RuntimeName } from './rows.ts'

const PEERS = [
  '@hono/node-server',
  '@whatwg-node/server',
  'express',
  'fastify',
  'h3',
  'hono',
  'itty-router',
  'srvx',
  'zod',
]

const GIGABYTE = 1_073_741_824

const SOURCES = ['src', 'adapters']

/** Describes machine, versions and command of a measurement, as lines of Markdown. */
export function describeMachine(
  command: string,
  runtimes: readonly RuntimeName[],
  generator: GeneratorName,
): string {
  const [first] = cpus()
  const load = generator === 'wrk' ? wrkVersion() : `autocannon ${versionOf('autocannon')}`
  return [
    `- ${first?.model.trim() ?? 'unknown processor'}, ${cpus().length} cores, ${(totalmem() / GIGABYTE).toFixed(1)} GB, ${process.platform}`,
    `- ${runtimes.map(runtimeVersion).join(', ')}`,
    `- ${PEERS.map((name) => `${name} ${versionOf(name)}`).join(', ')}`,
    `- load by ${load}, in a separate process on the same machine`,
    `- dist/ of ${builtAt()}`,
    `- \`${[command, ...process.argv.slice(2)].join(' ')}\`, ${new Date().toISOString().slice(0, 10)}`,
  ].join('\n')
}

function builtAt(): string {
  const { mtime } = statSync(`${ROOT}/dist/index.js`)
  const isOld = SOURCES.some((folder) =>
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
