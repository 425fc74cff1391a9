import { readFileSync, readdirSync } from 'node:fs'
import { join, posix } from 'node:path'

import { describe, expect, inject, it } from 'vitest'

import { ROOT } from '../system/runtimes.ts'
import { MODULES } from './package.ts'

const DOCUMENTS = ['CHANGELOG.md', 'LICENSE', 'README.md', 'dist/cli/LICENSES.txt']
const RECORDS = ['package.json', 'dist/openapi.json']

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
    ...built.flatMap((path) => [path, `${path}.map`]),
    ...declared.flatMap((path) => {
      const declarations = `dist/types/${path.replace(/\.ts$/, '.d.ts')}`
      return [declarations, `${declarations}.map`]
    }),
    ...reachedFiles(['dist/cli.js']),
    // Source maps and declaration maps lead to the sources.
    ...sources,
  ]
  return [...new Set(files)]
}

/** Returns `paths` and all files that they import, directly or not, with `import type` and `import()`. */
function reachedFiles(paths: readonly string[]): string[] {
  const reached = new Set<string>()
  const visit = (path: string): void => {
    if (reached.has(path)) return
    reached.add(path)
    if (!/\.[jt]s$/.test(path)) return
    const text = readFileSync(join(ROOT, path), 'utf8')
    const imports = text.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"\s]+)['"]/g)
    for (const [, specifier = ''] of imports) visit(posix.join(posix.dirname(path), specifier))
  }
  for (const path of paths) visit(posix.normalize(path))
  return [...reached]
}

function readManifest() {
  const path = join(installed.folder, 'node_modules/ratesmith/package.json')
  return JSON.parse(readFileSync(path, 'utf8'))
}

describe('the package', () => {
  it('contains exactly what its entry points need, its sources and its documents', () => {
    expect(installed.files.toSorted()).toEqual(expectedFiles().toSorted())
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

  it('runs nothing when it is installed', () => {
    const { scripts, gypfile } = readManifest()
    expect(Object.keys(scripts).filter((name) => INSTALL_SCRIPTS.includes(name))).toEqual([])
    expect(gypfile).toBeUndefined()
    expect(installed.files).not.toContain('binding.gyp')
  })
})
