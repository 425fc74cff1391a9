import { build } from 'esbuild'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

import { ENTRY_POINTS } from '../scripts/entry-points.ts'
import { JSR_MANIFEST } from '../scripts/jsr.ts'
import * as providers from '../src/providers/index.ts'
import { FEEDS } from './fixtures/feeds.ts'

const ROOT = new URL('..', import.meta.url)
const readJson = (name: string) => Object(JSON.parse(readFileSync(new URL(name, ROOT), 'utf8')))
const manifest = readJson('package.json')

const nameOf = (subpath: string): string => (subpath === '.' ? 'index' : subpath.slice(2))

describe('an entry point', () => {
  it('is exported to npm with its built files and declarations', () => {
    const { './package.json': itself, './openapi.json': document, ...entries } = manifest.exports
    expect(itself).toBe('./package.json')
    // Not a module: JSR does not export it, and the build copies it.
    expect(document).toBe('./dist/generated/openapi.json')
    expect(Object.keys(entries).length).toBeGreaterThan(5)
    for (const [subpath, target] of Object.entries(entries)) {
      const types = expect.stringMatching(/^\.\/dist\/types\/(src|adapters)\/[\w*/-]+\.d\.ts$/)
      expect(target).toEqual({ types, default: `./dist/${nameOf(subpath)}.js` })
    }
  })

  it('is every store, exists once, and is found by the type check of tests and examples', () => {
    const subpaths = ENTRY_POINTS.map(({ subpath }) => subpath)
    expect(new Set(subpaths).size).toBe(subpaths.length)
    const stores = readdirSync(new URL('src/stores', ROOT)).filter((file) => file.endsWith('.ts'))
    const ofStores = stores.map((file) => `./stores/${file.slice(0, -'.ts'.length)}`)
    expect(subpaths).toEqual(
      expect.arrayContaining(['.', './node', './providers', './testing', ...ofStores]),
    )
    const { paths } = readJson('test/tsconfig.json').compilerOptions
    for (const { subpath, source } of ENTRY_POINTS) {
      expect(existsSync(new URL(source, ROOT)), source).toBe(true)
      const specifier = subpath.replace('.', 'ratesmith')
      const [, folder = '', name = ''] = /^(.*\/)([^/]+)$/.exec(specifier) ?? []
      const [path] = paths[specifier] ?? paths[`${folder}*`] ?? []
      expect(path?.replace('*', name), specifier).toBe(`../${source}`)
    }
  })

  it('is built, and so is the command', async () => {
    const config = await import(new URL('tsup.config.ts', ROOT).href)
    const builds: { entry: Record<string, string> }[] = config.default
    const built = builds.flatMap(({ entry }) => Object.entries(entry))
    // The handler is a file apart from the index, and not exported.
    const { cli, handler: _handler, ...entries } = Object.fromEntries(built)
    expect(readFileSync(new URL(cli ?? '', ROOT), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
    expect(manifest.bin).toEqual({ ratesmith: './dist/cli.js' })
    const expected = ENTRY_POINTS.map(({ subpath, source }) => [nameOf(subpath), source])
    expect(entries).toEqual(Object.fromEntries(expected))
  })
})

it('a program gets only the providers that it imports from ratesmith/providers', async () => {
  const factories = Object.keys(providers).filter((name) => /^create\w+Provider$/.test(name))
  expect(factories.length).toBeGreaterThan(20)
  const options = { bundle: true, format: 'esm', packages: 'external' } as const
  const pageOf = (name: string) => FEEDS[`${name}()`]?.create().attribution?.url
  const outdir = mkdtempSync(join(tmpdir(), 'providers-'))
  const source = fileURLToPath(new URL('src/providers/index.ts', ROOT))
  // As it is published: what is loaded on demand is in other files.
  await build({ ...options, entryPoints: { providers: source }, splitting: true, outdir })
  writeFileSync(join(outdir, 'package.json'), JSON.stringify({ sideEffects: false }))
  const pages = factories.map(pageOf)
  for (const [at, name] of factories.entries()) {
    const stdin = { contents: `export { ${name} } from './providers.js'`, resolveDir: outdir }
    const [program] = (await build({ ...options, stdin, write: false })).outputFiles
    const included = new Set(pages.filter((page) => program?.text.includes(`"${page}"`)))
    const onDemand = name === 'createFrankfurterProvider' ? [pageOf('createEcbProvider')] : []
    expect(included, name).toEqual(new Set([pages[at], ...onDemand]))
  }
  rmSync(outdir, { recursive: true })
})

it('the manifest for JSR has the version, the licence and the dependencies of package.json', () => {
  const { version, license, dependencies, devDependencies } = manifest
  expect(JSR_MANIFEST).toMatchObject({ version, license })
  const specifiers: string[] = Object.values(JSR_MANIFEST.imports)
  const ranges = Object.fromEntries(
    specifiers.map((each) => /^npm:(.+)@([^/]+)/.exec(each)?.slice(1) ?? []),
  )
  expect(Object.keys(ranges)).toEqual(expect.arrayContaining(Object.keys(dependencies)))
  for (const [name, range] of Object.entries(ranges)) {
    // Others are imported from the tested version on.
    expect(range, name).toBe(dependencies[name] ?? `^${devDependencies[name]}`)
  }
})

it.each(['.', 'scripts/node', 'test/apps', 'test/lint', 'test/tools'])(
  'the lock file in %s has the checksum of every package, and no URL of one',
  (folder) => {
    const { '': _root, ...installed } = readJson(`${folder}/package-lock.json`).packages
    // A package bundled in another one is covered by the checksum of that one.
    const entries = Object.entries<Record<string, unknown>>(installed).filter(
      ([, { inBundle }]) => !inBundle,
    )
    expect(entries.length).toBeGreaterThan(1)
    const bare = entries.filter(([, each]) => !/^sha512-\S{88}$/.test(String(each['integrity'])))
    const elsewhere = entries.filter(([, each]) => 'resolved' in each || 'link' in each)
    expect([bare, elsewhere]).toEqual([[], []])
  },
)
