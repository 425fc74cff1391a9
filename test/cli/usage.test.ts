import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { pairsOf } from '../fixtures/rows.ts'
import { publish, run } from './run.ts'

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** No URLs of stores. */
const STORES =
  `postgres://hidden.db localhost:6379 http://user:hidden@localhost redis://:hidden%@localhost
  redis://hid%C3:%A4den@localhost redis://:hidden@localhost/abc`.split(/\s+/)

const KEY = 'key-0123456789abcdef'

/** Command lines with their messages, in which … marks words that may change. */
const WRONG = `
  install => …command install (see ratesmith help)
  toString => …command toString (see ratesmith help)
  convert 1 USD JPY,GPB => Invalid to currency: GPB (see …). Did you mean GBP?
  convert USD EUR --revers => Unknown option '--revers'. Did you mean --reverse?
  convert USD EUR, --date 2020-02-30 => --date must be YYYY-MM-DD, …, got 2020-02-30
  convert USD EUR --date 2999-01-01 => --date must not be after today
  latest --max-age 3 => --max-age requires --date (see ratesmith help latest)
  latest --date 2024-02-29 --maxage 3 => Unknown option '--maxage'. Did you mean --max-age?
  convert USD JPY,GPB --date 2020-02-29 => Unsupported to currency: GPB (the rates for 2020-02-28 …). Did you mean GBP?
  latest --symbols EUR,USX => Invalid symbols currency: USX …. Did you mean USD
  latest --base HRK --demo => Invalid base currency: HRK (withdrawn on 2023-01-01, use EUR, 1 EUR = …
  latest --base EURI --date 2024-02-29 => Invalid base currency: EURI (…). Did you mean EUR?
  latest --demo --latest ecb => --demo … --latest (
  latest --latest currencyapi => currencyapi needs a key…: set RATESMITH_CURRENCYAPI_KEY
  RATESMITH_CURRENCYAPI_KEY=${KEY}\t latest --latest currencyapi => RATESMITH_CURRENCYAPI_KEY: key must be
  history USD EUR --layout wide --json => --layout wide cannot be combined with --json (
  history USD EUR --value high --demo => --value needs --interval …year (see ratesmith help history)
  history USD EUR --interval year --value hihg --demo => --value must be …low, got hihg. Did you mean high?
  latest --currencies EUR => Unknown option '--currencies'. Did you mean --symbols?
  convert --amount 5 => Unknown option '--amount'. Write it as a word, without a flag: ratesmith 100 usd eur (
  serve --foo => Unknown option '--foo' (
  history USD EUR,GPB --demo => Unsupported to currency: GPB (…). Did you mean GBP?
  history USD EUR --start 2019-01-01 --period 1M => --period must not be combined with --start or --end
  history USD EUR --start 2020-01-02 --end 2020-01-01 => --start must not be after --end
  serve 8080 => 8080 does not exist
  serve a.ts b.ts => serve takes one config file, got a.ts b.ts
  serve package.json => the config file must be a …mjs file, got package.json
  serve --prot 80 => Unknown option '--prot'. Did you mean --port?
  serve --port => Option '--port <value>' argument missing
  serve --port -1 => Option '--port' argument is ambiguous
  serve --port 65536 => --port must be a number from 0 to 65535, got 65536
  serve --demo=yes => Option '--demo' does not take an argument
  serve --store package.json => --store: package.json is not a folder
  serve --store /proc/rates => --store: …/proc/rates
  serve --store= => --store must be a URL like redis://127.0.0.1:6379, a folder, or
  serve --demo --store rates => --demo cannot be combined with --store
  RATESMITH_STORE=localhost:hidden serve => RATESMITH_STORE must be a URL like
  RATESMITH_QUOTE_SECRETS=hidden serve --demo => RATESMITH_QUOTE_SECRETS must be secrets of at least 32 bytes, separated by commas or white space (
  RATESMITH_QUOTE_SECRETS=${'x'.repeat(32).concat(',').repeat(11)} serve --demo => RATESMITH_QUOTE_SECRETS must be secrets of
  RATESMITH_QUOTE_SECRETS=,, serve --demo => RATESMITH_QUOTE_SECRETS must be secrets of
  RATESMITH_KEYS=keys.json serve --demo => RATESMITH_KEYS needs a config file
  serve --log xml => --log must be json or text, got xml
  serve --host= => --host must be an address, got ""
  serve --base-path api/ => --base-path: basePath must be '' or an absolute path
  RATESMITH_CURRENCYAPI_KEY=${KEY} RATESMITH_LATEST_URL=https://a.example/${KEY} serve --latest currencyapi => RATESMITH_LATEST_URL: url must not contain the key
  doctor --all --demo => --all cannot be combined with --demo (
  doctor --all --latest=ecb => --all cannot be combined with --latest (
  doctor --all --history=ecb => --all cannot be combined with --history (
  doctor --store= => --store must be a URL like
  RATESMITH_STORE=rediss://ada:hidden@ doctor => RATESMITH_STORE
  help convrt => unknown command convrt. Did you mean convert?
  latest --csv --json --demo => --json cannot be combined with --csv
  latest --demo --sort chnge => --sort must be change, code or rate, got chnge. Did you mean change?
  latest --demo --sort rate --json => --sort
  latest --format ledger --json => --format cannot be combined with --json
  history usd eur --format ledger --csv => --format cannot be combined with --csv
  history usd eur --format ledger --layout wide => --layout wide cannot be combined with --format
  latest --format hledger => --format must be beancount or ledger, got hledger. Did you mean ledger?
  history usd eur --format csv => --format must be beancount or ledger, got csv`

describe('the command line', () => {
  it.each([
    ...pairsOf(WRONG),
    ['x'.repeat(9_999), `…command ${'x'.repeat(9_999)} (see ratesmith help)`],
    ...STORES.map((url): [string, string] => [
      `serve --store ${url}`,
      '--store must be a URL like redis://',
    ]),
    ...['to', 'columns', 'decimal', 'date-format', 'time-zone', 'prefix'].map(
      (flag): [string, string] => [`convert 1 USD EUR --${flag} EUR`, `…--${flag} needs --file`],
    ),
  ])('exits with 2 and one line on stderr: %s', async (typed, line) => {
    const words = typed.split(' ').filter((word) => word !== '')
    const variables = words.filter((word) => /^[A-Z_]+=/.test(word))
    const env = Object.fromEntries(variables.map((variable) => variable.split('=')))
    const { code, stdout, stderr } = await run(words.slice(variables.length), {
      env,
      fetch: publish(),
    })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    const [start, end = ''] = line.split('…')
    expect(stderr.startsWith(`ratesmith: ${start}`), stderr).toBe(true)
    expect(stderr).toContain(end)
    expect(stderr).toMatch(/^[^\n]+\n$/)
    expect(stderr).not.toMatch(/hidden|0123456789abcdef/)
  })

  it.each([
    ['USD EUX', 2, 'invalid_currency', 'Invalid to currency: EUX (see /v1/currencies)'],
    ['USD EUR --date 1998-12-31', 1, 'no_data', 'No reference rates for 1998-12-31'],
  ])('prints the error of the API with --json: %s', async (args, exit, code, message) => {
    const advice = exit === 2 ? ' Did you mean EUR?' : ''
    const ran = await run(['convert', ...args.split(' '), '--json'], { fetch: publish() })
    const stdout = `${JSON.stringify({ error: { code, message } })}\n`
    const [summary = ''] = message.split(' (')
    expect(ran).toMatchObject({ code: exit, stdout, stderr: expect.stringContaining(summary) })
    expect(ran.stderr).toContain(`${advice}\n`)
  })

  it.each([
    [[], 'Usage: ratesmith [amount] <from> [to] <to>'],
    [['convert', '-v'], `${manifest.version}\n`],
    [['nonsense', '-h'], 'Usage: ratesmith [amount] <from> [to] <to>'],
  ])('exits with 0 and text on stdout: %j', async (args, text) => {
    const { code, stdout, stderr } = await run(args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.startsWith(text), stdout).toBe(true)
  })
})

describe('the version of Node', () => {
  const needed: string = manifest.engines.node.replace('>=', '')
  const [major = 0, minor = 0] = needed.split('.').map(Number)

  const old = [`${major}.${minor - 1}.9`, `${major - 2}.${minor + 4}.0`, `9.${minor + 9}.0`]

  it.each(old)('%s exits with 1 and one line that names both versions', async (node) => {
    const ran = await run(['convert', 'USD', 'EUR', '--demo'], { versions: { node } })
    expect(ran).toMatchObject({ code: 1, stdout: '' })
    expect(ran.stderr).toMatch(/^ratesmith [^\n]+\n$/)
    for (const version of [needed, node]) expect(ran.stderr).toContain(version)
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
  /** Returns the suggestion on stderr; empty without one. */
  async function suggest(args: string[], fetch?: typeof globalThis.fetch): Promise<string> {
    const { code, stderr } = await run(args, fetch && { fetch })
    expect(code).toBe(2)
    expect(stderr).toMatch(/^ratesmith: [^\n]+\n$/)
    return /\. Did you mean (.*)\?(?: \(see .*\))?\n$/.exec(stderr)?.[1] ?? ''
  }

  it.each([
    ['day', 'da days dax dya'],
    ['week', 'Week ewke weekly'],
    // The last word is empty.
    ['', 'dyaxx kitten '],
  ])(
    'is corrected as an interval with up to two wrong letters: %j for %j',
    async (expected, words) => {
      for (const word of words.split(' ')) {
        const args = ['history', 'USD', 'EUR', '--demo', '--interval', word]
        expect(await suggest(args), word).toBe(expected)
      }
    },
  )

  it('is corrected as a period', async () => {
    expect(await suggest(['history', 'USD', 'EUR', '--demo', '--period', '1yr'])).toBe('1Y')
  })

  it.each([
    ['EURI', 'EUR'],
    ['GPB', 'GBP'],
    ['USH', 'USD'],
    ['Australian', 'AUD'],
    ['VVV', 'VVK'],
    ['QQQ', ''],
    // A withdrawn currency without a fixed ratio, although DKM is similar.
    ['DDM', ''],
    // Currencies that exist, although others are similar.
    ['GIP', ''],
    ['XAU', ''],
    ['ETH', ''],
  ])('is corrected as a code by names and letters: %s to %j', async (sent, expected) => {
    const fillers = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ', (letter) => `V${letter}K`)
    const codes = [...fillers, 'DKM', 'AUD', 'CHF', 'EUR', 'GBP', 'JPY', 'USD']
    const rates = Object.fromEntries(codes.map((code) => [code, code === 'JPY' ? 155 : 1]))
    const fetch = publish({ latest: { rates } })
    expect(await suggest(['convert', 'usd', sent], fetch)).toBe(expected)
    expect(await suggest(['latest', '--base', sent, '--symbols', 'usd'], fetch)).toBe(expected)
  })

  it('gets at most three suggestions, of codes that the data cover', async () => {
    expect(await suggest(['convert', 'New', 'EUR', '--demo'])).toBe('ILS, NZD or PGK')
    expect(await suggest(['convert', 'USD', 'UAX', '--demo'])).toBe('UAH or UGX')
    // The European Central Bank publishes neither.
    expect(await suggest(['history', 'USD', 'UAX', '--demo'])).toBe('')
  })
})
