import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, inject, it } from 'vitest'

import manifest from '../../package.json' with { type: 'json' }
import { requireProgram, run } from '../system/processes.ts'
import { ROOT } from '../system/runtimes.ts'
import {
  ALL,
  MODULES,
  RUNTIMES,
  expectedReport,
  openApp,
  reachedFiles,
  reportProgram,
} from './package.ts'

const installed = inject('installed')
const packages = join(installed.folder, 'node_modules')
const read = (path: string): string => readFileSync(join(packages, path), 'utf8')

/** `dist/handler.js` is a separate file, from which bundlers take the parts of the index that an app uses. */
const FILES = `CHANGELOG.md LICENSE README.md dist/LICENSES.txt dist/handler.js
  dist/generated/openapi.json package.json skills/ratesmith/SKILL.md`.split(/\s+/)

/** Returns every file that belongs in the package: entry points with everything that they import, and documents. */
function expectedFiles(): string[] {
  const modules = Object.values(MODULES)
  const built = reachedFiles(modules.map((module) => module.built))
  const sources = reachedFiles([...modules.map(({ source }) => source), 'src/cli/main.ts'])
  const declared = sources.filter((path) => /^(adapters|src(?!\/cli\/))\/.*\.ts$/.test(path))
  const paths = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  const guides = paths.filter((name) => name.endsWith('.md'))
  const files = [
    ...FILES,
    ...guides.map((name) => `docs/${name}`),
    ...built,
    ...declared.map((path) => `dist/types/${path.replace(/\.ts$/, '.d.ts')}`),
    ...reachedFiles(['dist/cli.js']),
  ]
  return [...new Set(files)]
}

describe('the package', () => {
  it('contains exactly what its entry points need, and its documents, in at most 3.15 MB', () => {
    expect(installed.files.toSorted()).toEqual(expectedFiles().toSorted())
    expect(installed.unpackedSize).toBeLessThan(3_150_000)
  })

  it('has the OpenAPI document as JSON once, and once in the handler for bundlers that read no JSON', () => {
    const text = 'Exchange-rate API: latest rates, conversion and history.'
    const withDocument = installed.files.filter(
      (path) => /\.js(on)?$/.test(path) && read(`ratesmith/${path}`).includes(text),
    )
    expect(withDocument.toSorted()).toEqual([
      'dist/generated/openapi.json',
      expect.stringMatching(/^dist\/openapi-\w+\.js$/),
    ])
  })

  it('has the licences of what is bundled, and imports nothing of that', () => {
    const bundled = ['@rgrove/parse-xml', 'fflate', 'ipaddr.js', 'itty-router', 'zod']
    const licences = bundled.map(
      (name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8')}`,
    )
    expect(read('ratesmith/dist/LICENSES.txt')).toBe(licences.join('\n'))
    const isBundled = new RegExp(`from ?["'](${bundled.join('|')})`)
    const programs = installed.files.filter((path) => /^dist\/.*\.js$/.test(path))
    expect(programs.filter((path) => isBundled.test(read(`ratesmith/${path}`)))).toEqual([])
    const files = reachedFiles(['dist/cli.js']).filter((path) => path.endsWith('.js'))
    const imported = files.flatMap(
      (path) =>
        read(`ratesmith/${path}`).match(/(?<=\b(?:from|import\()")@?[a-z][\w:./-]*(?=")/g) ?? [],
    )
    const others = imported.filter((name) => !name.startsWith('node:'))
    const peers = ['@modelcontextprotocol/server', '@modelcontextprotocol/server/stdio']
    expect(new Set(others)).toEqual(new Set(['@whatwg-node/server', 'ioredis', 'undici', ...peers]))
  })

  it('has one dependency and three optional peers', () => {
    const { dependencies, peerDependencies, ...others } = JSON.parse(read('ratesmith/package.json'))
    expect(Object.keys(dependencies)).toEqual(['@whatwg-node/server'])
    const peers = ['@modelcontextprotocol/server', 'ioredis', 'undici']
    expect(Object.keys(peerDependencies)).toEqual(peers)
    const optional = Object.fromEntries(peers.map((name) => [name, { optional: true }]))
    expect(others.peerDependenciesMeta).toEqual(optional)
    expect(Object.keys(others).filter((name) => /^(optional|bundle)/.test(name))).toEqual([])
  })

  it('installs without a deprecated package, and runs nothing', () => {
    expect(installed.warnings).not.toMatch(/deprecated/i)
    const { scripts, gypfile } = JSON.parse(read('ratesmith/package.json'))
    for (const name of ['preinstall', 'install', 'postinstall'])
      expect(scripts).not.toHaveProperty(name)
    // npm compiles a package that has such a file.
    expect(gypfile).toBeUndefined()
    expect(installed.files).not.toContain('binding.gyp')
  })
})

const app = openApp()

const PRINT_REPORT = app.write(
  'report.js',
  `${reportProgram(ALL)}
  import document from 'ratesmith/openapi.json' with { type: 'json' }
  import manifest from 'ratesmith/package.json' with { type: 'json' }
  const handler = createRatesHandler({ basePath: '/fx' })
  const served = await (await handler(new Request('http://localhost/fx/v1/openapi.json'))).json()
  const { version } = manifest
  console.log(JSON.stringify({ ...(await report()), document, served, version }))`,
)

const WITHOUT_PEERS = app.write(
  'without-peers.js',
  `import { createUndiciFetch } from 'ratesmith/undici'
  await createUndiciFetch().catch(({ message }) => console.log(message))
  await import('ratesmith/mcp').catch(({ message }) => console.log(message))`,
)

it.for(RUNTIMES)(
  'the installed package on %s exports its names, converts, and has document and manifest',
  async ([name, program, ...args], { skip }) => {
    requireProgram(name, program, skip)
    const { code, stdout, stderr } = await run(program, [...args, PRINT_REPORT])
    expect(code, stderr).toBe(0)
    const { document, served, version, ...report } = JSON.parse(stdout)
    expect(report).toEqual(await expectedReport(ALL))
    expect(report.conversion).toMatchObject({ from: 'USD', to: 'EUR', amount: 100 })
    expect({ ...document, servers: [{ url: '/fx' }] }).toEqual(served)
    expect([document.openapi, document.info.version, version]).toEqual([
      '3.1.1',
      manifest.version,
      manifest.version,
    ])
  },
)

it('the installed package names the missing package where an optional one is used, also in its command', async () => {
  const sdk = '@modelcontextprotocol/server'
  const missing = `ratesmith/mcp requires ${sdk}; run: npm install ${sdk}`
  const { stdout } = await run(process.execPath, [WITHOUT_PEERS], { cwd: app.folder })
  const undici = expect.stringMatching(/^undici .*npm install undici$/)
  expect(stdout.split('\n')).toEqual([undici, missing, ''])
  const ended = await run(join(packages, '.bin/ratesmith'), ['mcp'])
  expect(ended).toEqual({ code: 1, stdout: '', stderr: `ratesmith: ${missing}\n` })
})
