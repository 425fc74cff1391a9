import { describe, expect, it } from 'vitest'

import { PAGES, TOPICS } from '../../src/cli/help.ts'
import { publish, run } from './run.ts'

/** Splits an example of the help into the text of its `printf`, if any, and its arguments. */
function parse(example: string): { input: string; args: string[] } {
  const [, typed = '', command = ''] = /^(?:printf '(.*)' \| )?ratesmith (.*)$/.exec(example) ?? []
  return { input: typed.replaceAll(String.raw`\n`, '\n'), args: command.split(' ') }
}

async function* streamOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}

const COMMANDS = Object.entries(PAGES)

// These listen, read messages or write files: test/system/{commands,mcp}.test.ts, test/smoke/serve.test.ts and export.test.ts run them.
const WRITING = ['serve', 'mcp', 'keys', 'export', 'sync']
const PRINTING = COMMANDS.filter(([name]) => !WRITING.includes(name)).flatMap(
  ([, { examples }]) => [...examples],
)

describe('ratesmith help', () => {
  it('lists every command', async () => {
    const { code, stdout, stderr } = await run(['help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const [name] of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
    expect(stdout.split('\n').length).toBeLessThanOrEqual(30)
    for (const args of [[], ['--help'], ['help', 'version']]) {
      expect(await run(args)).toEqual({ code, stdout, stderr })
    }
  })

  it.each(COMMANDS)('shows the page of %s in 80 columns, as --help does', async (name, page) => {
    const { code, stdout } = await run(['help', name])
    expect(code).toBe(0)
    expect(stdout).toBe((await run([name, '--help'])).stdout)
    expect(stdout).toMatch(new RegExp(`^Usage: ratesmith ${name} `))
    const isLong = ['convert', 'latest', 'history', 'export', 'sync', 'serve'].includes(name)
    const parts = [isLong ? '\n\nData:\n' : '\n\nOptions:\n', '\n\nExamples:\n']
    for (const part of [...parts, '\n\nMore: ratesmith help environment, ']) {
      expect(stdout).toContain(part)
    }
    for (const flag of Object.keys(page.options)) expect(stdout).toContain(` --${flag}`)
    expect(page.examples.length).toBeGreaterThanOrEqual(3)
    expect(page.examples.length).toBeLessThanOrEqual(5)
    for (const example of page.examples) expect(stdout).toContain(`  ${example}\n`)
    const lines = stdout.split('\n').filter((line) => !/^ *ratesmith |^Usage|printf/.test(line))
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80)
  })

  it.each(TOPICS)('shows the page about the %s', async (topic) => {
    const { code, stdout } = await run(['help', topic])
    expect(code).toBe(0)
    expect(stdout).toContain(topic === 'environment' ? 'NO_COLOR ' : 'frankfurter')
  })

  it.each(PRINTING)('has an example that runs: %s', async (example) => {
    const { input, args } = parse(example)
    const isRates = args[0] !== 'help'
    const { code, stdout, stderr } = await run([...args, ...(isRates ? ['--demo'] : [])], {
      stdin: streamOf(input),
      fetch: publish(),
    })
    expect(code, stderr).toBe(0)
    expect(stdout).not.toBe('')
  })
})
