import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { publish, run } from './run.ts'

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

describe('the command line', () => {
  it.each([
    [['install'], 'no command install (see ratesmith --help)'],
    [['toString'], 'no command toString (see ratesmith --help)'],
    [['x'.repeat(9_999)], `no command ${'x'.repeat(9_999)} (see ratesmith --help)`],
    [['convert', '1', 'USD', 'EUR', 'GBP'], 'convert takes an amount and two codes'],
    [['latest', '--frobnicate'], "Unknown option '--frobnicate' (see"],
    [['latest', '--demo', '--latest', 'ecb'], '--demo asks no provider: leave out --latest'],
    [['serve', '--https'], 'HTTPS needs the file of a key: --https-key'],
  ])('is refused with 2 and one line of stderr: %j', async (args, line) => {
    const { code, stdout, stderr } = await run(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.startsWith(`ratesmith: ${line}`), stderr).toBe(true)
    expect(stderr).toMatch(/^[^\n]+\n$/)
  })

  it.each([
    [['convert', '-v'], `${manifest.version}\n`],
    [['nonsense', '-h'], 'Usage: ratesmith <command> [options]'],
    [['convert', '--help'], 'Usage: ratesmith convert [amount] <from> <to>'],
  ])('answers with 0 and text on stdout: %j', async (args, text) => {
    const { code, stdout, stderr } = await run(args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.startsWith(text), stdout).toBe(true)
  })
})

describe('the version of Node', () => {
  const needed: string = manifest.engines.node.replace('>=', '')
  const [major = 0, minor = 0] = needed.split('.').map(Number)

  const old = [`${major}.${minor - 1}.9`, `${major - 2}.${minor + 4}.0`, `9.${minor + 9}.0`]

  it.each(old)('%s is refused with 1 and one sentence', async (node) => {
    const ran = await run(['convert', 'USD', 'EUR', '--demo'], { versions: { node } })
    const stderr = `ratesmith needs Node ${needed} or newer, found ${node}\n`
    expect(ran).toEqual({ code: 1, stdout: '', stderr })
  })

  it.each([
    { node: needed },
    { node: `${major}.${minor + 1}.0` },
    { node: `${major + 2}.0.0` },
    { node: '20.0.0', bun: '1.2.0' },
    { node: '20.0.0', deno: '2.0.0' },
  ])('is new enough: %j', async (versions) => {
    expect((await run(['--version'], { versions })).code).toBe(0)
  })
})

describe('a misspelt word', () => {
  /** What the command line suggests instead of a word; empty for nothing. */
  async function suggest(args: string[], fetch?: typeof globalThis.fetch): Promise<string> {
    const { code, stderr } = await run(args, fetch && { fetch })
    expect(code).toBe(2)
    expect(stderr).toMatch(/^ratesmith: [^\n]+\n$/)
    return /\. Did you mean (.*)\?\n$/.exec(stderr)?.[1] ?? ''
  }

  it.each([
    ['day', 'da days dax dya'],
    ['week', 'Week ewke weekly'],
    // The last word is empty.
    ['', 'dyaxx kitten '],
  ])('is corrected up to two letters, as an interval: to %j from %j', async (meant, words) => {
    for (const word of words.split(' ')) {
      const args = ['history', 'USD', 'EUR', '--demo', '--interval', word]
      expect(await suggest(args), word).toBe(meant)
    }
  })

  it.each(['1y', '1yr', '1 Year'])('is corrected as a period: %j', async (sent) => {
    expect(await suggest(['history', 'USD', 'EUR', '--demo', '--period', sent])).toBe('1Y')
  })

  it.each([
    ['EURO', 'EUR'],
    ['euros', 'EUR'],
    ['GPB', 'GBP'],
    ['USH', 'USD'],
    ['yen', 'JPY'],
    ['Swiss', 'CHF'],
    ['dollar', 'AUD or USD'],
    ['VVV', 'VVK'],
    ['QQQ', ''],
    // A withdrawn currency, however near to another code.
    ['DEM', ''],
  ])('is corrected by names and letters, as a code: %s to %j', async (sent, meant) => {
    const fillers = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ', (letter) => `V${letter}K`)
    const codes = [...fillers, 'DKM', 'AUD', 'CHF', 'EUR', 'GBP', 'JPY', 'USD']
    const rates = Object.fromEntries(codes.map((code) => [code, 1]))
    const fetch = publish({ latest: { rates } })
    expect(await suggest(['convert', 'usd', sent], fetch)).toBe(meant)
    expect(await suggest(['latest', '--base', sent, '--symbols', 'usd'], fetch)).toBe(meant)
  })

  it('has three corrections at most, of the codes that the data cover', async () => {
    expect(await suggest(['convert', 'dollar', 'EUR', '--demo'])).toBe('USD, AUD or BBD')
    expect(await suggest(['convert', 'USD', 'UAX', '--demo'])).toBe('UAH or UGX')
    // The European Central Bank publishes neither.
    expect(await suggest(['history', 'USD', 'UAX', '--demo'])).toBe('')
  })
})
