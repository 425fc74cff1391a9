import { createReadStream, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'

import { build as runEsbuild } from 'esbuild'
import type { BuildOptions } from 'esbuild'
import { rollup } from 'rollup'
import type { Plugin, RollupLog } from 'rollup'
import { build as runVite } from 'vite'
import type { BuildEnvironmentOptions } from 'vite'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'

import { needBrowser, newContext } from '../system/browser-context.ts'
import { listen, requireProgram, run } from '../system/processes.ts'
import { findWorkerd } from '../system/runtimes.ts'
import { COMPATIBILITY_DATE, Miniflare } from '../system/workerd.ts'
import {
  ALL,
  MODULES,
  ON_DISK,
  PORTABLE,
  expectedReport,
  exportedNames,
  openApp,
  reportProgram,
} from './package.ts'

/** Resolves with the path of the bundle. */
type Bundler = (entry: string, out: string) => Promise<string>

async function byEsbuild(entry: string, out: string, options: BuildOptions = { platform: 'node' }) {
  const outfile = join(out, 'bundle.js')
  const always = { bundle: true, format: 'esm', logLevel: 'error' } as const
  await runEsbuild({ ...always, ...options, entryPoints: [entry], outfile })
  return outfile
}

/** Resolves the package with its `sideEffects`; dependencies and `node:` modules stay imports. */
const installedPackage: Plugin = {
  name: 'installed-package',
  resolveId(source, importer) {
    if (importer === undefined) return null
    const isOwn = importer.includes('/node_modules/ratesmith/')
    if (source.startsWith('.') && !isOwn) return null
    if (!/^(?:\.|ratesmith)/.test(source)) return { id: source, external: true }
    const { resolve } = createRequire(importer)
    const { sideEffects } = createRequire(importer)('ratesmith/package.json')
    return { id: resolve(source), moduleSideEffects: sideEffects !== false }
  },
}

const byRollup: Bundler = async (entry, out) => {
  const onwarn = ({ code, message }: RollupLog): void => {
    if (code !== 'EMPTY_BUNDLE') throw new Error(message)
  }
  const bundle = await rollup({ input: entry, plugins: [installedPackage], onwarn })
  await bundle.write({ dir: out, entryFileNames: 'bundle.js' })
  return join(out, 'bundle.js')
}

async function vite(entry: string, outDir: string, options: BuildEnvironmentOptions) {
  const output = { entryFileNames: 'bundle.js' }
  await runVite({
    root: dirname(entry),
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: { ...options, outDir, rolldownOptions: { output } },
  })
  return join(outDir, 'bundle.js')
}

const app = openApp()

const EVERY_MODULE = app.write('every.js', reportProgram(ALL))

const PRINT_REPORT = app.write(
  'print-report.js',
  `console.log(JSON.stringify(await (await import(process.argv[2])).report()))`,
)

const BUNDLERS: [name: string, bundler: Bundler][] = [
  ['esbuild', (entry, out) => byEsbuild(entry, out)],
  ['Rollup', byRollup],
  ['Vite', (entry, out) => vite(entry, out, { ssr: entry })],
]

it.each(BUNDLERS)('a bundle of %s exports every module and converts', async (name, bundler) => {
  const bundle = await bundler(EVERY_MODULE, join(app.folder, name))
  const { code, stdout, stderr } = await run(process.execPath, [PRINT_REPORT, bundle])
  expect(code, stderr).toBe(0)
  expect(JSON.parse(stdout)).toEqual(await expectedReport(ALL))
})

describe('an app of Vite in a browser', () => {
  needBrowser()

  it('exports every portable module and converts', async () => {
    app.write('portable.js', reportProgram(PORTABLE))
    app.write('index.html', '<script type="module" src="page.js"></script>')
    const script = "import { report } from './portable.js'\nglobalThis.reported = report()"
    const site = join(app.folder, 'site')
    await vite(app.write('page.js', script), site, {})
    const { url } = await listen(({ url: path = '/' }, response) => {
      const type = path.endsWith('.js') ? 'text/javascript' : 'text/html'
      response.setHeader('content-type', type)
      createReadStream(join(site, path === '/' ? 'index.html' : path))
        .on('error', () => response.writeHead(404).end())
        .pipe(response)
    })
    const page = await (await newContext()).newPage()
    await page.goto(url)
    await page.waitForFunction('globalThis.reported')
    expect(await page.evaluate('globalThis.reported')).toEqual(await expectedReport(PORTABLE))
  })
})

describe('a Worker', () => {
  beforeEach(({ skip }) => requireProgram('workerd', findWorkerd() ?? '', skip))

  it('exports every portable module and converts', async () => {
    expect(await reportOfWorker(PORTABLE)).toEqual(await expectedReport(PORTABLE))
  })

  // An error at startup is better than a store that misses every time.
  it.each(ON_DISK)('does not start with %s', async (subpath) => {
    await expect(reportOfWorker(['.', './testing', subpath])).rejects.toThrow(
      /No such module "node:/,
    )
  })
})

async function reportOfWorker(subpaths: readonly string[]): Promise<unknown> {
  const { folder, write } = openApp()
  write('report.js', reportProgram(subpaths))
  const program = write(
    'program.js',
    `import { report } from './report.js'
    export default { fetch: async () => Response.json(await report()) }`,
  )
  // `node:` modules stay imports, which workerd may refuse.
  const path = await byEsbuild(program, join(folder, 'bundle'), {
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*'],
  })
  const simulator = new Miniflare({
    cf: false,
    host: '127.0.0.1',
    name: 'one',
    modulesRoot: dirname(path),
    modules: [{ type: 'ESModule', path, contents: readFileSync(path, 'utf8') }],
    compatibilityDate: COMPATIBILITY_DATE,
    handleRuntimeStdio(stdout: Readable, stderr: Readable) {
      stdout.resume()
      stderr.resume()
    },
  })
  // Rejects again after a failed start.
  onTestFinished(() => simulator.dispose().catch(() => undefined))
  const worker = await simulator.getWorker('one')
  return (await worker.fetch('http://localhost/')).json()
}

describe('an unused import', () => {
  it.each(BUNDLERS)('of any name adds nothing to a bundle of %s', async (name, bundler) => {
    const { folder, write } = openApp()
    const imports = await Promise.all(ALL.map(importAll))
    const bundle = await bundler(write('program.js', imports.join('\n')), join(folder, 'out'))
    // A comment or a line end remains.
    expect(readFileSync(bundle).byteLength).toBeLessThanOrEqual(name === 'esbuild' ? 0 : 50)
  })

  // `sideEffects: false` is true only if importing a module changes nothing.
  it('changes no global but the settings of zod', async () => {
    const specifiers = ALL.map((subpath) => MODULES[subpath]?.specifier)
    const program = app.write(
      'globals.js',
      `const names = () => Reflect.ownKeys(globalThis).map(String)
      const before = new Set(names())
      for (const specifier of ${JSON.stringify(specifiers)}) await import(specifier)
      console.log(names().filter((name) => !before.has(name)).join())`,
    )
    const flags = ['--frozen-intrinsics', '--no-warnings']
    const { code, stdout, stderr } = await run(process.execPath, [...flags, program])
    expect(code, stderr).toBe(0)
    expect(stdout).toBe('__zod_globalConfig\n')
  })
})

async function importAll(subpath: string, index: number): Promise<string> {
  const names = await exportedNames(subpath)
  const renamed = names.map((name) => `${name} as ${name}${index}`)
  return `import { ${renamed.join(', ')} } from '${MODULES[subpath]?.specifier}'`
}
