import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, inject, it } from 'vitest'

import { ROOT } from '../system/root.ts'
import { ENTRY_POINTS } from './entry-points.ts'
import { reachedFiles } from './reached-files.ts'

const TEXTS = ['CHANGELOG.md', 'LICENSE', 'README.md', 'dist/cli/LICENSES.txt']
const RECORDS = ['package.json', 'dist/openapi.json']

/** npm runs these where a package is installed; and compiles, unasked, where there is a `binding.gyp`. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare']

const installed = inject('installed')

/** Every file that is to be in the package, and why: what is imported by nobody is not. */
function allowedFiles(): string[] {
  const modules = reachedFiles(Object.values(ENTRY_POINTS).map(({ built }) => built))
  const sources = reachedFiles([
    ...Object.values(ENTRY_POINTS).map(({ source }) => source),
    'src/cli/main.ts',
  ])
  const declared = sources.filter((path) => /^(adapters|src(?!\/cli\/))\/.*\.ts$/.test(path))
  return [
    ...TEXTS,
    ...RECORDS,
    ...pages(),
    ...modules.flatMap((path) => [path, `${path}.map`]),
    ...declared.flatMap((path) => {
      const declarations = `dist/types/${path.replace(/\.ts$/, '.d.ts')}`
      return [declarations, `${declarations}.map`]
    }),
    // The command: as it imports the manifest, that is reached from it and from its source as well.
    ...reachedFiles(['dist/cli.js']),
    // For whoever follows a map or a declaration to its source.
    ...sources,
  ]
}

function pages(): string[] {
  const names = readdirSync(ROOT).includes('docs') ? readdirSync(join(ROOT, 'docs')) : []
  return names.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)
}

/** The manifest of the package as it was installed. */
function readManifest() {
  const path = join(installed.folder, 'node_modules/ratesmith/package.json')
  return JSON.parse(readFileSync(path, 'utf8'))
}

describe('the package', () => {
  it('holds what its entry points need, its sources, its texts, and nothing else', () => {
    expect(installed.files.toSorted()).toEqual([...new Set(allowedFiles())].sort())
  })

  it('depends on three packages, and has a use for two more', () => {
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

  it('runs nothing when it is installed', () => {
    const { scripts, gypfile } = readManifest()
    expect(Object.keys(scripts).filter((name) => INSTALL_SCRIPTS.includes(name))).toEqual([])
    expect(gypfile).toBeUndefined()
    expect(installed.files).not.toContain('binding.gyp')
  })
})
