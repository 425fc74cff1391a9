import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { beforeEach, describe, expect, inject, it } from 'vitest'

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

const DOCUMENTS = ['CHANGELOG.md', 'LICENSE', 'README.md', 'dist/cli/LICENSES.txt']
const RECORDS = ['package.json', 'dist/generated/openapi.json']

/** Built as a file of its own, from which bundlers take the parts of the index that an app uses. */
const INNER = 'dist/handler.js'

/** Of all files, in bytes. */
const MAX_UNPACKED_SIZE = 3_000_000

/** Scripts that npm runs for an installed tarball; npm also compiles a package that has a `binding.gyp`. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall']

const installed = inject('installed')

/** Returns every file that belongs in the package: entry points with everything that they import, and documents. */
function expectedFiles(): string[] {
  const modules = Object.values(MODULES)
  const built = reachedFiles(modules.map((module) => module.built))
  const sources = reachedFiles([...modules.map(({ source }) => source), 'src/cli/main.ts'])
  const declared = sources.filter((path) => /^(adapters|src(?!\/cli\/))\/.*\.ts$/.test(path))
  const paths = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  const guides = paths.filter((name) => name.endsWith('.md'))
  const files = [
    ...DOCUMENTS,
    ...RECORDS,
    ...guides.map((name) => `docs/${name}`),
    ...built,
    INNER,
    ...declared.map((path) => `dist/types/${path.replace(/\.ts$/, '.d.ts')}`),
    ...reachedFiles(['dist/cli.js']),
  ]
  return [...new Set(files)]
}

function readManifest() {
  const path = join(installed.folder, 'node_modules/ratesmith/package.json')
  return JSON.parse(readFileSync(path, 'utf8'))
}

describe('the package', () => {
  it('contains exactly what its entry points need, and its documents', () => {
    expect(installed.files.toSorted()).toEqual(expectedFiles().toSorted())
  })

  it('takes at most 3 MB', () => {
    expect(installed.unpackedSize).toBeLessThan(MAX_UNPACKED_SIZE)
  })

  it('has the OpenAPI document as JSON once, and once in the handler for bundlers that read no JSON', () => {
    const text = 'Exchange-rate API: latest rates, conversion and history.'
    const withDocument = installed.files.filter((path) => {
      if (!/\.js(on)?$/.test(path)) return false
      return readFileSync(join(installed.folder, 'node_modules/ratesmith', path), 'utf8').includes(
        text,
      )
    })
    expect(withDocument.toSorted()).toEqual([
      'dist/generated/openapi.json',
      expect.stringMatching(/^dist\/openapi-\w+\.js$/),
    ])
  })

  it('has the licences of what is bundled into the command, and only of that', () => {
    const packages = join(installed.folder, 'node_modules')
    const read = (path: string): string => readFileSync(join(packages, path), 'utf8')
    const licences = read('ratesmith/dist/cli/LICENSES.txt')
    expect(licences).toBe(
      ['itty-router', 'zod'].map((name) => `${name}\n\n${read(`${name}/LICENSE`)}`).join('\n'),
    )
    const imported = reachedFiles(['dist/cli.js']).flatMap((path) =>
      path.endsWith('.js')
        ? [...read(`ratesmith/${path}`).matchAll(/\b(?:from|import\()"(@?[a-z][\w:./-]*)"/g)].map(
            ([, name]) => name,
          )
        : [],
    )
    const others = imported.filter((name) => !name?.startsWith('node:'))
    expect(new Set(others)).toEqual(new Set(['@whatwg-node/server', 'ioredis', 'undici']))
  })

  it('has three dependencies and two optional peers', () => {
    const { dependencies, peerDependencies, peerDependenciesMeta, ...others } = readManifest()
    expect(Object.keys(dependencies)).toEqual(['@whatwg-node/server', 'itty-router', 'zod'])
    expect(Object.keys(peerDependencies)).toEqual(['ioredis', 'undici'])
    expect(peerDependenciesMeta).toEqual({
      ioredis: { optional: true },
      undici: { optional: true },
    })
    expect(others).not.toHaveProperty('optionalDependencies')
    expect(others).not.toHaveProperty('bundleDependencies')
    expect(others).not.toHaveProperty('bundledDependencies')
  })

  it('installs without a deprecated package', () => {
    expect(installed.warnings).not.toMatch(/deprecated/i)
  })

  it('runs nothing when it is installed', () => {
    const { scripts, gypfile } = readManifest()
    expect(Object.keys(scripts).filter((name) => INSTALL_SCRIPTS.includes(name))).toEqual([])
    expect(gypfile).toBeUndefined()
    expect(installed.files).not.toContain('binding.gyp')
  })
})

const app = openApp()

app.write('report.js', reportProgram(ALL))

const PRINT_REPORT = app.write(
  'print-report.js',
  `import { report } from './report.js'
  console.log(JSON.stringify(await report()))`,
)

const PRINT_RECORDS = app.write(
  'print-records.js',
  `import document from 'ratesmith/openapi.json' with { type: 'json' }
  import manifest from 'ratesmith/package.json' with { type: 'json' }
  import { createRatesHandler } from 'ratesmith'
  const handler = createRatesHandler({ basePath: '/fx' })
  const response = await handler(new Request('http://localhost/fx/v1/openapi.json'))
  const served = JSON.stringify(await response.json())
  const expected = JSON.stringify({ ...document, servers: [{ url: '/fx' }] })
  console.log(document.openapi, document.info.version, manifest.version, served === expected)`,
)

const WITHOUT_UNDICI = app.write(
  'without-undici.js',
  `import { createUndiciFetch } from 'ratesmith/node'
  await createUndiciFetch().catch(({ message }) => console.log(message))`,
)

describe.each(RUNTIMES)('the installed package on %s', (name, program, ...args) => {
  beforeEach(({ skip }) => requireProgram(name, program, skip))

  async function print(file: string): Promise<string> {
    const { code, stdout, stderr } = await run(program, [...args, file], { cwd: app.folder })
    if (code !== 0) throw new Error(stderr)
    return stdout
  }

  it('exports the names of every module, and converts', async () => {
    const report = JSON.parse(await print(PRINT_REPORT))
    expect(report).toEqual(await expectedReport(ALL))
    expect(report.conversion).toMatchObject({ from: 'USD', to: 'EUR', amount: 100 })
  })

  it('has its OpenAPI document and its manifest', async () => {
    const { version } = manifest
    expect(await print(PRINT_RECORDS)).toBe(`3.1.1 ${version} ${version} true\n`)
  })
})

describe('the installed package', () => {
  it('loads without undici, and names the missing package on use', async () => {
    const { stdout } = await run(process.execPath, [WITHOUT_UNDICI], { cwd: app.folder })
    expect(stdout).toMatch(/^undici [^\n]*npm install undici\n$/)
  })

  it('has a command', async () => {
    const command = join(inject('installed').folder, 'node_modules/.bin/ratesmith')
    const stdout = expect.stringMatching(/^\d+\.\d+\.\d+\n$/)
    expect(await run(command, ['--version'])).toMatchObject({ code: 0, stdout })
  })
})
