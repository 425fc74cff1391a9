import { copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

import manifest from '../../../package.json' with { type: 'json' }
import { run } from '../../system/processes.ts'
import { ROOT } from '../../system/runtimes.ts'
import { STRICT } from '../package.ts'
import { OF_APPS, followedPages, isBroken, isFollowed, linkedPages, linksOf } from './page.ts'
import type { Block, Page } from './page.ts'
import { nameOf, openSite } from './site.ts'
import type { Site } from './site.ts'

const PAGES = followedPages()
const BLOCKS = PAGES.flatMap(({ blocks }) => blocks).filter(isFollowed)

const COMPILER_OPTIONS = {
  ...STRICT,
  module: 'nodenext',
  types: ['node'],
  // Runtimes need the endings of files.
  allowImportingTsExtensions: true,
  // Declarations of frameworks are not checked here; declarations.test.ts checks ours.
  skipLibCheck: true,
}

const LANGUAGES = ['csv', 'diff', 'js', 'json', 'jsonl', 'sh', 'text', 'ts']

describe('the documentation', () => {
  it('has only blocks of languages that are tried', () => {
    expect(BLOCKS.filter(({ language }) => !LANGUAGES.includes(language))).toEqual([])
  })

  it('has links, none of them broken', () => {
    const links = linkedPages().flatMap((page) => linksOf(page).map((target) => ({ page, target })))
    expect(links.length).toBeGreaterThan(40)
    const broken = links.filter(({ page, target }) => isBroken(page, target))
    expect(broken.map(({ page, target }) => `${page.name}: ${target}`)).toEqual([])
  })
})

it('the pages for contributors name existing scripts, files and folders', () => {
  const pages = linkedPages().filter(({ name }) => name.startsWith('.github/'))
  const scripts = pages.flatMap(({ text }) => text.match(/(?<=\bnpm run )[\w:-]+/g) ?? [])
  expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining(scripts))
  const prose = pages.flatMap((page) => page.prose).join('\n')
  const paths = prose.match(/(?<=`)(?:src|adapters|test|bench|docs)\/[\w./-]*(?=`)/g) ?? []
  expect(paths.length).toBeGreaterThan(10)
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

describe('the code of the documentation', () => {
  let site: Site
  beforeAll(async () => {
    site = await openSite(PAGES)
  })
  afterAll(() => site.close())

  it('compiles', async () => {
    expect(await compile(PAGES, site)).toBe('')
  })
})

const blocksOf = (...languages: string[]): Block[] =>
  BLOCKS.filter(({ language }) => languages.includes(language))

it.each(blocksOf('json', 'csv', 'jsonl'))(
  '$page:$line shows the response on the synthetic market',
  async (block) => {
    expect(await faultOfAnswer(block)).toBeUndefined()
  },
)

it.each(blocksOf('text', 'diff'))('$page:$line has only paths that return 200', async (block) => {
  expect(await refusedPaths(block)).toEqual([])
})

async function compile(pages: readonly Page[], { folder }: Site): Promise<string> {
  const files = new Map(pages.flatMap(filesOfBlocks))
  for (const [path, text] of files) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const types = join(folder, 'node_modules/@types')
  // Pages install some types; the compiler needs those of the runtimes, too.
  rmSync(types, { recursive: true, force: true })
  symlinkSync(join(ROOT, 'node_modules/@types'), types)
  const declarations = ['cloudflare-workers.d.ts', 'pg.d.ts']
  for (const name of declarations) copyFileSync(join(ROOT, 'test/system', name), join(folder, name))
  const config = { compilerOptions: COMPILER_OPTIONS, files: [...files.keys(), ...declarations] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(ROOT, 'node_modules/.bin/tsc')
  const { stdout, stderr } = await run(tsc, ['-p', 'tsconfig.json'], { cwd: folder })
  return stdout + stderr
}

function filesOfBlocks({ name, blocks }: Page): [path: string, text: string][] {
  const programs = blocks.filter(
    ({ language, text }) =>
      // Generated types are compiled where they are generated: in openapi-tools.test.ts.
      language === 'ts' && !OF_APPS.test(text) && !text.includes("'./rates.d.ts'"),
  )
  return programs.map((block) => [
    join('pages', name.replace('.md', ''), nameOf(block)),
    block.text,
  ])
}

const NOW = Date.UTC(2026, 10, 20, 18)

const ELLIPSIS = '…'

/** Returns the response to `path` with synthetic rates of both kinds in the cache. */
async function request(path: string): Promise<Response> {
  const handler = createRatesHandler({ providers: fakeProviders(), now: () => NOW })
  await handler.refresh()
  return handler(new Request(`http://localhost${path}`))
}

/** Resolves with the fault of a block of `json`, `csv` or `jsonl`, if any: it must show the response to the last path in its lead. */
async function faultOfAnswer({ lead, language, text }: Block): Promise<string | undefined> {
  const path = [...lead.matchAll(/`(?:GET )?(\/api\/[^`\s]*)`/g)].at(-1)?.[1]
  if (path === undefined) return 'the paragraph before it has no path'
  const response = await request(path)
  const body = await response.text()
  const isShown =
    language === 'json'
      ? isPartOf(JSON.parse(text), JSON.parse(body))
      : areRowsOf(text, body.replaceAll('\r\n', '\n'))
  return isShown ? undefined : `${path} returns ${response.status} ${body.slice(0, 2_000)}`
}

/** Resolves with the paths of a block that do not return 200: lines of `text`, or added lines of `diff`. */
async function refusedPaths({ language, text }: Block): Promise<string[]> {
  const lines = text.trim().split('\n')
  const added = lines.filter((line) => line.startsWith('+'))
  const inDiff = added.flatMap((line) => line.match(/(?<=')\/api\/[^']+/g) ?? [])
  const paths = language === 'text' ? lines : inDiff
  if (paths.length === 0) throw new Error('the block has no path')
  const statuses = await Promise.all(paths.map(async (path) => (await request(path)).status))
  return paths.filter((_, index) => statuses[index] !== 200)
}

/** Returns whether `shown` is the body, or an object anywhere in it. */
function isPartOf(shown: unknown, body: unknown): boolean {
  if (agrees(shown, body)) return true
  return isObject(body) && Object.values(body).some((part) => isPartOf(shown, part))
}

/** Returns whether both are equal; an object with a field `…` may omit others. */
function agrees(shown: unknown, body: unknown): boolean {
  if (!isObject(shown) || !isObject(body)) return isDeepStrictEqual(shown, body)
  const { [ELLIPSIS]: ellipsis, ...fields } = shown
  const isWhole = Object.keys(fields).length === Object.keys(body).length
  if (ellipsis === undefined && !isWhole) return false
  return Object.entries(fields).every(([name, value]) => agrees(value, body[name]))
}

/** Returns whether `shown` is all rows, or the first ones followed by `…`. */
function areRowsOf(shown: string, rows: string): boolean {
  const [first = '', rest] = shown.split(`${ELLIPSIS}\n`)
  return rest === undefined ? rows === shown : rows.startsWith(first)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
