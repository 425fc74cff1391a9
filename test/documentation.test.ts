import { readFileSync, readdirSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { HELP, OVERVIEW } from '../src/cli/help.ts'
import type { RatesClientOptions } from '../src/client/index.ts'
import type { RatesErrorCode, RatesEvent, RatesHandlerOptions } from '../src/index.ts'

/** The text of a page, by its path in the repository. */
function page(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
}

const GUIDES = readdirSync(new URL('../docs', import.meta.url))
const README = page('README.md')
const COMMAND_LINE = page('docs/command-line.md')
const [COMMANDS = '', SERVE = ''] = COMMAND_LINE.split('\n## serve\n')

// Each list is complete, or it would not compile.
const OPTIONS: Record<keyof RatesHandlerOptions, string> = {
  basePath: "`'/api'`",
  providers: '',
  store: 'none',
  fetch: '`globalThis.fetch`',
  now: '`Date.now`',
  maxStale: '',
  waitUntil: 'none',
  onEvent: 'none',
  memory: '64 MiB',
  explorer: '`false`',
  cors: "`'v1'`",
}

const CLIENT_OPTIONS: Record<keyof RatesClientOptions, string> = {
  baseUrl: 'required',
  fetch: '`globalThis.fetch`',
  retries: '2',
}

const STATUSES: Record<RatesErrorCode, number> = {
  missing_parameter: 400,
  invalid_parameter: 400,
  invalid_currency: 400,
  unsupported_currency: 400,
  invalid_amount: 400,
  invalid_period: 400,
  no_data: 404,
  not_found: 404,
  method_not_allowed: 405,
  provider_unavailable: 502,
  internal_error: 500,
}

const EVENTS: Record<RatesEvent['type'], true> = {
  upstream_asked: true,
  upstream_answered: true,
  upstream_failed: true,
  refresh_failed: true,
  upstream_ending: true,
  rates_rejected: true,
  rates_dropped: true,
  rates_corrected: true,
  rates_held_back: true,
  rates_deviating: true,
  check_failed: true,
  rates_jumped: true,
  rates_restored: true,
  stale_served: true,
  refresh_scheduled: true,
  store_failed: true,
  internal_error: true,
}

/** What stands in the tables of `text` behind `` `name` ``, row by row. */
function rowsOf(name: string, text: string): string[][] {
  const rows = text.split('\n').filter((line) => line.startsWith(`| \`${name}\` `))
  return rows.map((line) =>
    line
      .split('|')
      .slice(2, -1)
      .map((cell) => cell.trim()),
  )
}

function cells(name: string, text: string): string[] {
  return rowsOf(name, text).flat()
}

/** Whether a cell of the table of flags means `command`. */
function isOf(cell: string, command: string): boolean {
  return cell.startsWith('all') || cell.includes(`\`${command}\``)
}

describe('the README', () => {
  it.each(Object.entries(OPTIONS).filter(([, value]) => value !== ''))(
    'has the option %s with its default',
    (name, value) => {
      expect(cells(name, README)[0]).toContain(value)
    },
  )

  it.each(['providers.latest', 'providers.history', 'maxStale.latest', 'maxStale.history'])(
    'has the option %s',
    (name) => {
      expect(cells(name, README)).toHaveLength(2)
    },
  )

  it('starts with two commands', () => {
    const [, commands = ''] = /```sh\n(.*?)```/s.exec(README) ?? []
    expect(commands.match(/^npm ci && npm \w+/gm)).toEqual([
      'npm ci && npm start',
      'npm ci && npm test',
    ])
  })

  it('is one page, and says of every guide what it answers', () => {
    expect(README.split('\n').length).toBeLessThanOrEqual(250)
    for (const guide of GUIDES)
      expect(README).toMatch(new RegExp(`^\\| \\[.*\\]\\(docs/${guide}\\)`, 'm'))
  })
})

describe('the page of the API', () => {
  const text = page('docs/api.md')

  it.each(Object.entries(STATUSES))('has the error %s with %d', (code, status) => {
    expect(cells(code, text)).toContain(String(status))
  })
})

describe('the page of freshness', () => {
  const text = page('docs/freshness.md')

  it.each(Object.keys(EVENTS))('has the event %s', (type) => {
    expect(cells(type, text)).not.toHaveLength(0)
  })
})

describe('the page of the client', () => {
  const text = page('docs/client.md')

  it.each(Object.entries(CLIENT_OPTIONS))('has the option %s with its default', (name, value) => {
    expect(cells(name, text)[0]).toContain(value)
  })
})

describe('the page of testing', () => {
  it('shows the very tests that are among the examples', () => {
    const example = page('examples/unit-test.ts')
    const shown = example.slice(example.indexOf('import '))
    expect(shown).toContain('failingProvider')
    expect(page('docs/testing.md')).toContain(`\`\`\`ts\n// price.test.mts\n${shown}\`\`\`\n`)
  })
})

describe('the page of edge hosts', () => {
  it('shows the very function that is among the examples', () => {
    const example = page('examples/lambda.ts')
    const shown = example.slice(example.indexOf('import '))
    expect(page('docs/edge.md')).toContain(`\`\`\`ts\n// lambda.mts\n${shown}\`\`\`\n`)
  })
})

describe('the page of the command line', () => {
  it.each(Object.entries(HELP))('has the flags of %s, with their defaults', (command, help) => {
    const [, options = ''] = /Options:\n(.*?)\n\n/s.exec(help) ?? []
    const flags = [...options.matchAll(/^ {2}--([\w-]+)(?:[^(\n]*\(default ([\w./]+)\))?/gm)]
    expect(flags.length).toBeGreaterThan(command === 'serve' ? 10 : 3)
    for (const [, name, value] of flags.filter(([, each]) => each !== 'help')) {
      // The table of `serve` has no column for the command.
      const told =
        command === 'serve'
          ? rowsOf(`--${name}`, SERVE)[0]
          : rowsOf(`--${name}`, COMMANDS).find(([of = '']) => isOf(of, command))
      expect(told, name).toBeDefined()
      expect(told?.join(' '), name).toContain(value ?? '')
    }
  })

  it('has every command, and each of them a sentence in the overview', () => {
    for (const command of Object.keys(HELP)) {
      expect(COMMAND_LINE).toContain(`ratesmith ${command}`)
      expect(OVERVIEW).toMatch(new RegExp(`^  ${command} .*\\w$`, 'm'))
    }
  })

  it('has every variable that the help speaks of', () => {
    const variables = Object.values(HELP).flatMap((help) => help.match(/\b[A-Z]+_[A-Z_]+\b/g) ?? [])
    expect(variables).toContain('RATESMITH_CACHE_DIR')
    for (const variable of variables) expect(COMMAND_LINE).toContain(`\`${variable}\``)
  })
})
