import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { createRatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

import { ROOT } from '../system/root.ts'

/** A module of the package. */
export interface Module {
  /** The name that apps import. */
  specifier: string
  /** Paths relative to the project root. */
  source: string
  built: string
}

const manifest = readJson('package.json')
const jsr = readJson('jsr.json')

/** All modules by subpath, such as `./node`; exports that are plain files are left out. */
export const MODULES: Record<string, Module> = Object.fromEntries(
  Object.entries<string | { default: string }>(manifest.exports).flatMap(([subpath, target]) => {
    if (typeof target === 'string') return []
    const specifier = subpath.replace('.', manifest.name)
    return [[subpath, { specifier, source: jsr.exports[subpath], built: target.default }]]
  }),
)

/** The subpaths of all modules. */
export const ALL: string[] = Object.keys(MODULES)

/** Stores that need `node:` modules, which Bun and Deno have, browsers and Workers have not. */
export const ON_DISK: string[] = ['./stores/file', './stores/sqlite']

/** Modules that load in every JavaScript runtime. */
export const PORTABLE: string[] = ALL.filter((subpath) => !ON_DISK.includes(subpath))

const TARGET = 'http://localhost/api/v1/convert?from=USD&to=EUR&amount=100'
const NOW = Date.UTC(2026, 10, 20, 18)

/**
 * Returns a module with `report()`, which resolves with the names that the modules at `subpaths` export, and the answer of a
 * handler; `.` and `./testing` must be included.
 */
export function reportProgram(subpaths: readonly string[]): string {
  const imports = subpaths.map(
    (subpath, index) => `import * as module${index} from '${MODULES[subpath]?.specifier}'`,
  )
  const names = subpaths.map(
    (subpath, index) => `'${subpath}': Object.keys(module${index}).toSorted()`,
  )
  return `${imports.join('\n')}
import { createRatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'
export async function report() {
  const handler = createRatesHandler({ providers: fakeProviders(), now: () => ${NOW} })
  const response = await handler(new Request('${TARGET}'))
  return { names: { ${names.join(', ')} }, answer: await response.json() }
}
`
}

/** Resolves with the expected result of such a program: the names that the sources export. */
export async function expectedReport(subpaths: readonly string[]): Promise<object> {
  const handler = createRatesHandler({ providers: fakeProviders(), now: () => NOW })
  const response = await handler(new Request(TARGET))
  const names = await Promise.all(
    subpaths.map(async (subpath) => [subpath, await exportedNames(subpath)] as const),
  )
  return { names: Object.fromEntries(names), answer: await response.json() }
}

/** Resolves with the names that the source of a module exports. */
export async function exportedNames(subpath: string): Promise<string[]> {
  const names = Object.keys(await import(join(ROOT, MODULES[subpath]?.source ?? '')))
  if (names.length === 0) throw new Error(`${subpath} exports nothing`)
  return names.toSorted()
}

function readJson(name: string) {
  return Object(JSON.parse(readFileSync(join(ROOT, name), 'utf8')))
}
