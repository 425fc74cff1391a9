import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { offline, publish, run } from './run.ts'

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

describe('the command line', () => {
  it.each([
    [[], 'no command, try ratesmith serve --demo (see ratesmith --help)'],
    [['convrt'], 'no command convrt. Did you mean convert? (see ratesmith --help)'],
    [['install'], 'no command install (see ratesmith --help)'],
    [['toString'], 'no command toString (see ratesmith --help)'],
    [['x'.repeat(9_999)], `no command ${'x'.repeat(9_999)} (see ratesmith --help)`],
    [['convert', 'USD'], 'convert takes an amount and two codes, as in ratesmith'],
    [['convert', '1', 'USD', 'EUR', 'GBP'], 'convert takes an amount and two codes'],
    [['convert', '-5', 'USD', 'EUR'], 'an amount is not negative, got -5'],
    [['history', 'USD'], 'history takes two codes'],
    [['latest', 'EUR'], "Unexpected argument 'EUR'"],
    [['latest', '--bas', 'EUR'], "Unknown option '--bas'. Did you mean --base?"],
    [['latest', '--frobnicate'], "Unknown option '--frobnicate' (see"],
    [['latest', '--demo', '--latest', 'ecb'], '--demo asks no provider: leave out --latest'],
    [['doctor', '--redis='], '--redis must be a URL like redis://'],
    [['serve', '--port'], "Option '--port <value>' argument missing"],
    [['serve', '--port', '65536'], '--port must be a number from 0 to 65535, got 65536'],
    [['serve', '--cors', '*'], '--cors must be v1, all or off, got *'],
    [['serve', '--host='], '--host must be an address, got nothing'],
    [['serve', '--data='], '--data must be a folder, got nothing'],
    [['serve', '--https'], 'HTTPS needs the file of a key: --https-key'],
  ])('is refused with 2 and one line of stderr: %j', async (args, line) => {
    const { code, stdout, stderr } = await run(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.startsWith(`ratesmith: ${line}`), stderr).toBe(true)
    expect(stderr).toMatch(/^[^\n]+\n$/)
  })

  it.each([
    [['--version'], `${manifest.version}\n`],
    [['convert', '-v'], `${manifest.version}\n`],
    [['--help'], 'Usage: ratesmith <command> [options]'],
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

  it.each([`${major}.${minor - 1}.9`, `${major - 2}.${minor + 4}.0`, `9.${minor + 9}.0`])(
    '%s is refused with 1 and one sentence',
    async (node) => {
      const ran = await run(['convert', 'USD', 'EUR', '--demo'], { versions: { node } })
      expect(ran).toEqual({
        code: 1,
        stdout: '',
        stderr: `ratesmith needs Node ${needed} or newer, found ${node}\n`,
      })
    },
  )

  it.each([
    { node: needed },
    { node: `${needed}.0` },
    { node: `${major}.${minor + 1}.0` },
    { node: `${major + 2}.0.0` },
    { node: '20.0.0', bun: '1.2.0' },
    { node: '20.0.0', deno: '2.0.0' },
  ])('is good enough: %j', async (versions) => {
    expect((await run(['--version'], { versions })).code).toBe(0)
  })
})

describe('a slip of the hand', () => {
  it.each([
    ['Week', 'week'],
    ['da', 'day'],
    ['days', 'day'],
    ['dax', 'day'],
    ['dya', 'day'],
    ['ewke', 'week'],
    ['weekly', 'week'],
    ['dyaxx', ''],
    ['kitten', ''],
    ['', ''],
  ])('of two letters at most is corrected: %j to %j', async (interval, meant) => {
    const { code, stderr } = await run(['history', 'USD', 'EUR', '--demo', '--interval', interval])
    const question = meant === '' ? '' : `. Did you mean ${meant}?`
    expect(stderr).toBe(`ratesmith: Invalid parameter: interval (day, week or month)${question}\n`)
    expect(code).toBe(2)
  })

  it.each(['1y', '1yr', '1 Year'])('of a period is corrected: %j', async (period) => {
    const { stderr } = await run(['history', 'USD', 'EUR', '--demo', '--period', period])
    expect(stderr).toMatch(/ Did you mean 1Y\?\n$/)
  })

  // A market of few names; the others are near to nothing, but for one to the Deutsche Mark.
  const covered = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ', (end) => `V${end}K`)
  const rates = Object.fromEntries(
    [...covered, 'DKM', 'AUD', 'CHF', 'EUR', 'GBP', 'JPY', 'USD'].map((code) => [code, 1]),
  )

  it.each([
    ['EURO', 'EUR'],
    ['euros', 'EUR'],
    ['GPB', 'GBP'],
    ['USH', 'USD'],
    ['yen', 'JPY'],
    ['Swiss', 'CHF'],
    ['dollar', 'AUD or USD'],
    ['euro', 'EUR'],
    ['VVV', 'VVK'],
    ['QQQ', ''],
    ['DEM', ''],
  ])('of a code is corrected by names and letters: %s to %j', async (sent, meant) => {
    const fetch = publish({ latest: { rates } })
    const { code, stderr } = await run(['convert', 'USD', sent], { fetch })
    expect(stderr.split('Did you mean ')[1] ?? '').toBe(meant === '' ? '' : `${meant}?\n`)
    expect(code).toBe(2)
    const wrongBase = await run(['latest', '--base', sent, '--symbols', 'usd'], { fetch })
    expect(wrongBase.stderr.split('Did you mean ')[1]).toBe(stderr.split('Did you mean ')[1])
  })

  it('of a code has three corrections at most, of those that the data cover', async () => {
    const meant = async (args: string[]): Promise<string | undefined> =>
      (await run([...args, '--demo'])).stderr.split('. Did you mean ')[1]
    expect(await meant(['convert', 'dollar', 'EUR'])).toBe('USD, AUD or BBD?\n')
    expect(await meant(['convert', 'USD', 'UAX'])).toBe('UAH or UGX?\n')
    // The European Central Bank has neither.
    expect(await meant(['history', 'USD', 'UAX'])).toBeUndefined()
  })

  it('of a code is refused as it is where there are no data', async () => {
    const { code, stderr } = await run(['convert', 'USD', 'EURO'], { fetch: offline })
    expect(stderr).toMatch(/^ratesmith: [^\n]+\n$/)
    expect(stderr).not.toContain('Did you mean')
    expect(code).toBeGreaterThan(0)
  })
})
