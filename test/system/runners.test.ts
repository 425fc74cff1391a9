import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import {
  fakeProviders,
  mountContract,
  providerContract,
  storeContract,
} from '../../src/testing/index.ts'
import { run } from './processes.ts'
import { ROOT } from './root.ts'
import { BUN, DENO, NODE } from './runtimes.ts'

/** A runner of tests: what its `test` comes from, how it runs a file, and how it says how many passed and failed. */
interface Runner {
  name: string
  imports: string
  program: string
  args: string[]
  passed: RegExp
  failed: RegExp
}

const RUNNERS: Runner[] = [
  {
    name: 'node:test on Node',
    imports: "import { test } from 'node:test'",
    program: NODE[1],
    args: ['--test', '--test-reporter=tap'],
    passed: /^# pass (\d+)$/m,
    failed: /^# fail (\d+)$/m,
  },
  {
    name: 'node:test on Deno',
    imports: "import { test } from 'node:test'",
    program: DENO[1],
    args: ['test', '-A', '--no-lock', '--no-check'],
    passed: /(\d+) passed/,
    failed: /(\d+) failed/,
  },
  {
    name: 'bun:test on Bun',
    imports: "import { test } from 'bun:test'",
    program: BUN[1],
    args: ['test'],
    passed: /^\s*(\d+) pass$/m,
    failed: /^\s*(\d+) fail$/m,
  },
  {
    name: 'vitest on Node',
    imports: "import { test } from 'vitest'",
    program: join(ROOT, 'node_modules/.bin/vitest'),
    args: ['run', '--reporter=default'],
    passed: /^\s*Tests .*?(\d+) passed/m,
    failed: /^\s*Tests .*?(\d+) failed/m,
  },
]

/** All three contracts, of what is good but for `latest`. */
function program(imports: string, latest: string): string {
  return `${imports}
import { createRatesHandler } from 'ratesmith'
import {
  failingProvider, fakeProviders, mountContract, providerContract, storeContract,
} from 'ratesmith/testing'

const providers = fakeProviders()
const handler = createRatesHandler({ providers })
const readTable = async ({ fetch, signal }) => {
  const response = await fetch('https://treasury.example/rates', { signal })
  if (!response.ok) throw new Error('treasury answered ' + response.status)
  return response.json()
}
const treasury = { attribution: providers.latest.attribution, fetchLatest: readTable }
const table = { base: 'USD', updatedAt: 1.7e12, nextUpdateAt: 1.8e12, rates: { EUR: 0.85 } }
const cases = [
  ...storeContract(() => new Map()),
  ...mountContract(() => ({ url: 'http://localhost/api', fetch: handler })),
  ...providerContract({ latest: () => ${latest}, history: () => providers.history }),
]
const requests = providerContract({ latest: () => treasury, fetch: () => Response.json(table) })
for (const { name, run } of cases) test(name, run)
for (const { name, run } of requests) test('a treasury: ' + name, run)
`
}

/** How many cases the program has. */
function countCases(): number {
  const { latest, history } = fakeProviders()
  const mount = { url: 'http://localhost/api', fetch: createRatesHandler() }
  return [
    storeContract(() => new Map()),
    mountContract(() => mount),
    providerContract({ latest: () => latest, history: () => history }),
    providerContract({ latest: () => latest, fetch }),
  ].flat().length
}

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratesmith-runners-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(ROOT, join(folder, 'node_modules/ratesmith'))
  symlinkSync(join(ROOT, 'node_modules/vitest'), join(folder, 'node_modules/vitest'))
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The example of the documentation, which says when it reaches for the network. */
function example(imports: string): string {
  const text = readFileSync(join(ROOT, 'examples/unit-test.ts'), 'utf8')
  return `${text.replace("import { test } from 'node:test'", imports)}
globalThis.fetch = async (url) => {
  console.log('the network was asked for', url)
  return Response.error()
}
`
}

describe.each(RUNNERS)('$name', (runner) => {
  async function runTests(file: string, text: string) {
    writeFileSync(join(folder, file), text)
    const args = [...runner.args, file]
    const { code, stdout, stderr } = await run(runner.program, args, { cwd: folder })
    const output = stdout + stderr
    const count = (pattern: RegExp): number => Number(pattern.exec(output)?.[1] ?? 0)
    return { code, passed: count(runner.passed), failed: count(runner.failed), output }
  }

  it('passes every case of what is good', async () => {
    const { code, passed, failed, output } = await runTests(
      'kit.test.mjs',
      program(runner.imports, 'providers.latest'),
    )
    expect({ code, passed, failed }, output).toEqual({ code: 0, passed: countCases(), failed: 0 })
  })

  it('fails for a provider that is bad', async () => {
    const { code, passed, failed, output } = await runTests(
      'kit.test.mjs',
      program(runner.imports, "failingProvider('one-bad-rate')"),
    )
    expect({ passed, failed }, output).toEqual({ passed: countCases() - 1, failed: 1 })
    expect(code).not.toBe(0)
    expect(output).toContain('expected what is dropped to be "", got "JPY"')
  })

  it('passes the tests that the documentation shows, without a network', async () => {
    const text = example(runner.imports)
    expect(text).toContain(runner.imports)
    const { code, passed, failed, output } = await runTests('example.test.ts', text)
    expect({ code, passed, failed }, output).toEqual({ code: 0, passed: 4, failed: 0 })
    expect(output).not.toContain('the network was asked for')
  })
})
