import { existsSync, readFileSync, readdirSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { ENTRY_POINTS } from '../scripts/entry-points.ts'
import { JSR_MANIFEST } from '../scripts/jsr.ts'

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
    for (const [subpath, target] of Object.entries(entries).filter(([, each]) => each !== null)) {
      const types = expect.stringMatching(/^\.\/dist\/types\/(src|adapters)\/[\w*/-]+\.d\.ts$/)
      expect(target).toEqual({ types, default: `./dist/${nameOf(subpath)}.js` })
    }
    for (const { source } of ENTRY_POINTS)
      expect(existsSync(new URL(source, ROOT)), source).toBe(true)
  })

  it('is every provider and store that the index does not export, and no other file there', () => {
    const subpaths = ENTRY_POINTS.map(({ subpath }) => subpath)
    expect(subpaths).toEqual(
      expect.arrayContaining(['.', './node', './providers/ecb', './stores/redis', './testing']),
    )
    expect(new Set(subpaths).size).toBe(subpaths.length)
    const inner = ['providers/exchange-rate-api', 'providers/frankfurter']
    const others = ['providers', 'stores'].flatMap((folder) =>
      readdirSync(new URL(`src/${folder}`, ROOT))
        .filter((file) => file.endsWith('.ts'))
        .map((file) => `${folder}/${file.slice(0, -'.ts'.length)}`)
        .filter((name) => !subpaths.includes(`./${name}`)),
    )
    expect(others.toSorted()).toEqual(inner)
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
