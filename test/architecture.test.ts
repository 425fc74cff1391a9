import { readFileSync, readdirSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

const ROOT = new URL('..', import.meta.url)

/**
 * What each room may import: other rooms and packages, or only the types of one. A room is a folder of `src/`, a file
 * directly in it, or `adapters`; files of one room may always import each other.
 */
const MAY_IMPORT: Record<string, string[]> = {
  'call-quietly': [],
  errors: [],
  events: [],
  runtime: [],
  rates: [],
  cache: ['call-quietly', 'type runtime'],
  stores: ['type cache', 'node:*'],
  providers: ['rates', 'runtime', 'zod/mini'],
  sources: ['cache', 'errors', 'type events', 'type providers', 'rates', 'type runtime'],
  records: ['errors', 'type providers', 'rates', 'type sources'],
  // Both have an import of the client in a text that the page shows.
  generated: ['ratesmith/client'],
  explorer: ['type records', 'ratesmith/client'],
  http: ['errors', 'itty-router/Router', 'zod/mini'],
  compression: ['http'],
  endpoints: ['errors', 'generated', 'http', 'rates', 'records', 'type sources', 'zod/mini'],
  operations: ['errors', 'rates', 'records', 'type sources'],
  options: ['type cache', 'type events', 'providers'],
  handler: [
    'call-quietly',
    'endpoints',
    'type events',
    'http',
    'operations',
    'options',
    'runtime',
    'sources',
  ],
  index: ['*'],
  client: ['errors', 'type providers', 'type rates', 'type records', 'runtime'],
  currencies: ['rates'],
  openapi: [
    'endpoints',
    'errors',
    'handler',
    'http',
    'type providers',
    'rates',
    'type runtime',
    'testing',
    'zod/mini',
  ],
  generate: [
    'explorer',
    'openapi',
    'records',
    'esbuild',
    'jsr.json',
    'node:*',
    'ratesmith/package.json',
  ],
  testing: ['cache', 'type providers', 'rates', 'runtime'],
  cli: [
    'adapters',
    'compression',
    'currencies',
    'index',
    'providers',
    'stores',
    'testing',
    'ioredis',
    'node:*',
    'ratesmith/package.json',
  ],
  adapters: ['@whatwg-node/server', 'type index', 'node:*', 'undici'],
}

/** Packages that only these files, or the files of these folders, may import, whatever their room may. */
const ONE_PLACE: Record<string, string[]> = {
  'itty-router/Router': ['src/http/places.ts'],
  'zod/mini': [
    'src/http/query.ts',
    'src/endpoints/conversion-parameters.ts',
    'src/endpoints/parameters.ts',
    'src/openapi/',
    'src/providers/',
  ],
  '@whatwg-node/server': ['adapters/node/fetch-style.ts'],
  ioredis: ['src/cli/redis.ts'],
  undici: ['adapters/node/undici-'],
  'node:*': [
    'src/cli/',
    'src/generate/',
    'adapters/node/',
    'src/stores/file.ts',
    'src/stores/sqlite.ts',
  ],
}

interface Source {
  path: string
  text: string
}

function readSources(): Source[] {
  return ['src', 'adapters'].flatMap((folder) =>
    readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .map((path) => ({ path, text: readFileSync(new URL(path, ROOT), 'utf8') })),
  )
}

interface Import {
  /** A path from the root, or a package. */
  target: string
  isType: boolean
}

/** What a source imports; a specifier holds no white space, unlike what stands between two texts. */
function importsOf({ path, text }: Source): Import[] {
  const statements = text.matchAll(
    /(?:(?:im|ex)port (type )?(?:[\w*{][^'"]*? )?from |\bimport\s*\(?\s*)'([^'\s]+)'/g,
  )
  return [...statements].map(([, type, specifier = '']) => ({
    target: specifier.startsWith('.')
      ? new URL(specifier, `root:/${path}`).pathname.slice(1)
      : specifier,
    isType: type !== undefined,
  }))
}

function roomOf(path: string): string {
  if (path.startsWith('adapters/')) return 'adapters'
  return path.replace(/^src\//, '').replace(/(\/.*|\.ts)$/, '')
}

function violations(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    importsOf(source)
      .filter((imported) => !mayImport(source.path, imported))
      .map(({ target }) => `${source.path} imports ${target}`),
  )
}

function mayImport(path: string, { target, isType }: Import): boolean {
  const isOurs = /^(src|adapters)\//.test(target)
  const room = isOurs ? roomOf(target) : target.replace(/^node:.*/, 'node:*')
  if (isOurs && room === roomOf(path)) return true
  const places = ONE_PLACE[room] ?? ['']
  if (!places.some((place) => path.startsWith(place))) return false
  const allowed = MAY_IMPORT[roomOf(path)] ?? []
  return (
    allowed.includes('*') || allowed.includes(room) || (isType && allowed.includes(`type ${room}`))
  )
}

/** The files along a circle of imports, or nothing. */
function findCycle(sources: readonly Source[]): string[] {
  const imports = new Map(
    sources.map((source) => [source.path, importsOf(source).map(({ target }) => target)]),
  )
  const done = new Set<string>()
  function visit(path: string, trail: string[]): string[] {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
    if (done.has(path)) return []
    for (const imported of imports.get(path) ?? []) {
      const cycle = visit(imported, [...trail, path])
      if (cycle.length > 0) return cycle
    }
    done.add(path)
    return []
  }
  for (const path of imports.keys()) {
    const cycle = visit(path, [])
    if (cycle.length > 0) return cycle
  }
  return []
}

describe('the house', () => {
  const sources = readSources()

  it('has no import against the direction of its rooms', () => {
    expect(sources.length).toBeGreaterThan(40)
    expect(violations(sources)).toEqual([])
  })

  it('has no circle of imports', () => {
    expect(findCycle(sources)).toEqual([])
  })

  it('has a rule for every room, and a room for every rule', () => {
    const rooms = new Set(sources.map(({ path }) => roomOf(path)))
    expect([...rooms].sort()).toEqual(Object.keys(MAY_IMPORT).sort())
  })

  it.each(['src/index.ts', 'src/client/index.ts', 'src/currencies.ts', 'src/testing/index.ts'])(
    're-exports and does nothing else in %s',
    (entry) => {
      const text = sources.find(({ path }) => path === entry)?.text ?? ''
      const statements = text.split(/(?<=')\n/).filter((statement) => statement !== '')
      expect(statements.length).toBeGreaterThan(1)
      for (const statement of statements) {
        expect(statement).toMatch(/^export (type )?\{[^}]*\} from '/)
      }
    },
  )

  it('knows nothing of rates in its adapters, and keeps each small', () => {
    for (const { path, text } of sources.filter(({ path }) => path.startsWith('adapters/'))) {
      expect(text, path).not.toMatch(/\b(rate|rates|currency|cache)\b(?!-control)/i)
      expect(text.trimEnd().split('\n').length, path).toBeLessThanOrEqual(45)
    }
  })
})

describe('a planted violation is found', () => {
  it.each([
    ['src/rates/a.ts', 'type ', '../http/answer.ts'],
    ['src/cache/a.ts', 'type ', '../rates/day.ts'],
    ['src/cache/a.ts', '', '../runtime.ts'],
    ['src/endpoints/v1/a.ts', 'type ', '../../providers/provider.ts'],
    ['src/endpoints/v1/a.ts', 'type ', '../../cache/store.ts'],
    ['src/endpoints/v1/a.ts', '', '../../sources/sources.ts'],
    ['src/http/a.ts', 'type ', '../rates/day.ts'],
    ['src/http/a.ts', '', 'itty-router/Router'],
    ['src/http/a.ts', '', 'zod'],
    ['src/http/a.ts', '', 'zod/mini'],
    ['src/endpoints/v1/a.ts', '', 'zod/mini'],
    ['src/providers/a.ts', 'type ', '../cache/store.ts'],
    ['src/compression/a.ts', 'type ', '../rates/day.ts'],
    ['src/compression/a.ts', '', 'node:zlib'],
    ['src/http/a.ts', 'type ', '../compression/variants.ts'],
    ['src/errors.ts', 'type ', './http/respond.ts'],
    ['src/testing/a.ts', '', '../../adapters/node.ts'],
    ['src/sources/a.ts', '', 'node:fs'],
    ['src/stores/a.ts', '', 'node:fs'],
    ['src/client/a.ts', '', '../rates/period.ts'],
    ['src/client/a.ts', 'type ', '../http/answer.ts'],
    ['src/stores/file.ts', 'type ', '../rates/day.ts'],
    ['src/cli/a.ts', 'type ', '../handler.ts'],
    ['adapters/a.ts', 'type ', '../src/handler.ts'],
    ['adapters/a.ts', '', '../src/index.ts'],
    ['adapters/a.ts', '', 'node:fs'],
    ['adapters/a.ts', '', 'undici'],
    ['src/providers/a.ts', 'type ', 'undici'],
    ['src/cli/a.ts', '', 'ioredis'],
    ['src/stores/redis.ts', 'type ', 'ioredis'],
  ])('when %s imports %s%s', (path, type, specifier) => {
    const statements = [
      `import ${type}{ a } from '${specifier}'`,
      `import ${type}{\n  a,\n  b,\n} from '${specifier}'`,
      `export ${type}* from '${specifier}'`,
    ]
    for (const text of statements) expect(violations([{ path, text }]), text).toHaveLength(1)
  })

  it('when a dynamic import goes the wrong way', () => {
    const source = { path: 'src/rates/a.ts', text: "const a = await import('../options.ts')" }
    expect(violations([source])).toEqual(['src/rates/a.ts imports src/options.ts'])
  })

  it('when two files import each other, if only types', () => {
    const circle = [
      { path: 'src/rates/a.ts', text: "import type { B } from './b.ts'" },
      { path: 'src/rates/b.ts', text: "export type { A } from './a.ts'" },
    ]
    expect(findCycle(circle)).toEqual(['src/rates/a.ts', 'src/rates/b.ts', 'src/rates/a.ts'])
  })
})
