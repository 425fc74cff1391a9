import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'

import { inject } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

import { ENTRY_POINTS, MANIFEST } from '../../scripts/entry-points.ts'
import { run } from '../system/processes.ts'
import { BUN, DENO, NODE, ROOT, findNode } from '../system/runtimes.ts'
import type { Runtime } from '../system/runtimes.ts'

/** All modules by subpath, such as `./node`: the names that apps import, and paths relative to the project root. */
export const MODULES = Object.fromEntries(
  ENTRY_POINTS.map(({ subpath, source, built }) => [
    subpath,
    { specifier: subpath.replace('.', MANIFEST.name), source, built },
  ]),
)

/** All but the one that loads only with its optional peer, which is not installed. */
export const ALL: string[] = Object.keys(MODULES).filter((subpath) => subpath !== './mcp')

/** Returns `paths` and all files that they import, directly or not, with `import type` and `import()`. */
export function reachedFiles(paths: readonly string[]): string[] {
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

/** Modules that need `node:` modules, which Bun and Deno have, but browsers and Workers do not. */
export const ON_DISK: string[] = ALL.filter((subpath) =>
  reachedFiles([MODULES[subpath]?.built ?? '']).some((path) =>
    /\bfrom ?['"]node:/.test(readFileSync(join(ROOT, path), 'utf8')),
  ),
)

export const PORTABLE: string[] = ALL.filter((subpath) => !ON_DISK.includes(subpath))

const TARGET = 'http://localhost/api/v1/convert?from=USD&to=EUR&amount=100'
const NOW = Date.UTC(2026, 10, 20, 18)

/**
 * Returns a module with `report()`, which resolves with the names that the modules at `subpaths` export, and a conversion of a
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
  return { names: { ${names.join(', ')} }, conversion: await response.json() }
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
  return { names: Object.fromEntries(names), conversion: await response.json() }
}

export async function exportedNames(subpath: string): Promise<string[]> {
  const names = Object.keys(await import(join(ROOT, MODULES[subpath]?.source ?? '')))
  if (names.length === 0) throw new Error(`${subpath} exports nothing`)
  return names.toSorted()
}

/** Creates a folder in which apps can import the installed package. It is removed with the installation. */
export function openApp() {
  const folder = mkdtempSync(join(inject('installed').folder, 'app-'))
  function write(name: string, text: string): string {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  return {
    folder,
    write,
    link(...names: string[]): void {
      for (const name of names) {
        const path = join(folder, 'node_modules', name)
        mkdirSync(dirname(path), { recursive: true })
        symlinkSync(join(ROOT, 'node_modules', name), path)
      }
    },
    async compile(options: object, program: string = tsc('typescript')): Promise<string> {
      const compilerOptions = { ...STRICT, ...options }
      write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }))
      const { stdout, stderr } = await run(program, ['-p', folder])
      return stdout + stderr
    },
  }
}

/** All supported versions of Node, and the other runtimes; the path of a missing one is empty. */
export const RUNTIMES: Runtime[] = [
  ['Node 22', findNode(22) ?? ''],
  NODE,
  ['Node 26', findNode(26) ?? ''],
  BUN,
  DENO,
]

export const STRICT = {
  target: 'es2022',
  lib: ['es2022', 'dom', 'dom.iterable'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
}

export const COMPILERS: [version: string, program: string][] = [
  ['5.4', tsc('typescript-5.4')],
  ['5.9', tsc('../test/tools/node_modules/typescript')],
  ['6.0', tsc('typescript-6.0')],
  ['7.0', tsc('typescript')],
]

function tsc(name: string): string {
  return join(ROOT, 'node_modules', name, 'bin/tsc')
}
