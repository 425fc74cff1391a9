import { stripVTControlCharacters } from 'node:util'

import { beforeEach, describe, expect, it } from 'vitest'

import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import {
  SCRIPT,
  ageCache,
  expectRefused,
  onTerminal,
  piped,
  startOnTerminal,
  startUpstreams,
  upstreams,
} from './commands.ts'
import { describeRuntimes, requireProgram } from './processes.ts'
import { NODE } from './runtimes.ts'

const ATTRIBUTION = 'Rates By Exchange Rate API, https://www.exchangerate-api.com'
const SYNTHETIC = 'Synthetic rates (ratesmith), https://www.npmjs.com/package/ratesmith'

/** Preloaded into a program on Node: makes all waits longer than a test. */
const ENDLESS_WAITS = `data:text/javascript,${encodeURIComponent(`
  import { syncBuiltinESMExports } from 'node:module'
  import timers from 'node:timers/promises'
  const { setTimeout: sleep } = timers
  timers.setTimeout = (delay, ...rest) => sleep(delay * 1_000, ...rest)
  syncBuiltinESMExports()
`)}`

const NUMBER = String.raw`\d+(\.\d+)?(e-\d+)?`

const FRAME = /\r[-\\|/] \w/
const TWO_FRAMES = new RegExp(`${FRAME.source}[^]*${FRAME.source}`)
const ERASE_LINE = '\r\u001B[K'

const SATURDAY = '2020-02-29'

const DATED = [
  'convert 100 USD EUR,GBP,JPY',
  `convert 100 USD EUR,GBP,JPY --reverse --date ${SATURDAY}`,
  `convert 100 USD EUR --reverse --date ${SATURDAY}`,
  `latest --date ${SATURDAY}`,
  'history USD EUR --start 2019-01-01 --end 2019-12-31 --interval month',
]

describeRuntimes('in a pipe', (runtime) => {
  /** Returns the output of a command with synthetic rates, and checks the source on stderr. */
  async function demo(args: string): Promise<string> {
    const { code, stdout, stderr } = await piped(runtime, `${args} --demo`)
    expect(stderr).toContain(SYNTHETIC)
    expect(code).toBe(0)
    return stdout
  }

  it('prints a conversion as one line with a number and a code', async () => {
    const stdout = await demo('convert 1e2 usd eur')
    expect(stdout).toMatch(new RegExp(`^${NUMBER} EUR\n$`))
    const one = await demo('convert USD EUR')
    expect(Number.parseFloat(stdout)).toBeCloseTo(100 * Number.parseFloat(one), 6)
  })

  it('prints several conversions in the requested order, one line with code, result and rate each', async () => {
    const rows = (await demo('convert 100 usd jpy,EUR')).trimEnd().split('\n')
    const cells = rows.map((row) => row.split('\t'))
    expect(cells.map(([code]) => code)).toEqual(['JPY', 'EUR'])
    for (const [, result, rate] of cells) expect(Number(result)).toBeCloseTo(100 * Number(rate), 6)
    expect(await demo('convert 100 usd EUR,')).toBe(`${rows[1]}\n`)
    expect(await demo('convert 100 USD EUR')).toBe(`${cells[1]?.[1]} EUR\n`)
  })

  it('prints the amount to pay for a reverse conversion', async () => {
    const paid = await demo('convert 100 USD EUR --reverse')
    expect(paid).toMatch(new RegExp(`^${NUMBER} USD\n$`))
    const [amount = ''] = paid.split(' ')
    expect(Number.parseFloat(await demo(`convert ${amount} USD EUR`))).toBeCloseTo(100, 9)
    const row = await demo('convert 100 USD EUR, --reverse')
    expect(row).toMatch(new RegExp(`^EUR\t${amount}\t`))
  })

  it('prints latest rates as one line of three cells each', async () => {
    const rows = (await demo('latest --base eur')).trimEnd().split('\n')
    expect(rows.length).toBeGreaterThan(150)
    for (const row of rows) expect(row).toMatch(new RegExp(`^[A-Z]{3}\t${NUMBER}\t[^\t]*$`))
    expect(rows).toContain('EUR\t1\tEuro')
    const some = await demo('latest --symbols JPY,eur')
    expect(some).toMatch(/^EUR\t.*\tEuro\nJPY\t.*\tJapanese Yen\n$/)
  })

  it('uses the rates of any day since 1999', async () => {
    const table = await demo(`latest --base EUR --date ${SATURDAY}`)
    expect(table.split('\n')).toContain('EUR\t1\tEuro')
    const [, rate] = /^USD\t(\S+)\t/m.exec(table) ?? []
    expect(await demo('convert EUR USD --date 2020-02-28')).toBe(`${rate} USD\n`)
    expect(await demo('latest --date 1999-01-04')).toMatch(/^JPY\t/m)
  })

  it('prints history as one line per day', async () => {
    const rows = (await demo('history USD EUR --period 1Y')).trimEnd().split('\n')
    expect(rows.length).toBeGreaterThan(240)
    for (const row of rows) expect(row).toMatch(new RegExp(`^\\d{4}-\\d\\d-\\d\\d\t${NUMBER}$`))
    expect(rows).toEqual(rows.toSorted())
  })

  it('prints a range of days, or the last day of each month', async () => {
    const start = 'history USD EUR --start 2019-01-01'
    const range = `${start} --end 2019-12-31`
    const days = (await demo(range)).trimEnd().split('\n')
    expect(days.length).toBeGreaterThan(240)
    expect(days[0]).toMatch(/^2019-01-0/)
    const months = (await demo(`${range} --interval month`)).trimEnd().split('\n')
    expect(months).toHaveLength(12)
    expect(days).toEqual(expect.arrayContaining(months))
    const open = (await demo(`${start} --interval week`)).trimEnd().split('\n')
    expect(open.at(-1)?.slice(0, 4)).toBe(String(new Date().getUTCFullYear()))
  })

  it('finds currencies by code, name and number', async () => {
    for (const search of ['chf', 'swiss fr', '756']) {
      const found = await piped(runtime, ['currencies', search, '--demo'])
      const stdout = 'CHF\tSwiss Franc\t756\t2\tyes\tyes\t\n'
      expect(found, search).toMatchObject({ code: 0, stdout })
    }
    const kuna = await piped(runtime, 'currencies HRK --demo')
    expect(kuna.stdout).toMatch(/^HRK\t.*2023-01-01.*\bEUR\b.*\b7\.5345\b/)
    const none = await piped(runtime, 'currencies EURO --demo')
    expect(none.stdout).toContain('EUR\tEuro\t978\t2\tyes\tyes\t\n')
    const stderr = expect.stringMatching(/^ratesmith: .*\bgpb\b.*\bGBP\b.*\n$/)
    expect(await piped(runtime, 'currencies gpb --demo')).toEqual({ code: 1, stdout: '', stderr })
  })

  it('prints the JSON of the API', async () => {
    const source = { name: 'Synthetic rates (ratesmith)' }
    const expected = [
      ['convert 5 USD EUR', { from: 'USD', amount: 5, source }],
      ['latest', { base: 'USD', rates: { USD: 1 }, source }],
      ['history USD EUR', { period: '1M', source }],
      ['currencies 978', { currencies: [{ code: 'EUR' }] }],
      ['doctor', { ok: true, findings: expect.any(Array) }],
      [DATED[0], { from: 'USD', amount: 100, results: { GBP: expect.any(Object) } }],
      [
        DATED[1],
        { reverse: true, date: '2020-02-28', results: { EUR: { rate: expect.any(Number) } } },
      ],
      [DATED[2], { reverse: true, date: '2020-02-28', to: 'EUR' }],
      [DATED[3], { base: 'USD', date: '2020-02-28' }],
      [DATED[4], { start: '2019-01-01', end: '2019-12-31', interval: 'month' }],
    ] as const
    for (const [args, json] of expected) {
      const { code, stdout, stderr } = await piped(runtime, `${args} --json --demo`)
      expect({ code, stderr }, args).toEqual({ code: 0, stderr: '' })
      expect(stdout).toMatch(/^[^\n]+\n$/)
      expect(JSON.parse(stdout), args).toMatchObject(json)
    }
  })

  it('exits with 2 and one line of stderr', async () => {
    const ran = await piped(runtime, 'convert 1 USD EUX --demo')
    expectRefused(ran, 'Invalid to currency: EUX', ' EUR?')
  })

  it('prints the error of the API as JSON with --json', async () => {
    const typo = await piped(runtime, 'convert USD EUX --json --demo')
    const invalid = { code: 'invalid_currency', message: 'Invalid to currency: EUX' }
    expect(JSON.parse(typo.stdout)).toEqual({ error: invalid })
    expect(typo).toMatchObject({ code: 2, stderr: expect.stringContaining(' EUR?') })
    const early = await piped(runtime, 'convert USD EUR --date 1998-12-31 --json --demo')
    const { error } = JSON.parse(early.stdout)
    const message = expect.stringContaining('1998-12-31')
    expect(error).toEqual({ code: 'no_data', message })
    expect(early).toMatchObject({ code: 1, stderr: `ratesmith: ${error.message}\n` })
  })

  it('fetches once, and then prints cached rates and their age without the upstream', async () => {
    const { calls, env, stop } = await startUpstreams()
    const first = await piped(runtime, 'convert 100 USD EUR', env)
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining(ATTRIBUTION) })
    const history = await piped(runtime, 'history USD EUR', env)
    expect(history).toMatchObject({ code: 0, stderr: expect.stringContaining('European Central') })
    expect(calls).toHaveLength(2)
    expect(await piped(runtime, 'convert 100 USD EUR', env)).toEqual(first)
    expect(calls).toHaveLength(2)
    await stop()
    expect(await piped(runtime, 'history USD EUR', env)).toEqual(history)
    ageCache(env.RATESMITH_CACHE_DIR, 3)
    const offline = await piped(runtime, 'convert 100 USD EUR', env)
    expect(offline).toMatchObject({ code: 0, stdout: first.stdout })
    expect(offline.stderr).toMatch(/^ratesmith: offline\b.*\b[34] days\b.*127\.0\.0\.1/)
  })

  it('fetches all reference rates once, and then uses those of a day without the upstream', async () => {
    const { calls, env, stop } = await startUpstreams()
    const args = 'convert 100 USD EUR --date 2001-03-01'
    const first = await piped(runtime, args, env)
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining('European Central') })
    const callCount = calls.length
    expect(await piped(runtime, args, env)).toEqual(first)
    expect(calls).toHaveLength(callCount)
    await stop()
    ageCache(env.RATESMITH_CACHE_DIR, 8)
    expect(await piped(runtime, args, env)).toEqual(first)
  })

  it('waits for newer rates instead of printing old ones', async () => {
    const { calls, env } = await startUpstreams()
    await piped(runtime, 'latest', env)
    ageCache(env.RATESMITH_CACHE_DIR, 3)
    const { stdout, stderr } = await piped(runtime, 'latest --json', env)
    expect(JSON.parse(stdout).updatedAt).toBeGreaterThan(Date.now() - 2 * 86_400_000)
    expect(stderr).toBe('')
    expect(calls).toHaveLength(2)
  })

  it('exits with 1 and the reason without upstream and cache', async () => {
    const { env, stop } = await startUpstreams()
    await stop()
    const { code, stdout, stderr } = await piped(runtime, 'convert 1 USD EUR', env)
    expect(stderr).toMatch(/^ratesmith: [^\n]+ unavailable\b[^\n]+127\.0\.0\.1[^\n]+\n$/)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  })

  it('works with an unwritable cache, and stores nothing with --no-cache', async () => {
    const { calls, env } = await startUpstreams()
    const unwritable = { ...env, RATESMITH_CACHE_DIR: '/dev/null/none' }
    expect((await piped(runtime, 'latest', unwritable)).code).toBe(0)
    expect((await piped(runtime, 'latest --no-cache', env)).code).toBe(0)
    expect((await piped(runtime, 'latest', env)).code).toBe(0)
    expect(calls).toHaveLength(3)
  })

  it('exits with 0 if the reader of its output has exited', async () => {
    const [, ...program] = runtime
    const shell = ['-c', '{ "$@"; echo "ended with $?" >&2; } | true', 'sh', ...program]
    const help = await piped(['a shell', '/bin/sh', ...shell], '--help')
    expect(help.stderr).toBe('ended with 0\n')
    const { stderr } = await piped(['a shell', '/bin/sh', ...shell], 'history USD EUR --demo')
    const [end, ...notice] = stderr.trimEnd().split('\n').toReversed()
    expect(end).toBe('ended with 0')
    const { stderr: expected } = await piped(runtime, 'history USD EUR --demo')
    expect(expected).toContain(SYNTHETIC)
    expect(`${notice.toReversed().join('\n')}\n`).toBe(expected)
  })
})

describeRuntimes('on a terminal', (runtime) => {
  beforeEach(({ skip }) => requireProgram('script', SCRIPT, skip))

  const simple = [
    'convert 100 USD EUR',
    'latest',
    'history USD EUR --period 1Y',
    'currencies',
    'doctor',
  ]
  it.each(simple)('fits 40 columns, and conveys nothing by colour alone: %s', async (args) => {
    const narrow = await onTerminal(runtime, `${args} --demo`, { columns: 40 })
    expect(Math.max(...narrow.lines.map((line) => line.length))).toBeLessThanOrEqual(40)
    expect(narrow.raw).toContain('\u001B[')
    expect(narrow.code).toBe(0)
    const options = { columns: 40, env: { NO_COLOR: '1' } }
    const plain = await onTerminal(runtime, `${args} --demo`, options)
    expect(plain.raw).not.toContain('\u001B')
    expect(plain.lines).toEqual(narrow.lines)
  })

  it.each(DATED)('fits 40 columns, and shows the source: %s', async (args) => {
    const narrow = await onTerminal(runtime, `${args} --demo`, { columns: 40 })
    expect(Math.max(...narrow.lines.map((line) => line.length))).toBeLessThanOrEqual(40)
    expect(narrow.lines.join(' ')).toContain(SYNTHETIC)
    expect(narrow.code).toBe(0)
  })

  it.each([[{ LC_ALL: 'C' }], [{ TERM: 'dumb' }]])('prints ASCII only with %j', async (env) => {
    const { raw } = await onTerminal(runtime, 'history USD EUR --demo', { env })
    expect(stripVTControlCharacters(raw)).toMatch(/^[\r\n\x20-\x7E]+$/)
    expect(raw).toContain('*')
    const narrow = await onTerminal(runtime, 'latest --demo', { env, columns: 30 })
    expect(stripVTControlCharacters(narrow.raw)).not.toContain('…')
  })

  it('shows a spinner only while waiting for an upstream', async () => {
    const { promise: seen, resolve: release } = Promise.withResolvers<void>()
    const payload = openErApiPayload({ now: Date.now() })
    const { env } = await startUpstreams(upstreams(payload, () => seen))
    const slow = startOnTerminal(runtime, 'convert USD EUR', { env })
    await slow.written(TWO_FRAMES)
    release()
    expect(await slow.exited).toBe(0)
    const [, rest = ''] = slow.stdout.split(ERASE_LINE)
    expect(rest).not.toMatch(FRAME)
    expect(rest).toContain('1 USD = ')
    const cached = await onTerminal(runtime, 'convert USD EUR', { env })
    expect(cached.raw).not.toMatch(FRAME)
    const unseen = await piped(runtime, 'convert USD EUR --no-cache', env)
    expect(unseen.stderr).not.toContain('\r')
  })

  it('prints offline when newer rates cannot be fetched', async () => {
    const { env, stop } = await startUpstreams()
    await piped(runtime, 'latest', env)
    await stop()
    ageCache(env.RATESMITH_CACHE_DIR, 3)
    const { code, lines } = await onTerminal(runtime, 'latest --symbols EUR', { env })
    expect(lines.join('\n')).toMatch(/^offline\b.*\b[34] days\b/m)
    expect(code).toBe(0)
  })
})

describe('the cache', () => {
  it('keeps rates of different upstreams apart', async () => {
    const one = await startUpstreams()
    const other = await startUpstreams()
    const env = { ...other.env, RATESMITH_CACHE_DIR: one.env.RATESMITH_CACHE_DIR }
    for (const each of [one.env, env, one.env, env]) await piped(NODE, 'latest', each)
    expect([one.calls.length, other.calls.length]).toEqual([1, 1])
  })

  it('is used after waiting five seconds for newer rates', async () => {
    let isSilent = false
    const respond = upstreams(openErApiPayload({ now: Date.now() }))
    const { promise: isGivenUp, resolve } = Promise.withResolvers<void>()
    const { calls, env } = await startUpstreams((request, response) => {
      if (isSilent) response.on('close', resolve)
      else respond(request, response)
    })
    await piped(NODE, 'history USD EUR', env)
    ageCache(env.RATESMITH_CACHE_DIR, 8)
    isSilent = true
    const { code, stderr } = await piped(NODE, 'history USD EUR', env)
    expect(stderr).toMatch(/^ratesmith: offline\b.*\b\d+ days\b.*\([^)]+\)/)
    expect(code).toBe(0)
    await isGivenUp
    expect(calls).toHaveLength(2)
  })
})

it('exits after printing its output, without waiting for its own time limits', async () => {
  const { env, stop } = await startUpstreams()
  await stop()
  const ran = await piped(['Node', NODE[1], '--import', ENDLESS_WAITS], 'convert 1 USD EUR', env)
  expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('unavailable') })
})
