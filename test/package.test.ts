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

function readJson(name: string) {
  return Object(JSON.parse(readFileSync(new URL(name, ROOT), 'utf8')))
}

const manifest = readJson('package.json')

/** Returns the name of the built files of an entry point. */
function nameOf(subpath: string): string {
  return subpath === '.' ? 'index' : subpath.slice(2)
}

describe('an entry point', () => {
  it('is exported to npm with its built files and declarations', () => {
    const { './package.json': itself, './openapi.json': document, ...entries } = manifest.exports
    expect(itself).toBe('./package.json')
    // Not a module: JSR does not export it, and the build copies it.
    expect(document).toBe('./dist/generated/openapi.json')
    for (const [subpath, target] of Object.entries(entries)) {
      const types = expect.stringMatching(/^\.\/dist\/types\/(src|adapters)\/[\w*/-]+\.d\.ts$/)
      expect(target).toEqual({ types, default: `./dist/${nameOf(subpath)}.js` })
    }
    for (const { source } of ENTRY_POINTS)
      expect(existsSync(new URL(source, ROOT)), source).toBe(true)
  })

  it('is every store, and one for all providers', () => {
    const subpaths = ENTRY_POINTS.map(({ subpath }) => subpath)
    expect(subpaths).toEqual(
      expect.arrayContaining(['.', './node', './providers', './stores/redis', './testing']),
    )
    expect(new Set(subpaths).size).toBe(subpaths.length)
    const stores = readdirSync(new URL('src/stores', ROOT)).filter((file) => file.endsWith('.ts'))
    expect(subpaths).toEqual(
      expect.arrayContaining(stores.map((file) => `./stores/${file.slice(0, -'.ts'.length)}`)),
    )
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

  it('is found by the type check of tests and examples', () => {
    const { paths } = readJson('test/tsconfig.json').compilerOptions
    for (const { subpath, source } of ENTRY_POINTS) {
      const specifier = subpath.replace('.', 'ratesmith')
      const [, folder = '', name = ''] = /^(.*\/)([^/]+)$/.exec(specifier) ?? []
      const [path] = paths[specifier] ?? paths[`${folder}*`] ?? []
      expect(path?.replace('*', name), specifier).toBe(`../${source}`)
    }
  })
})

describe('ratesmith/providers', () => {
  const factories = Object.keys(providers).filter((name) => /^create\w+Provider$/.test(name))
  const options = { bundle: true, format: 'esm', write: false, packages: 'external' } as const

  it('adds to a program only the providers that it imports', async () => {
    const ECB_PAGE = FEEDS['createEcbProvider()']?.create().attribution?.url
    const folder = mkdtempSync(join(tmpdir(), 'providers-'))
    const providers = fileURLToPath(new URL('src/providers/index.ts', ROOT))
    // As it is published: what is loaded on demand is in other files.
    await build({
      ...options,
      entryPoints: { providers },
      splitting: true,
      write: true,
      outdir: folder,
    })
    const pages = factories.map((name) => FEEDS[`${name}()`]?.create().attribution?.url)
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ sideEffects: false }))
    for (const [at, name] of factories.entries()) {
      const contents = `export { ${name} } from './providers.js'`
      const stdin = { contents, resolveDir: folder }
      const [program] = (await build({ ...options, stdin })).outputFiles
      const included = new Set(pages.filter((page) => program?.text.includes(`"${page}"`)))
      const onDemand = name === 'createFrankfurterProvider' ? [ECB_PAGE] : []
      expect(included, name).toEqual(new Set([pages[at], ...onDemand]))
    }
    rmSync(folder, { recursive: true })
  })
})

describe('the manifest for JSR', () => {
  it('has the version and the licence of package.json', () => {
    expect(JSR_MANIFEST).toMatchObject({ version: manifest.version, license: manifest.license })
  })

  it('imports packages from npm: dependencies in the range of package.json, others from the tested version on', () => {
    const { dependencies, devDependencies } = manifest
    const specifiers: string[] = Object.values(JSR_MANIFEST.imports)
    const ranges = specifiers.map((specifier) => {
      const [, name = '', range = ''] = /^npm:(.+)@([^/]+)/.exec(specifier) ?? []
      return [name, range] as const
    })
    for (const [name, range] of ranges) {
      expect(dependencies[name] ?? `^${devDependencies[name]}`, name).toBe(range)
    }
    const names = ranges.map(([name]) => name)
    expect(names).toEqual(expect.arrayContaining(Object.keys(dependencies)))
  })
})

describe.each(['.', 'scripts/node', 'test/apps', 'test/tools'])('the lock file in %s', (folder) => {
  const { '': root, ...installed } = readJson(`${folder}/package-lock.json`).packages
  // A package bundled in another one is covered by the checksum of that one.
  const entries = Object.entries<{ integrity?: string; inBundle?: boolean }>(installed).filter(
    ([, { inBundle }]) => !inBundle,
  )

  it('has the checksum of every package, so that no other bytes are installed', () => {
    expect(root).not.toHaveProperty('integrity')
    expect(entries.length).toBeGreaterThan(1)
    const bare = entries.filter(([, { integrity = '' }]) => !/^sha512-\S{88}$/.test(integrity))
    expect(bare.map(([path]) => path)).toEqual([])
  })

  it('has no URL of a package, so that any registry can serve it', () => {
    const elsewhere = entries.filter(([, entry]) => 'resolved' in entry || 'link' in entry)
    expect(elsewhere.map(([path]) => path)).toEqual([])
  })
})
