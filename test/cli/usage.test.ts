import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { publish, run } from './run.ts'

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

describe('the command line', () => {
  const KEY = 'key-0123456789abcdef'
  const SECRET_URL = 'https://ada:hidden@rates.example'

  it.each([
    ['', 'missing command; try ratesmith serve --demo'],
    ['install', '…command install (see ratesmith --help)'],
    ['toString', '…command toString (see ratesmith --help)'],
    ['x'.repeat(9_999), `…command ${'x'.repeat(9_999)} (see ratesmith --help)`],
    ['convrt', '…command convrt. Did you mean convert?'],
    ['convert 1 USD EUR GBP', 'convert …[amount] <from> <to>'],
    ['convert USD', 'convert …[amount] <from> <to>'],
    ['convert USD ,', 'Invalid to currency: ,'],
    ['convert 1 USD JPY,GPB', 'Invalid to currency: GPB. Did you mean GBP?'],
    ['convert 1,5,5 USD EUR', 'amount …such as 1000.50, got 1,5,5 ('],
    ['convert -5 USD EUR', 'amount …negative, got -5 (see'],
    ['convert USD EUR --revers', "Unknown option '--revers'. Did you mean --reverse?"],
    ['convert USD EUR, --date 2020-02-30', 'Invalid parameter: date (…YYYY-MM-DD)'],
    ['convert USD EUR --date 2999-01-01', 'Invalid parameter: date (…after today)'],
    ['convert USD EUR --rule next', 'Invalid parameter: rule (requires date)'],
    ['latest --max-age 3', 'Invalid parameter: maxAge (requires date)'],
    [
      'convert USD EUR --date 2024-02-29 --rule nearest',
      'Invalid parameter: rule (…on-or-before, exact, next, previous…',
    ],
    ['latest --date 2024-02-29 --max-age week', 'Invalid parameter: maxAge (…days, 0 to 36600)'],
    ['latest --date 2024-02-29 --maxage 3', "Unknown option '--maxage'. Did you mean --max-age?"],
    [
      'convert USD JPY,GPB --date 2020-02-29',
      'Unsupported to currency: GPB (the rates for 2020-02-28 …). Did you mean GBP?',
    ],
    ['latest --symbols EUR,USX', 'Invalid symbols currency: USX. Did you mean USD'],
    [
      'latest --base HRK --demo',
      'Invalid base currency: HRK (withdrawn on 2023-01-01, use EUR, 1 EUR = ',
    ],
    ['latest --base EURI --date 2024-02-29', 'Invalid base currency: EURI. Did you mean EUR?'],
    ['latest EUR --base USD', 'latest takes a base and symbols once…EUR USD,GBP'],
    ['latest --demo --latest ecb', '--demo … --latest ('],
    ['latest --latest currencyapi', 'currencyapi needs a key…: set RATESMITH_CURRENCYAPI_KEY'],
    [
      `RATESMITH_CURRENCYAPI_KEY=${KEY}\t latest --latest currencyapi`,
      'RATESMITH_CURRENCYAPI_KEY: key must be',
    ],
    ['history USD', 'history …<from> <to>'],
    [
      'history USD EUX --start 2005-01-03',
      'Unsupported to currency: EUX (history covers …). Did you mean EUR?',
    ],
    ['history USD EUR --end 2019-01-01', 'Missing required parameter: start'],
    ['history USD EUR --layout tall', '--layout must be long or wide, got tall ('],
    ['history USD EUR --layout wide --json', '--layout wide …--json ('],
    ['history USD EUR --value high --demo', 'Invalid parameter: value (needs interval …year)\n'],
    [
      'history USD EUR --interval year --value hihg --demo',
      'Invalid parameter: value (…low). Did you mean high?',
    ],
    ['history USD EUR --fill next --demo', 'Invalid parameter: fill (must be previous)\n'],
    ['history USD EUR,GPB --demo', 'Unsupported to currency: GPB (…). Did you mean GBP?'],
    ['history USD EUR --start 2019-01-01 --period 1M', 'Invalid parameter: period (…start or end)'],
    [
      'history USD EUR --start 2020-01-02 --end 2020-01-01',
      'Invalid parameter: start (…after end)',
    ],
    ['serve 8080', "Unexpected argument '8080'"],
    ['serve --prot 80', "Unknown option '--prot'. Did you mean --port?"],
    ['serve --port', "Option '--port <value>' argument missing"],
    ['serve --port -1', "Option '--port' argument is ambiguous"],
    ['serve --port 80a', '--port must be a number from 0 to 65535, got 80a'],
    ['serve --port 65536', '--port must be a number from 0 to 65535, got 65536'],
    ['serve --demo=yes', "Option '--demo' does not take an argument"],
    ['serve --no-compress=yes', "Option '--no-compress' does not take an argument"],
    ['serve --data=', '--data must be a folder, got ""'],
    ['serve --demo --data package.json', '--data: EEXIST'],
    ['serve --log xml', '--log must be json or text, got xml'],
    ['serve --cors *', '--cors must be v1, all or off, got *'],
    ['serve --compat frankfurte', '--compat must be …got frankfurte. Did you mean frankfurter?'],
    ['serve --compat=', '--compat must be frankfurter, …, got ""'],
    ['serve --compat frankfurter,frankfurter', '--compat …frankfurter twice'],
    ['serve --compat frankfurter --base-path=', '--base-path …--compat, got ""'],
    ['serve --compat frankfurter --base-path /v1/x', '--base-path …--compat, got /v1/x'],
    ['serve --host=', '--host must be an address, got ""'],
    ['serve --base-path api/', "--base-path: basePath must be '' or an absolute path"],
    ['serve --redis http://user:hidden@localhost', '--redis must be a URL like redis://'],
    ['serve --redis redis://:hidden%@localhost', '--redis must be a URL like redis://'],
    ['serve --redis redis://hid%C3:%A4den@localhost', '--redis must be a URL like redis://'],
    ['serve --redis redis://:hidden@localhost/abc', '--redis must be a URL like redis://'],
    ['serve --redis=', '--redis must be a URL like redis://'],
    ['serve --redis redis://:hidden@localhost --data rates', '--data and --redis '],
    ['RATESMITH_REDIS_URL=localhost:hidden serve', 'RATESMITH_REDIS_URL must be a URL like'],
    [
      'RATESMITH_REDIS_URL=redis://:hidden@localhost serve --data rates',
      '--data and RATESMITH_REDIS_URL ',
    ],
    ['serve --https', 'HTTPS …--https-key ('],
    [
      'RATESMITH_LATEST_URL=open.er-api.com serve',
      'RATESMITH_LATEST_URL: url must be an absolute http(s) URL without a query, got open',
    ],
    [
      `RATESMITH_LATEST_URL=${SECRET_URL} serve`,
      'RATESMITH_LATEST_URL: url must not contain a user name or password',
    ],
    [
      `RATESMITH_LATEST_URL=${SECRET_URL}?x serve`,
      'RATESMITH_LATEST_URL: url must be an absolute http(s) URL without a query (',
    ],
    [
      `RATESMITH_CURRENCYAPI_KEY=${KEY} RATESMITH_LATEST_URL=https://a.example/${KEY} serve --latest currencyapi`,
      'RATESMITH_LATEST_URL: url must not contain the key',
    ],
    ['serve --cors https://a.example/', '--cors must list origins …got https://a.example/'],
    ['serve --cors https://a.example,b', '--cors must list origins …got b'],
    ['serve --cors https://a.example --compat frankfurter', '--cors …--compat cannot be combined'],
    ['serve --demo --keys keys.json', '--keys needs a plan, such as --plan public=60/min'],
    ['RATESMITH_KEYS=keys.json serve --demo', 'RATESMITH_KEYS needs a plan'],
    ['serve --demo --keys=', '--keys must be a file, got ""'],
    [
      'serve --demo --keys nowhere.json --plan a=1/s',
      '--keys: nowhere.json does not exist; create',
    ],
    ['serve --demo --keys nowhere.db --plan a=1/s', '--keys: nowhere.db does not exist; create'],
    ['serve --demo --keys package.json --plan a=1/s', '--keys: key file …package.json: version'],
    ['serve --demo --anonymous a', '--anonymous needs a plan'],
    ['serve --demo --counters memory', '--counters needs a plan'],
    ['serve --demo --key-parameter key', '--key-parameter needs a plan'],
    ['serve --demo --when-counters-fail local', '--when-counters-fail needs a plan'],
    ['serve --demo --plan a=1/s', '--plan needs --keys, or --anonymous'],
    ['serve --demo --plan a=1/s --anonymous refuse', '--anonymous refuse needs --keys'],
    ['serve --demo --plan public=1/s --anonymous pubic', '--anonymous …Did you mean public?'],
    ['serve --demo --plan a', '--plan must be like pro=600/min,100000/month, got a ('],
    ['serve --demo --plan a=', '--plan must be like …got a= ('],
    ['serve --demo --plan refuse=1/s', '--plan must not be named refuse'],
    ['serve --demo --plan a=1/s --plan a=2/s', '--plan contains a twice'],
    [
      'serve --demo --plan a=1/s,2/min',
      '--plan a may have one limit by month and one by a shorter',
    ],
    ['serve --demo --plan a=1/month,2/month', '--plan a may have one limit by month'],
    ['serve --demo --plan a=60/fortnight', '--plan: a.burst must be'],
    ['serve --demo --plan a=0/month', '--plan: a.month must be'],
    ['serve --plan a=1/s --anonymous a --key-parameter k', '--key-parameter needs --keys'],
    ['serve --plan a=1/s --anonymous a --counters hidden', '--counters must be memory or a URL'],
    ['serve --plan a=1/s --anonymous a --counters http://hidden/a.db', '--counters must be memory'],
    ['serve --plan a=1/s --anonymous a --counters redis://hidden%@a', '--counters must be a URL'],
    [
      'RATESMITH_COUNTERS=hidden serve --plan a=1/s --anonymous a',
      'RATESMITH_COUNTERS must be memory or a URL',
    ],
    [
      'serve --plan a=1/s --anonymous a --when-counters-fail refuse',
      '--when-counters-fail needs --counters in Redis',
    ],
    [
      'serve --plan a=1/s --anonymous a --counters redis://a --when-counters-fail never',
      '--when-counters-fail must be local, allow or refuse, got never',
    ],
    ['serve --demo --trusted-proxy 10.0.0.1', '--trusted-proxy needs --anonymous …'],
    [
      'serve --plan a=1/s --anonymous a --forwarded-header forwarded',
      '--forwarded-header needs --trusted-proxy',
    ],
    [
      'serve --plan a=1/s --anonymous a --trusted-proxy ::1 --forwarded-header x-real-ip',
      '--forwarded-header must be x-forwarded-for or forwarded, got x-real-ip',
    ],
    [
      'serve --plan a=1/s --anonymous a --trusted-proxy 0',
      '--trusted-proxy must contain addresses',
    ],
    [
      'serve --plan a=1/s --anonymous a --trusted-proxy ::/0',
      '--trusted-proxy must not contain all',
    ],
    [
      'serve --keys a.db --plan a=1/s --key-parameter from',
      '--key-parameter must not contain names that the API reads',
    ],
    [
      'serve --plan a=1/s --anonymous a --trusted-proxy 10.0.0.0/33',
      '--trusted-proxy must contain …got 10.0.0.0/33',
    ],
    [
      'serve --plan a=1/s --anonymous a --trusted-proxy ::1 --trusted-proxy 2',
      '--trusted-proxy must contain …got 2',
    ],
    ['serve --metrics --metrics-port 9090', '--metrics and --metrics-port cannot be combined'],
    ['serve --metrics-port 90a', '--metrics-port must be a number from 0 to 65535, got 90a'],
    ['serve --access-log text', '--access-log must be json, got text'],
    ['doctor --redis=', '--redis'],
    [`RATESMITH_LATEST_URL=${SECRET_URL} doctor`, 'RATESMITH_LATEST_URL'],
    ['RATESMITH_REDIS_URL=rediss://ada:hidden@ doctor', 'RATESMITH_REDIS_URL'],
    // `…` marks words of the message that may change.
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
    [['convert', '-v'], `${manifest.version}\n`],
    [['nonsense', '-h'], 'Usage: ratesmith [amount] <from> [to] <to>'],
    [['convert', '--help'], 'Usage: ratesmith convert [amount] <from> [to] <to>'],
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
    return /\. Did you mean (.*)\?\n$/.exec(stderr)?.[1] ?? ''
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

  it.each(['1y', '1yr', '1 Year'])('is corrected as a period: %j', async (sent) => {
    expect(await suggest(['history', 'USD', 'EUR', '--demo', '--period', sent])).toBe('1Y')
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
