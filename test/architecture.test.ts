import { readFileSync, readdirSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { ENTRY_POINTS } from '../scripts/entry-points.ts'
import { PAGES } from '../src/cli/help.ts'

const ROOT = new URL('..', import.meta.url)

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8')
}

/**
 * The allowed imports of each module, separated by white space: other modules and packages, or only the `types:` of one. A
 * module is a folder of `src/`, a file directly in it, `adapters`, `explorer` or `scripts`; files of one module may always
 * import each other.
 */
const MAY_IMPORT: Record<string, string> = {
  async: '',
  'byte-buffer': '',
  digest: '',
  errors: '',
  events: 'async rates',
  'event-records': 'types:events',
  'known-options': '',
  'currency-search': 'rates',
  'typed-amount': '',
  'response-body': 'errors',
  money: 'rates',
  rates: 'async',
  cache: 'async digest',
  connections: 'ipaddr.js',
  access: 'core index node:*',
  sql: 'core index',
  mcp: 'api core currency-search generated index @modelcontextprotocol/server @modelcontextprotocol/server/stdio',
  stores: 'connections known-options types:cache node:*',
  upstream: 'async byte-buffer known-options money rates @rgrove/parse-xml zod/mini',
  providers: 'async digest fflate known-options rates upstream zod/mini',
  sources: 'async cache errors events types:upstream rates',
  api: 'async digest errors known-options money query-names types:upstream rates types:sources zod/mini',
  // Contains code to copy from the explorer, which imports the client.
  generated: 'ratesmith/client',
  http: `api async byte-buffer digest errors events known-options itty-router/Router types:itty-router`,
  endpoints:
    'api async errors generated http quotes rates types:rates-api types:sources types:upstream',
  quotes: 'api async errors known-options rates types:rates-api',
  options: 'http known-options quotes types:cache types:events providers rates upstream',
  monitoring: 'core types:index',
  'query-names': 'errors',
  'rates-api': 'api async errors events options rates sources',
  handler: 'api async endpoints events http options rates-api',
  compat: 'core index',
  index: '*',
  core: '*',
  log: 'event-records types:events known-options',
  client: `types:api async known-options errors query-names types:rates-api response-body types:upstream types:rates`,
  currencies: 'rates',
  testing: 'async known-options cache upstream rates ',
  cli: `access adapters api async compat core currencies currency-search errors http index known-options log mcp money
    monitoring providers quotes rates sql stores testing typed-amount upstream
    undici ioredis node:* ratesmith/package.json zod/mini`,
  explorer: 'currency-search rates ratesmith/client response-body typed-amount',
  adapters: '@whatwg-node/server async http types:index known-options node:*',
  undici: 'known-options undici',
  scripts: '*',
}

type Source = ReturnType<typeof readSources>[number]

function readSources() {
  return ['src', 'adapters', 'explorer', 'scripts'].flatMap((folder) =>
    readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .map((path) => ({ path, text: read(path) })),
  )
}

/** Examples in docblocks import the package by name. */
const DOCBLOCK = /^ *\/\*\*[^]*?\*\//gm

/** Examples show an adapter with a handler. */
const EXAMPLE = /^ \* ```ts\n[^]*?^ \* ```$/gm

/** Returns the imports of a source; a specifier has no white space, unlike the text between two strings. */
function importsOf({ path, text }: Source) {
  const statements = text
    .replaceAll(DOCBLOCK, '')
    .matchAll(/(?:(?:im|ex)port (type )?(?:[\w*{][^'"]*? )?from |\bimport\s*\(?\s*)'([^'\s]+)'/g)
  return [...statements].map(([, type, specifier = '']) => ({
    // A path from the root, or a package.
    target: specifier.startsWith('.')
      ? new URL(specifier, `root:/${path}`).pathname.slice(1)
      : specifier,
    isType: type !== undefined,
  }))
}

function moduleOf(path: string): string {
  return path.replace(/^src\//, '').replace(/(\/.*|\.ts)$/, '')
}

function violations(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    importsOf(source)
      .filter((imported) => !mayImport(moduleOf(source.path), imported))
      .map(({ target }) => `${source.path} imports ${target}`),
  )
}

function mayImport(
  importer: string,
  { target, isType }: ReturnType<typeof importsOf>[number],
): boolean {
  const isOurs = /^(src|adapters|explorer|scripts)\//.test(target)
  const imported = isOurs ? moduleOf(target) : target.replace(/^node:.*/, 'node:*')
  if (isOurs && imported === importer) return true
  const allowed = MAY_IMPORT[importer]?.split(/\s+/) ?? []
  const names = ['*', imported, ...(isType ? [`types:${imported}`] : [])]
  return names.some((name) => allowed.includes(name))
}

/** Returns the files along a cycle of imports; empty without one. */
function findCycle(sources: readonly Source[]): string[] {
  const imports = new Map(
    sources.map((source) => [source.path, importsOf(source).map(({ target }) => target)]),
  )
  const done = new Set<string>()
  function firstCycle(paths: Iterable<string>, trail: string[]): string[] {
    for (const path of paths) {
      if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
      if (done.has(path)) continue
      const cycle = firstCycle(imports.get(path) ?? [], [...trail, path])
      if (cycle.length > 0) return cycle
      done.add(path)
    }
    return []
  }
  return firstCycle(imports.keys(), [])
}

/** Returns the files that keep a promise for later calls themselves: a rejected one would stay. */
function keptPromises(sources: readonly Source[]): string[] {
  const isKept = ({ text }: Source): boolean =>
    [...text.matchAll(/\blet (\w+): [^\n]*\bPromise</g)].some(([, name]) =>
      new RegExp(`\\b${name} \\?\\?= `).test(text),
    )
  return sources.filter(isKept).map(({ path }) => path)
}

describe('the modules', () => {
  const sources = readSources()

  it('import inwards only', () => {
    expect(sources.length).toBeGreaterThan(40)
    expect(sources.flatMap(importsOf).length).toBeGreaterThan(sources.length)
    expect(violations(sources)).toEqual([])
  })

  it('that the package can do without are imported only by the command, by what apps can import', () => {
    const entries = ENTRY_POINTS.map(({ source }) => source)
    const wings = sources.flatMap((source) =>
      importsOf(source)
        .filter(({ target }) => /^src\/(access|compat|mcp|monitoring|sql)\//.test(target))
        .filter(({ target }) => ![moduleOf(target), 'scripts'].includes(moduleOf(source.path)))
        .map(({ target }) => ({ by: moduleOf(source.path), isPublic: entries.includes(target) })),
    )
    expect(wings.length).toBeGreaterThan(3)
    expect(wings.filter(({ by, isPublic }) => by !== 'cli' || !isPublic)).toEqual([])
  })

  it('have no cycle of imports', () => {
    expect(findCycle(sources)).toEqual([])
  })

  it('have a rule each', () => {
    const modules = new Set(sources.map(({ path }) => moduleOf(path)))
    expect([...modules].sort()).toEqual(Object.keys(MAY_IMPORT).sort())
  })

  it('keep what they load by loadOnce(), which loads again after a failure', () => {
    const others = sources.filter(({ path }) => /^(src|adapters)/.test(path))
    expect(keptPromises(others)).toEqual(['src/async.ts'])
  })

  it('for hosts do not mention rates', () => {
    const adapters = sources.filter(({ path }) => moduleOf(path) === 'adapters')
    expect(adapters.length).toBeGreaterThan(4)
    for (const { path, text } of adapters) {
      const own = text.replaceAll(EXAMPLE, '')
      expect(own, path).not.toMatch(/\b(rate|rates|currency|cache)\b(?!-control)/i)
    }
  })
})

/** Folders with what `npm run tools` installs. */
const INSTALLED = new Set(['test/apps', 'test/lint', 'test/tools'])

/** Returns the paths of the files in `folder` whose names end so, relative to the root. */
function filesIn(folder: string, end: string): string[] {
  const entries = readdirSync(new URL(folder, ROOT), { withFileTypes: true })
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return INSTALLED.has(path) ? [] : filesIn(path, end)
    return path.endsWith(end) ? [path] : []
  })
}

function linesOf(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + read(path).split('\n').length - 1, 0)
}

/**
 * The most lines of TypeScript of each area: what it has now, rounded up to 50. An area that shrinks lowers its number; raising one needs its reason
 * in the commit. An area is folders, and files directly in `src/`.
 */
const LINES: Record<string, number> = {
  // With snapshots, quotes, every day as a stream, files, tables of SQL, the stores for Keyv and unstorage, and tools for agents.
  'src adapters': 39_100,
  // With the operations' interface, the table of days that was in compat, snapshots, and days as a stream.
  'src/api src/http src/endpoints': 7_700,
  'src/client': 440,
  'src/quotes': 420,
  'src/sql': 190,
  'src/mcp': 350,
  // With ranges of all currencies.
  'src/sources src/cache': 4_300,
  'src/rates': 4_150,
  // With the reader of exported folders.
  'src/providers src/upstream': 5_450,
  'src/access': 2_050,
  'src/connections': 400,
  'src/compat': 950,
  'src/monitoring src/log.ts src/events.ts src/event-records.ts': 1_160,
  'src/testing': 1_930,
  // With the secrets of quotes, the look-up of one, exports to files, tables of SQL, and tools for agents.
  'src/cli': 5_350,
  adapters: 1_190,
  // With the days, the second direction, the trend and the card for keys.
  explorer: 2_790,
  // With the list of operations and the skill of the site, quotes in the OpenAPI document, and the schemas of tools.
  scripts: 2_550,
  // With the costs of the worst requests, and quotes.
  bench: 2_790,
  test: 59_300,
}

/** The most of everything else that a user or a contributor has to know. */
const COUNTS: Record<string, [count: () => number, budget: number]> = {
  'entry points': [() => ENTRY_POINTS.length, 32],
  'flags of the command': [
    () => new Set(Object.values(PAGES).flatMap(({ options }) => Object.keys(options))).size,
    50,
  ],
  'public options': [
    () =>
      readSources()
        .filter(({ path }) => /^(src(?!\/cli)|adapters)\//.test(path))
        .flatMap(({ text }) => [...text.matchAll(/^export interface \w*Options\b[^]*?^}/gm)])
        .reduce((sum, [text]) => sum + [...text.matchAll(/^ {2}\w+\??[:(]/gm)].length, 0),
    194,
  ],
  'scripts of npm': [() => Object.keys(JSON.parse(read('package.json')).scripts).length, 33],
  'modules that tests import, and apps cannot': [
    () => {
      const entries = new Set<string>(ENTRY_POINTS.map(({ source }) => source))
      const imported = filesIn('test', '.ts')
        .flatMap((path) => importsOf({ path, text: read(path) }))
        .filter(({ target }) => /^(src|adapters)\/.*\.ts$/.test(target) && !entries.has(target))
      return new Set(imported.map(({ target }) => target)).size
    },
    60,
  ],
  'lines of CSS of the explorer': [() => linesOf(filesIn('explorer', '.css')), 1_200],
  'words of the documentation': [
    () =>
      ['README.md', ...filesIn('docs', '.md')].reduce(
        (sum, path) => sum + read(path).split(/\s+/).length,
        0,
      ),
    29_900,
  ],
}

describe('the budget of', () => {
  it.each(Object.entries(LINES))('lines of %s is kept: %d', (area, budget) => {
    const paths = area
      .split(' ')
      .flatMap((part) => (part.endsWith('.ts') ? [part] : filesIn(part, '.ts')))
    expect(linesOf(paths)).toBeLessThanOrEqual(budget)
    expect(linesOf(paths)).toBeGreaterThan(0.9 * budget)
  })

  it.each(Object.entries(COUNTS))('%s is kept', (_, [count, budget]) => {
    expect(count()).toBeLessThanOrEqual(budget)
    expect(count()).toBeGreaterThan(0.9 * budget)
  })
})

describe('a planted violation is found', () => {
  // A module, a package and a module of Node, by any statement, and where only types may be imported.
  it.each([
    ['src/rates/a.ts', 'type ', '../http/a.ts'],
    ['src/endpoints/a.ts', '', '../sources/a.ts'],
    ['src/http/a.ts', '', 'zod'],
    ['src/access/a.ts', '', 'zod/mini'],
    ['src/endpoints/a.ts', '', 'node:zlib'],
    ['src/errors.ts', 'type ', './http/a.ts'],
    ['src/options.ts', '', './access/a.ts'],
    ['adapters/a.ts', '', '../src/index.ts'],
    ['explorer/a.ts', 'type ', '../src/client/index.ts'],
  ])('when %s imports %s%s', (path, type, specifier) => {
    const statements = [
      `import ${type}{ a } from '${specifier}'`,
      `import ${type}{\n  a,\n  b,\n} from '${specifier}'`,
      `export ${type}* from '${specifier}'`,
      ...(type === '' ? [`const a = await import('${specifier}')`] : []),
    ]
    for (const text of statements) {
      const between = `/** Before. */\n${text}\n/** After. */`
      expect(violations([{ path, text: between }]), between).toHaveLength(1)
    }
  })

  it('when two files import each other, if only types', () => {
    const cycle = [
      { path: 'src/rates/a.ts', text: "import type { B } from './b.ts'" },
      { path: 'src/rates/b.ts', text: "export type { A } from './a.ts'" },
    ]
    expect(findCycle(cycle)).toEqual(['src/rates/a.ts', 'src/rates/b.ts', 'src/rates/a.ts'])
  })
})
