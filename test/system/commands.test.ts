import { stripVTControlCharacters } from 'node:util'

import { beforeEach, describe, expect, it } from 'vitest'

import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { SCRIPT, ageCache, cacheFolder, onTerminal, piped, startUpstreams } from './commands.ts'
import { start } from './processes.ts'
import { requireProgram } from './require-program.ts'
import { NODE, RUNTIMES } from './runtimes.ts'
import { CLI, upstreams } from './serving.ts'

const ATTRIBUTION = 'Rates By Exchange Rate API, https://www.exchangerate-api.com'
const SYNTHETIC = 'Synthetic rates (ratesmith), https://www.npmjs.com/package/ratesmith'

/** Loaded before a program on Node, puts its waits off by so much that a test would end before them. */
const ENDLESS_WAITS = `data:text/javascript,${encodeURIComponent(`
  import { syncBuiltinESMExports } from 'node:module'
  import timers from 'node:timers/promises'
  const { setTimeout: sleep } = timers
  timers.setTimeout = (delay, ...rest) => sleep(delay * 1_000, ...rest)
  syncBuiltinESMExports()
`)}`

const NUMBER = String.raw`\d+(\.\d+)?(e-\d+)?`

describe.each(RUNTIMES)('in a pipe on %s', (...runtime) => {
  it('converts to one line of a number and a code, and names the source beside it', async () => {
    const { code, stdout, stderr } = await piped(runtime, [
      'convert',
      '1e2',
      'usd',
      'eur',
      '--demo',
    ])
    expect(stdout).toMatch(new RegExp(`^${NUMBER} EUR\n$`))
    expect(stderr).toContain(SYNTHETIC)
    expect(code).toBe(0)
    const one = await piped(runtime, ['convert', 'USD', 'EUR', '--demo'])
    expect(Number.parseFloat(stdout)).toBeCloseTo(100 * Number.parseFloat(one.stdout), 6)
  })

  it('lists latest rates, one line of three cells each', async () => {
    const all = await piped(runtime, ['latest', '--base', 'eur', '--demo'])
    const rows = all.stdout.trimEnd().split('\n')
    expect(rows.length).toBeGreaterThan(150)
    for (const row of rows) expect(row).toMatch(new RegExp(`^[A-Z]{3}\t${NUMBER}\t[^\t]*$`))
    expect(rows).toContain('EUR\t1\tEuro')
    const some = await piped(runtime, ['latest', '--symbols', 'JPY,eur', '--demo'])
    expect(some.stdout).toMatch(/^EUR\t.*\tEuro\nJPY\t.*\tJapanese Yen\n$/)
  })

  it('lists history, one line a day', async () => {
    const { code, stdout } = await piped(runtime, [
      'history',
      'USD',
      'EUR',
      '--period',
      '1Y',
      '--demo',
    ])
    expect(code).toBe(0)
    const rows = stdout.trimEnd().split('\n')
    expect(rows.length).toBeGreaterThan(240)
    for (const row of rows) expect(row).toMatch(new RegExp(`^\\d{4}-\\d\\d-\\d\\d\t${NUMBER}$`))
    expect(rows).toEqual(rows.toSorted())
  })

  it('finds currencies by code, name and number', async () => {
    for (const search of ['chf', 'swiss fr', '756']) {
      const { code, stdout } = await piped(runtime, ['currencies', search, '--demo'])
      expect(stdout, search).toBe('CHF\tSwiss Franc\t756\t2\tyes\tyes\t\n')
      expect(code).toBe(0)
    }
    const kuna = await piped(runtime, ['currencies', 'HRK', '--demo'])
    expect(kuna.stdout).toContain('withdrawn 2023-01-01, use EUR, 1 EUR = 7.5345 HRK')
    const none = await piped(runtime, ['currencies', 'EURO', '--demo'])
    expect(none.stdout).toContain('EUR\tEuro\t978\t2\tyes\tyes\t\n')
  })

  it('says so with 1 where there is no such currency, with the nearest', async () => {
    const { code, stdout, stderr } = await piped(runtime, ['currencies', 'gpb', '--demo'])
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: 'ratesmith: no currency gpb. Did you mean GBP?\n',
    })
  })

  it('answers with the JSON of the API', async () => {
    const json = async (...args: string[]): Promise<unknown> => {
      const { code, stdout, stderr } = await piped(runtime, [...args, '--json', '--demo'])
      expect(stderr).toBe('')
      expect(code).toBe(0)
      expect(stdout).toMatch(/^[^\n]+\n$/)
      return JSON.parse(stdout)
    }
    const source = { name: 'Synthetic rates (ratesmith)' }
    expect(await json('convert', '5', 'USD', 'EUR')).toMatchObject({
      from: 'USD',
      amount: 5,
      source,
    })
    expect(await json('latest')).toMatchObject({ base: 'USD', rates: { USD: 1 }, source })
    expect(await json('history', 'USD', 'EUR')).toMatchObject({ period: '1M', source })
    expect(await json('currencies', '978')).toMatchObject({ currencies: [{ code: 'EUR' }] })
    expect(await json('doctor')).toMatchObject({ ok: true, findings: expect.any(Array) })
  })

  it.each([
    [['convert', '1', 'USD', 'EURO'], 'Invalid to currency: EURO. Did you mean EUR?'],
    [['convert', '1', 'GPB', 'EUR'], 'Invalid from currency: GPB. Did you mean GBP?'],
    [['latest', '--symbols', 'EUR,USX'], 'Invalid symbols currency: USX. Did you mean USD'],
    [['latest', '--base', 'HRK'], '(withdrawn on 2023-01-01, use EUR, 1 EUR = 7.5345 HRK)\n'],
    [['history', 'USD', 'eux'], 'ZAR). Did you mean EUR?'],
    [['history', 'USD', 'EUR', '--period', '1y'], '1Y, 5Y). Did you mean 1Y?'],
    [['convert', '1,5', 'USD', 'EUR'], 'Invalid amount: 1,5\n'],
    [['convert', '-5', 'USD', 'EUR'], 'an amount is not negative, got -5 (see'],
    [['convert', 'USD'], 'convert takes an amount and two codes'],
    [['history', 'USD'], 'history takes two codes'],
    [['latest', 'EUR'], "Unexpected argument 'EUR'"],
    [['latest', '--bas', 'EUR'], "Unknown option '--bas'. Did you mean --base?"],
  ])('ends with 2 and one line of stderr: %j', async (args, line) => {
    const { code, stdout, stderr } = await piped(runtime, [...args, '--demo'])
    expect(stderr).toMatch(/^ratesmith: [^\n]+\n$/)
    expect(stderr).toContain(line)
    expect(stdout).toBe('')
    expect(code).toBe(2)
  })

  it('answers with the error of the API as JSON where JSON is asked for', async () => {
    const args = ['convert', 'USD', 'EURO', '--json', '--demo']
    const { code, stdout, stderr } = await piped(runtime, args)
    expect(JSON.parse(stdout)).toEqual({
      error: { code: 'invalid_currency', message: 'Invalid to currency: EURO' },
    })
    expect(stderr).toContain('Did you mean EUR?')
    expect(code).toBe(2)
  })

  it('keeps what it fetched: asks once, and answers without its upstream, saying how old that is', async () => {
    const { calls, env, stop } = await startUpstreams()
    const first = await piped(runtime, ['convert', '100', 'USD', 'EUR'], env)
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining(ATTRIBUTION) })
    const history = await piped(runtime, ['history', 'USD', 'EUR'], env)
    expect(history).toMatchObject({ code: 0, stderr: expect.stringContaining('European Central') })
    expect(calls).toHaveLength(2)
    expect(await piped(runtime, ['convert', '100', 'USD', 'EUR'], env)).toEqual(first)
    expect(calls).toHaveLength(2)
    await stop()
    expect(await piped(runtime, ['history', 'USD', 'EUR'], env)).toEqual(history)
    ageCache(String(env['RATESMITH_CACHE_DIR']), 3)
    const offline = await piped(runtime, ['convert', '100', 'USD', 'EUR'], env)
    expect(offline).toMatchObject({ code: 0, stdout: first.stdout })
    expect(offline.stderr).toMatch(/^ratesmith: offline: rates of [34] days ago \(127\.0\.0\.1/)
  })

  it('waits for newer rates rather than show old ones', async () => {
    const { calls, env } = await startUpstreams()
    await piped(runtime, ['latest'], env)
    ageCache(String(env['RATESMITH_CACHE_DIR']), 3)
    const { stdout, stderr } = await piped(runtime, ['latest', '--json'], env)
    expect(JSON.parse(stdout).updatedAt).toBeGreaterThan(Date.now() - 2 * 86_400_000)
    expect(stderr).toBe('')
    expect(calls).toHaveLength(2)
  })

  it('ends with 1 and the reason where there is nothing to answer with', async () => {
    const { env, stop } = await startUpstreams()
    await stop()
    const { code, stdout, stderr } = await piped(runtime, ['convert', '1', 'USD', 'EUR'], env)
    expect(stderr).toMatch(/^ratesmith: The exchange-rate provider is unavailable\. [^\n]+\n$/)
    expect(stderr).toContain('127.0.0.1')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  })

  it('goes on where nothing can be kept, and keeps nothing where it is not to', async () => {
    const { calls, env } = await startUpstreams()
    const unwritable = { ...env, RATESMITH_CACHE_DIR: '/dev/null/none' }
    expect((await piped(runtime, ['latest'], unwritable)).code).toBe(0)
    expect((await piped(runtime, ['latest', '--no-cache'], env)).code).toBe(0)
    expect((await piped(runtime, ['latest'], env)).code).toBe(0)
    expect(calls).toHaveLength(3)
  })

  it('has nothing to say to a reader that has left', async () => {
    const [, ...program] = runtime
    const shell = ['-c', '{ "$@"; echo "ended with $?" >&2; } | true', 'sh', ...program]
    const help = await piped(['a shell', '/bin/sh', ...shell], ['--help'])
    expect(help.stderr).toBe('ended with 0\n')
    const args = ['history', 'USD', 'EUR', '--demo']
    const { stderr } = await piped(['a shell', '/bin/sh', ...shell], args)
    expect(stderr.split('\n').filter((line) => !/^(Synthetic|For inf)/.test(line))).toEqual([
      'ended with 0',
      '',
    ])
  })
})

it('never takes rates of one upstream for those of another', async () => {
  const one = await startUpstreams()
  const other = await startUpstreams()
  const env = { ...other.env, RATESMITH_CACHE_DIR: one.env['RATESMITH_CACHE_DIR'] }
  for (const each of [one.env, env, one.env, env]) await piped(NODE, ['latest'], each)
  expect([one.calls.length, other.calls.length]).toEqual([1, 1])
})

describe.each(RUNTIMES)('on a terminal on %s', (...runtime) => {
  beforeEach(({ skip }) => requireProgram('script', SCRIPT, skip))

  it('converts, with rate, date, age and source', async () => {
    const { code, lines } = await onTerminal(runtime, ['convert', '100', 'USD', 'EUR', '--demo'])
    expect(lines[0]).toMatch(new RegExp(`^100 USD = ${NUMBER} EUR$`))
    const about = lines.slice(1).join(' ')
    expect(about).toMatch(new RegExp(`^1 USD = ${NUMBER} EUR, published 20\\d\\d-`))
    expect(about).toMatch(/ UTC, (just now|\d+ (minute|hour|day)s? ago) /)
    expect(about).toContain(SYNTHETIC)
    expect(about).toContain('not an offer')
    expect(code).toBe(0)
  })

  it.each([
    [['convert', '100', 'USD', 'EUR']],
    [['latest']],
    [['history', 'USD', 'EUR', '--period', '1Y']],
    [['currencies']],
    [['doctor']],
  ])('fits 40 columns, and shows colours and says nothing else by them: %j', async (args) => {
    const narrow = await onTerminal(runtime, [...args, '--demo'], { columns: 40 })
    expect(Math.max(...narrow.lines.map((line) => line.length))).toBeLessThanOrEqual(40)
    expect(narrow.raw).toContain('\u001B[')
    expect(narrow.code).toBe(0)
    const plain = await onTerminal(runtime, [...args, '--demo'], {
      columns: 40,
      env: { NO_COLOR: '1' },
    })
    expect(plain.raw).not.toContain('\u001B')
    expect(plain.lines).toEqual(narrow.lines)
  })

  it('draws a chart of the width of the terminal, with a summary', async () => {
    const args = ['history', 'USD', 'EUR', '--period', '1Y', '--demo']
    const { lines } = await onTerminal(runtime, args, { columns: 100 })
    const axis = lines.findIndex((line) => line.includes('└──'))
    expect(lines[axis]).toHaveLength(100)
    expect(lines[axis + 1]).toMatch(/^ +\d{4}-\d\d-\d\d +\d{4}-\d\d-\d\d$/)
    expect(lines.join('\n')).toMatch(/[\u2801-\u28FF]/)
    const [, high] = /^high +(\S+) on/m.exec(lines.join('\n')) ?? []
    expect(lines[1]).toContain(`${high} │`)
    expect(lines.join('\n')).toMatch(/^change +[+-]?\d+(\.\d+)? %$/m)
  })

  it.each([[{ LC_ALL: 'C' }], [{ TERM: 'dumb' }]])('keeps to ASCII with %j', async (env) => {
    const { raw } = await onTerminal(runtime, ['history', 'USD', 'EUR', '--demo'], { env })
    expect(stripVTControlCharacters(raw)).toMatch(/^[\r\n\x20-\x7E]+$/)
    expect(raw).toContain('*')
    const narrow = await onTerminal(runtime, ['latest', '--demo'], { env, columns: 30 })
    expect(stripVTControlCharacters(narrow.raw)).not.toContain('…')
  })

  it('says offline where newer rates cannot be had', async () => {
    const { env, stop } = await startUpstreams()
    await piped(runtime, ['latest'], env)
    await stop()
    ageCache(String(env['RATESMITH_CACHE_DIR']), 3)
    const { code, lines } = await onTerminal(runtime, ['latest', '--symbols', 'EUR'], { env })
    expect(lines.join('\n')).toMatch(/^offline: rates of [34] days ago/m)
    expect(code).toBe(0)
  })

  it('shows a sign of life only while an upstream keeps it waiting, and takes it away', async () => {
    const payload = openErApiPayload({ now: Date.now() })
    const wait = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 900))
    const { env } = await startUpstreams(upstreams(payload, wait))
    const slow = await onTerminal(runtime, ['convert', 'USD', 'EUR'], { env })
    const [, ...afterwards] = slow.raw.split('asking for rates')
    expect(afterwards.length).toBeGreaterThan(1)
    expect(afterwards.at(-1)?.startsWith('\r\u001B[K')).toBe(true)
    expect(afterwards.at(-1)).toContain('1 USD = ')
    const kept = await onTerminal(runtime, ['convert', 'USD', 'EUR'], { env })
    expect(kept.raw).not.toContain('asking')
    const unseen = await piped(runtime, ['convert', 'USD', 'EUR', '--no-cache'], env)
    expect(unseen.stderr).not.toContain('asking')
  })
})

it('waits five seconds for newer rates, and no longer', async () => {
  let isSilent = false
  const answer = upstreams(openErApiPayload({ now: Date.now() }))
  const { env } = await startUpstreams((request, response) => {
    if (!isSilent) answer(request, response)
  })
  // The handler itself would give the upstream of history ten.
  await piped(NODE, ['history', 'USD', 'EUR'], env)
  ageCache(String(env['RATESMITH_CACHE_DIR']), 8)
  isSilent = true
  const startedAt = performance.now()
  const { code, stderr } = await piped(NODE, ['history', 'USD', 'EUR'], env)
  expect(performance.now() - startedAt).toBeLessThan(9_000)
  expect(stderr).toMatch(/^ratesmith: offline: rates of \d+ days ago \(no answer in time\)/)
  expect(code).toBe(0)
})

describe('what is kept', () => {
  it('is where the user keeps caches', async () => {
    const { env } = await startUpstreams()
    const home = cacheFolder()
    const own = { ...env, RATESMITH_CACHE_DIR: undefined, XDG_CACHE_HOME: home }
    expect((await piped(NODE, ['latest'], own)).code).toBe(0)
    expect(() => ageCache(`${home}/ratesmith`, 3)).not.toThrow()
  })
})

it('a command ends when it has printed its answer, and does not wait for its own time limits', async () => {
  const { env, stop } = await startUpstreams()
  await stop()
  const args = ['--import', ENDLESS_WAITS, CLI, 'convert', '1', 'USD', 'EUR']
  const running = start(process.execPath, args, { env: { NO_PROXY: '127.0.0.1', ...env } })
  expect(await running.exited).toBe(1)
  expect(running.stderr).toContain('The exchange-rate provider is unavailable.')
})
