import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

const ROOT = new URL('..', import.meta.url)
const manifest = readJson('package.json')
const jsr = readJson('jsr.json')

/** The source of each entry point, by its subpath. */
const SOURCES: [subpath: string, source: string][] = Object.entries(jsr.exports)

function readJson(name: string) {
  return Object(JSON.parse(readFileSync(new URL(name, ROOT), 'utf8')))
}

describe('an entry point', () => {
  it('is exported to npm with its built files', () => {
    const { './package.json': itself, './openapi.json': document, ...entries } = manifest.exports
    expect(itself).toBe('./package.json')
    // Not a module: JSR does not export it, and the build copies it.
    expect(document).toBe('./dist/openapi.json')
    const expected = SOURCES.map(([subpath, source]) => {
      const name = subpath === '.' ? 'index' : subpath.slice(2)
      const types = source.replace(/^\.\/(.*)\.ts$/, './dist/types/$1.d.ts')
      return [subpath, { types, default: `./dist/${name}.js` }]
    })
    expect(entries).toEqual(Object.fromEntries(expected))
  })

  it('is built, and so is the command', async () => {
    const config = await import(new URL('tsup.config.ts', ROOT).href)
    const builds: { entry: Record<string, string> }[] = config.default
    const built = builds.flatMap(({ entry }) => Object.entries(entry))
    const { cli, ...all } = Object.fromEntries(built)
    // Inner modules, which the build puts into chunks, are not exported.
    const inner = ['handler', 'providers/exchange-rate-api', 'providers/frankfurter']
    const entries = Object.fromEntries(
      Object.entries(all).filter(([name]) => !inner.includes(name)),
    )
    expect(readFileSync(new URL(cli ?? '', ROOT), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
    expect(manifest.bin).toEqual({ ratesmith: './dist/cli.js' })
    const expected = SOURCES.map(([subpath, source]) => [
      subpath === '.' ? 'index' : subpath.slice(2),
      source.slice(2),
    ])
    expect(entries).toEqual(Object.fromEntries(expected))
  })

  it('is found by the type check of tests and examples', () => {
    const { paths } = readJson('test/tsconfig.json').compilerOptions
    const expected = SOURCES.map(([subpath, source]) => [
      subpath.replace('.', 'ratesmith'),
      [`.${source}`],
    ])
    expect(paths).toEqual(Object.fromEntries(expected))
  })
})

describe('jsr.json', () => {
  it('has the version and the licence of package.json', () => {
    expect(jsr).toMatchObject({ version: manifest.version, license: manifest.license })
  })

  it('imports packages from npm: dependencies in the range of package.json, others from the tested version on', () => {
    const { dependencies, devDependencies } = manifest
    const specifiers: string[] = Object.values(jsr.imports)
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
