import { existsSync, readFileSync, readdirSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { withCards } from '../scripts/banks.ts'
import { ENTRY_POINTS } from '../scripts/entry-points.ts'
import { terminalPicture } from '../scripts/terminal-picture.ts'
import { PAGES } from '../src/cli/help.ts'
import { loadProviders } from '../src/cli/providers.ts'
import type { RatesClientOptions } from '../src/client/index.ts'
import openapi from '../src/generated/openapi.json' with { type: 'json' }
import { createRates, createRatesHandler } from '../src/index.ts'
import type { RatesHandlerOptions } from '../src/index.ts'
import { TOOLS } from '../src/mcp/tools.ts'
import { fakeProviders } from '../src/testing/index.ts'
import { run } from './cli/run.ts'
import { ERROR_STATUSES } from './error-statuses.ts'
import { eventsWith } from './fixtures/events.ts'

function page(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
}

const README = page('README.md')

const FILES = readdirSync(new URL('../docs', import.meta.url))
const GUIDES = FILES.filter((name) => name.endsWith('.md'))

// The types make each list complete. An option that is an object has one row for each of its fields.
const OPTIONS: Record<keyof RatesHandlerOptions, string> = {
  basePath: "`'/api'`",
  providers: '',
  store: 'none',
  fetch: '`globalThis.fetch`',
  now: '`Date.now`',
  maxStale: '',
  waitUntil: 'none',
  onEvent: 'none',
  responseCacheBytes: '64 MiB',
  explorer: '`false`',
  cors: "`'v1'`",
  access: 'none',
  trustedProxies: 'none',
  forwardedHeader: 'both',
  routes: 'none',
  quotes: 'none',
}

const CLIENT_OPTIONS: Record<keyof RatesClientOptions, string> = {
  baseUrl: 'required',
  fetch: '`globalThis.fetch`',
  retries: '2',
  key: 'none',
}

/** Returns the cells after `` `name` `` in the tables of `text`, row by row. */
function rowsOf(name: string, text: string): string[][] {
  const rows = text.split('\n').filter((line) => line.startsWith(`| \`${name}\` `))
  const cellsOf = (row: string): string[] => row.split('|').map((cell) => cell.trim())
  return rows.map((row) => cellsOf(row).slice(2, -1))
}

describe('the documentation', () => {
  const parts = ['providers.latest', 'providers.history', 'maxStale.latest', 'maxStale.history']
  const rows = Object.entries({
    'docs/api.md': Object.entries(ERROR_STATUSES),
    'docs/options.md': [
      ...Object.entries(OPTIONS).filter(([, value]) => value !== ''),
      ...parts.map((name): [string, string] => [name, '']),
    ],
    'docs/client.md': Object.entries(CLIENT_OPTIONS),
    'docs/monitoring.md': Object.keys(eventsWith('')).map((type): [string, string] => [type, '']),
  }).flatMap(([path, names]) => names.map(([name, value]) => [path, name, String(value)] as const))

  it.each(rows)('has in %s one row for %s, with the value %s', (path, name, value) => {
    const found = rowsOf(name, page(path))
    expect(found).toHaveLength(1)
    expect(found[0]?.[0]).toContain(value)
  })

  it('is linked from README.md, which has at most 110 lines and 550 words', () => {
    expect(GUIDES.length).toBeGreaterThan(5)
    for (const guide of [...GUIDES, 'migrating/README.md', 'recipes/README.md']) {
      expect(README).toContain(`(docs/${guide})`)
    }
    expect(README.split('\n').length).toBeLessThanOrEqual(110)
    expect(README.split(/\s+/).length).toBeLessThanOrEqual(550)
  })

  it.each([
    ['docs/agents.md', 'agents.mts', 'examples/agents.ts'],
    ['docs/recipes/charge-later.md', 'checkout.mts', 'examples/checkout.ts'],
    ['docs/recipes/rates-in-sql.md', 'nightly.mts', 'examples/postgres.ts'],
    ['docs/testing.md', 'price.test.mts', 'examples/unit-test.ts'],
    ['docs/run-it.md', 'config.mts', 'examples/serve-fleet.ts'],
    ['docs/keys-and-limits.md', 'config.mts', 'examples/serve-public.ts'],
    ['docs/migrating/README.md', 'config.mts', 'examples/serve-compat.ts'],
  ])('shows in %s, as %s, the tested program of %s', (path, name, example) => {
    const program = page(example)
    const shown = program.slice(program.indexOf('import '))
    expect(shown.split('\n').length).toBeGreaterThan(5)
    expect(page(path)).toContain(`\`\`\`ts\n// ${name}\n${shown}\`\`\`\n`)
  })
})

it('the page on banks has a card for every provider; `npm run generate` updates it', async () => {
  const text = page('docs/banks.md')
  expect(await withCards(text)).toBe(text)
  const names = (await loadProviders()).map(({ name }) => name)
  expect(text.match(/(?<=^## ).*$/gm)).toEqual(names)
  expect(text).toContain(
    '\nNOK, 40 currencies, 16:00 Oslo, since 1999-01-04. Pass on: [with credit](',
  )
  await expect(withCards('# Banks')).rejects.toThrow(/no place for cards$/)
})

describe('the page on agents', () => {
  const text = page('docs/agents.md')

  it('has one row for every tool, and the line of a result', async () => {
    const [table = ''] = text.split('\n## Over HTTP\n')
    const named = [...table.matchAll(/^\| `(\w+)` /gm)].map(([, name]) => name)
    expect(named).toEqual(TOOLS.map(({ name }) => name))
    const now = (): number => Date.UTC(2026, 10, 20, 18)
    const rates = createRates({ providers: fakeProviders({ now }), now })
    const price = { from: 'USD', to: 'EUR', amount: '100', round: 'minor' }
    const result = await TOOLS[0]?.run(rates, price)
    expect(text).toContain(`\`${result?.line}\``)
  })

  it('starts the same command in every client', () => {
    const added = [...text.matchAll(/^(?:claude|codex) mcp add rates -- (.*)$/gm)]
    expect(added).toHaveLength(2)
    const [, block = ''] = /^```json\n([^]*?)^```$/m.exec(text) ?? []
    const { command, args } = JSON.parse(block).mcpServers.rates
    for (const [, line] of added) expect([command, ...args].join(' ')).toBe(line)
  })
})

describe('the page of the command line', async () => {
  const text = page('docs/command-line.md')
  const [ofCommands = '', ofServe = ''] = text.split('\n## serve\n')
  const { stdout: overview } = await run(['--help'])
  const [, list = ''] = /^Commands:\n([^]*?)\n\n/m.exec(overview) ?? []
  const commands = [...list.matchAll(/^ {2}([a-z]+) /gm)].map(([, name = '']) => name)

  it('has every command of the overview', () => {
    expect(commands.length).toBeGreaterThan(5)
    for (const command of commands) expect(text).toContain(`ratesmith ${command}`)
  })

  it('has every variable of `ratesmith help environment`', async () => {
    const { stdout: help } = await run(['help', 'environment'])
    const variables = help.match(/\b[A-Z]+_[A-Z_]+\b/g) ?? []
    expect(variables).toEqual(expect.arrayContaining(['RATESMITH_KEYS', 'RATESMITH_LATEST']))
    for (const variable of variables) {
      // The keys are on the cards of the providers.
      const where = variable.endsWith('_KEY') ? page('docs/banks.md') : text
      expect(where).toContain(`\`${variable}\``)
    }
  })

  it.each(commands.filter((command) => command !== 'help'))(
    'has every flag of %s with its default',
    async (command) => {
      const { stdout: help } = await run([command, '--help'])
      expect(help).toContain(`Usage: ratesmith ${command} `)
      const [options = ''] = help.split('\nExamples:\n')
      const flags = [
        ...options.matchAll(/^ {2}(?:-\w,|   ) --([\w-]+)(?:[^(\n]*\(default ([\w./]+)\))?/gm),
      ]
      expect(flags.length).toBeGreaterThan(command === 'serve' ? 8 : 3)
      for (const [, name, value = ''] of flags.filter(([, each]) => each !== 'help')) {
        // The table of `serve` has no column for the command.
        const documented =
          command === 'serve'
            ? rowsOf(`--${name}`, ofServe)[0]
            : rowsOf(`--${name}`, ofCommands).find(
                ([of = '']) => of.startsWith('all') || of.includes(`\`${command}\``),
              )
        expect(documented?.join(' '), name).toContain(value)
      }
    },
  )
})

describe('the skill for coding agents', async () => {
  const text = page('skills/ratesmith/SKILL.md')
  const [, head = '', body = ''] = /^---\n([^]*?)\n---\n([^]*)$/.exec(text) ?? []
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(head)?.[1] ?? ''
  const prose = body.replaceAll(/^```[^]*?^```$/gm, '')
  const code = Array.from(prose.matchAll(/`([^`]+)`/g), ([, span = '']) => span)
  const names = await publicNames(text)

  it('has its name, a description and at most 120 lines', () => {
    expect(field('name')).toBe('ratesmith')
    // YAML without quotes has neither of both in a text.
    expect(field('description')).toMatch(/^\w(?:(?!: | #).){99,1023}$/)
    expect(text.split('\n').length - 1).toBeLessThanOrEqual(120)
    expect(code.length).toBeGreaterThan(40)
  })

  it.each([...new Set(code)])('names only what exists: %s', (span) => {
    expect(missingIn(span, names)).toEqual([])
  })
})

const OBJECTS: Record<string, object> = { rates: createRates(), handler: createRatesHandler() }

const FOREIGN =
  /^npm install |^app\/.*|\b(?:app\.use|export|const|default|toFixed|[A-Z]{2,}|[A-Z]{2}[a-z])\b/g

/** Returns options, parameters, fields, their values, error codes, providers, and the exports of the modules that `text` names. */
async function publicNames(text: string): Promise<Set<string>> {
  const modules = ENTRY_POINTS.filter(({ subpath }) =>
    new RegExp(`['\`]ratesmith${subpath.slice(1)}['\`]`).test(text),
  )
  const paths = modules.map(({ source }) => new URL(`../${source}`, import.meta.url).href)
  const exported = await Promise.all(paths.map((path): Promise<object> => import(path)))
  const listed = JSON.stringify(openapi).match(/(?<=")[\w-]+(?="(?::\{|[,\]]))/g) ?? []
  return new Set([
    ...Object.keys({ ...OPTIONS, ...ERROR_STATUSES, ...OBJECTS }),
    ...(await loadProviders()).map(({ name }) => name),
    ...exported.flatMap((module) => Object.keys(module)),
    ...listed,
  ])
}

function missingIn(span: string, names: ReadonlySet<string>): string[] {
  const [, path] = /^node_modules\/ratesmith\/(.*)$/.exec(span) ?? []
  if (path !== undefined) return existsSync(new URL(`../${path}`, import.meta.url)) ? [] : [path]
  const [, subpath] = /^ratesmith(\/.*)$/.exec(span) ?? []
  if (subpath)
    return ENTRY_POINTS.some((each) => each.subpath === `.${subpath}`) ? [] : [`.${subpath}`]
  const [, command = '', rest = ''] = /^(?:npx )?ratesmith (\w+)(.*)$/.exec(span) ?? []
  if (command) {
    const { options } = Object.entries(PAGES).find(([name]) => name === command)?.[1] ?? {}
    if (!options) return [command]
    return (rest.match(/[\w-]+/g) ?? []).filter((word) =>
      word.startsWith('--') ? !Object.hasOwn(options, word.slice(2)) : !names.has(word),
    )
  }
  return (span.replaceAll(FOREIGN, '').match(/[a-zA-Z][\w.-]*/g) ?? []).filter((word) => {
    const [object = '', member] = word.split('.')
    return member === undefined ? !names.has(word) : !(member in (OBJECTS[object] ?? {}))
  })
}

describe('the changelog', () => {
  const headings = [...page('CHANGELOG.md').matchAll(/^## (.*)$/gm)].map(([, text = '']) => text)
  const released = headings.filter((heading) => heading !== 'Unreleased')

  it('starts with unreleased changes or the next version, and has the newest version first', () => {
    expect([0, -1]).toContain(headings.indexOf('Unreleased'))
    expect(released[0]).toMatch(/^\d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)$/)
    expect(released[0]?.split(' ')[0]).toBe(JSON.parse(page('package.json')).version)
    const days = released.map((heading) => heading.split(' ')[1] ?? '')
    expect(days).toEqual(days.toSorted((one, other) => other.localeCompare(one)))
  })
})

it('the picture of the terminal is that of the commands; `npm run pictures` updates it', async () => {
  expect(page('docs/pictures/terminal.svg')).toBe(await terminalPicture())
})
