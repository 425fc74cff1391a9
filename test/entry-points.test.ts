import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

const ROOT = new URL('..', import.meta.url)
const manifest = readJson('package.json')
const jsr = readJson('jsr.json')

/** What an app may import, by what it writes behind the package's name, and the source of each. */
const SOURCES: Record<string, string> = jsr.exports

function readJson(name: string) {
  return Object(JSON.parse(readFileSync(new URL(name, ROOT), 'utf8')))
}

/** What tsup builds: sources by the name of the file in `dist/`. */
async function readBuild(): Promise<[name: string, source: string][]> {
  const config = await import(new URL('tsup.config.ts', ROOT).href)
  const builds: { entry: Record<string, string> }[] = config.default
  return builds.flatMap(({ entry }) => Object.entries(entry))
}

/** The subpath of an entry that is built under `name`. */
function toSubpath(name: string): string {
  return name === 'index' ? '.' : `./${name}`
}

describe('an entry point', () => {
  it('has a source in every list of them', () => {
    for (const source of Object.values(SOURCES)) {
      expect(readFileSync(new URL(source, ROOT), 'utf8')).toContain('export ')
    }
  })

  it('is exported to npm with what is built of that source', () => {
    const { './package.json': itself, './openapi.json': document, ...entries } = manifest.exports
    expect(itself).toBe('./package.json')
    // No module: JSR does not export it, and the build copies it.
    expect(document).toBe('./dist/openapi.json')
    const expected = Object.entries(SOURCES).map(([subpath, source]) => {
      const name = subpath === '.' ? 'index' : subpath.slice(2)
      const types = source.replace(/^\.\/(.*)\.ts$/, './dist/types/$1.d.ts')
      return [subpath, { types, default: `./dist/${name}.js` }]
    })
    expect(entries).toEqual(Object.fromEntries(expected))
  })

  it('is built, and so is the command', async () => {
    const built = (await readBuild()).map(([name, source]) => [toSubpath(name), `./${source}`])
    expect(Object.fromEntries(built)).toEqual({ ...SOURCES, './cli': './src/cli/main.ts' })
    expect(manifest.bin).toEqual({ ratesmith: './dist/cli.js' })
  })

  it('is found by the type check of tests and examples', () => {
    const { paths } = readJson('test/tsconfig.json').compilerOptions
    const expected = Object.entries(SOURCES).map(([subpath, source]) => [
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

  it('takes packages from npm: its own in the range of package.json, others from the tested version on', () => {
    const { dependencies, devDependencies } = manifest
    const specifiers: string[] = Object.values(jsr.imports)
    const asked = specifiers.map((specifier) => {
      const [, name = '', range = ''] = /^npm:(.+)@([^/]+)/.exec(specifier) ?? []
      return [name, range] as const
    })
    for (const [name, range] of asked) {
      expect(dependencies[name] ?? `^${devDependencies[name]}`, name).toBe(range)
    }
    const names = asked.map(([name]) => name)
    expect(names).toEqual(expect.arrayContaining(Object.keys(dependencies)))
  })
})
