import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { freePort } from './ports.ts'
import { run, start } from './processes.ts'
import { ROOT } from './root.ts'

const TSC = join(ROOT, 'node_modules/.bin/tsc')

let folder: string

/** The packed tarball, installed into an empty folder, as a user has it. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratesmith-package-'))
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const packed = await npm(args, ROOT)
  const [{ filename }] = JSON.parse(packed)
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  await npm(['install', '--no-audit', '--no-fund', '--prefer-offline', `./${filename}`], folder)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function npm(args: string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await run('npm', args, { cwd })
  if (code !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}`)
  return stdout
}

/** What the app of each framework in the README's table is; the others have files instead. */
const APPS: Record<string, string> = {
  'Express 4, 5': `import express from 'express'
    import { toExpressHandler } from 'ratesmith/express'
    const app = express()`,
  Hono: `import { Hono } from 'hono'
    const app = new Hono()`,
  'H3 v2': `import { H3 } from 'h3'
    const app = new H3()`,
  Elysia: `import { Elysia } from 'elysia'
    const app = new Elysia()`,
  'Fastify 5': `import fastify from 'fastify'
    import { toExpressHandler } from 'ratesmith/express'
    declare const rates: ReturnType<typeof toExpressHandler>
    const app = fastify()`,
}

/** The rows of the table of frameworks: each with its name and its line. */
function readmeFrameworks(): { name: string; line: string }[] {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const [table = ''] = /^\| framework .*?\n\n/ms.exec(readme) ?? []
  return [...table.matchAll(/^\| ([A-Z].*?) +\| .*? \| `(.*?)`/gm)].map(
    ([, name = '', line = '']) => ({
      name,
      line,
    }),
  )
}

/** The TypeScript blocks of the README, in their order. */
function readmeBlocks(): string[] {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  return [...readme.matchAll(/^```ts\n(.*?)^```/gms)].map(([, block = '']) => block)
}

/** The README's provider, which another block imports. */
function treasuryBlock(): string {
  return readmeBlocks().find((block) => block.includes('export const treasury')) ?? ''
}

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text)
}

describe('the repository', () => {
  it('holds nothing that it says is to be ignored', async ({ skip }) => {
    const args = ['ls-files', '--cached', '--ignored', '--exclude-standard']
    const { code, stdout } = await run('git', args)
    if (code !== 0) skip('this is no clone')
    expect(stdout).toBe('')
  })
})

describe('the README', () => {
  it('has code that compiles, every block of it', async () => {
    const blocks = readmeBlocks()
    expect(blocks.length).toBeGreaterThanOrEqual(8)
    const names = blocks.map((block, index) => {
      write(`readme-${index}.ts`, block)
      return `readme-${index}.ts`
    })
    const options = {
      module: 'nodenext',
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
      // As the runtimes want them, with the endings of their files.
      allowImportingTsExtensions: true,
      // The clients that are shown are the reader's own.
      paths: { ioredis: [join(ROOT, 'node_modules/ioredis/built/index.d.ts')] },
    }
    write('treasury.ts', treasuryBlock())
    write('workers.d.ts', readFileSync(join(ROOT, 'test/system/cloudflare-workers.d.ts'), 'utf8'))
    expect(await compile([...names, 'workers.d.ts'], options)).toBe('')
  })

  it('has lines that compile for every framework', async () => {
    // What a reader has installed already.
    for (const name of ['express', 'hono', 'h3', 'elysia', 'fastify', '@types']) {
      symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
    }
    const frameworks = readmeFrameworks()
    expect(frameworks).toHaveLength(9)
    const names = frameworks.map(({ name, line }, index) => {
      const handler =
        "import { createRatesHandler } from 'ratesmith'\nconst handler = createRatesHandler()"
      write(`framework-${index}.ts`, [APPS[name] ?? '', handler, line, 'export {}'].join('\n'))
      return `framework-${index}.ts`
    })
    // The declarations of the frameworks are not ours to check.
    const options = { module: 'nodenext', types: ['node'], skipLibCheck: true }
    expect(await compile(names, options)).toBe('')
  })

  it('starts with an example that serves', async () => {
    const [example = ''] = readmeBlocks()
    const port = await freePort()
    write('quick.ts', example.replace('3000', String(port)))
    write('upstream.mjs', stubbedFetch())
    const running = start(process.execPath, ['--import', './upstream.mjs', 'quick.ts'], {
      cwd: folder,
    })
    const target = example.match(/http:\/\/127\.0\.0\.1:3000(\S+)/)?.[1]
    const url = `http://127.0.0.1:${port}${target}`
    await expect
      .poll(
        () =>
          fetch(url).then(
            (response) => response.status,
            () => running.stderr,
          ),
        { timeout: 10_000 },
      )
      .toBe(200)
    expect(await (await fetch(url)).json()).toMatchObject({
      from: 'USD',
      to: 'EUR',
      amount: 100,
      source: { name: 'Rates By Exchange Rate API' },
    })
  })

  it('shows how to test without a network', async () => {
    const example = readmeBlocks().find((block) => block.includes('failingProvider('))
    write('offline.ts', example ?? '')
    const args = ['--test', '--test-reporter=tap', 'offline.ts']
    const { code, stdout } = await run(process.execPath, args, { cwd: folder })
    expect(stdout).toMatch(/\n# pass 4\n# fail 0\n/)
    expect(code).toBe(0)
  })

  it('shows a provider that does all it must', async () => {
    const example = readmeBlocks().find((block) => block.includes('providerContract('))
    write('treasury.ts', treasuryBlock())
    write('contract.ts', example ?? '')
    const args = ['--test', '--test-reporter=tap', 'contract.ts']
    const { code, stdout } = await run(process.execPath, args, { cwd: folder })
    expect(stdout).toMatch(/\n# pass [23]\d\n# fail 0\n/)
    expect(code).toBe(0)
  })

  it('shows how to do without HTTP', async () => {
    const example = readmeBlocks().find((block) => block.includes('rates.history'))
    write(
      'operations.ts',
      `${example}\nconsole.log(rate > 0, points.length, stats.open > 0, Object.keys(table), then.GBP, weeks.length)`,
    )
    write('upstream.mjs', stubbedFetch())
    const args = ['--import', './upstream.mjs', 'operations.ts']
    const { stdout, stderr } = await run(process.execPath, args, { cwd: folder })
    expect(stderr).toBe('')
    expect(stdout).toMatch(/^true 2\d\d true \[ 'USD', 'EUR' \] 1 52\n$/)
  })
})

/** What the compiler says of `files`, under `options` and everything strict. */
async function compile(files: string | string[], options: object): Promise<string> {
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
    ...options,
  }
  write('tsconfig.json', JSON.stringify({ compilerOptions, files: [files].flat() }))
  const { stdout, stderr } = await run(TSC, ['-p', 'tsconfig.json'], { cwd: folder })
  return stdout + stderr
}

/** A module that stands in for both upstreams, so that an example runs as it is but leaves the network alone. */
function stubbedFetch(): string {
  const now = Date.now()
  const history = frankfurterPayload({ start: '2016-01-04', end: '2099-01-01', now })
  return `const latest = ${JSON.stringify(openErApiPayload({ now }))}
const history = ${JSON.stringify(history)}
globalThis.fetch = async (url) => new Response(String(url).includes('/v6/latest/') ? latest : history)
`
}
