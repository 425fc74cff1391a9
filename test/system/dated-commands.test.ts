import { beforeEach, describe, expect, it } from 'vitest'

import { SCRIPT, ageCache, onTerminal, piped, startUpstreams } from './commands.ts'
import { requireProgram } from './require-program.ts'
import { NODE, RUNTIMES } from './runtimes.ts'

const NUMBER = String.raw`\d+(\.\d+)?(e-\d+)?`

const SYNTHETIC = 'Synthetic rates (ratesmith), https://www.npmjs.com/package/ratesmith'

/** A Saturday in a leap year. */
const SATURDAY = '2020-02-29'

/** The questions whose answers are not of one rate of today. */
const QUESTIONS = [
  ['convert', '100', 'USD', 'EUR,GBP,JPY'],
  ['convert', '100', 'USD', 'EUR,GBP,JPY', '--reverse', '--date', SATURDAY],
  ['convert', '100', 'USD', 'EUR', '--reverse', '--date', SATURDAY],
  ['latest', '--date', SATURDAY],
  ['history', 'USD', 'EUR', '--start', '2019-01-01', '--end', '2019-12-31', '--interval', 'month'],
]

describe.each(RUNTIMES)('in a pipe on %s', (...runtime) => {
  const demo = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await piped(runtime, [...args, '--demo'])
    expect(stderr).toContain(SYNTHETIC)
    expect(code).toBe(0)
    return stdout
  }

  it('converts into several currencies, one line of code, result and rate each, in their order', async () => {
    const rows = (await demo('convert', '100', 'usd', 'jpy,EUR')).trimEnd().split('\n')
    const cells = rows.map((row) => row.split('\t'))
    expect(cells.map(([code]) => code)).toEqual(['JPY', 'EUR'])
    for (const [, result, rate] of cells) expect(Number(result)).toBeCloseTo(100 * Number(rate), 6)
    const alone = await demo('convert', '100', 'usd', 'EUR,')
    expect(alone).toBe(`${rows[1]}\n`)
    expect(await demo('convert', '100', 'USD', 'EUR')).toBe(`${cells[1]?.[1]} EUR\n`)
  })

  it('converts in reverse: what is paid for an amount', async () => {
    const paid = await demo('convert', '100', 'USD', 'EUR', '--reverse')
    expect(paid).toMatch(new RegExp(`^${NUMBER} USD\n$`))
    const back = await demo('convert', paid.split(' ')[0] ?? '', 'USD', 'EUR')
    expect(Number.parseFloat(back)).toBeCloseTo(100, 9)
    expect(await demo('convert', '100', 'USD', 'EUR,', '--reverse')).toMatch(
      new RegExp(`^EUR\t${paid.split(' ')[0]}\t`),
    )
  })

  it('answers at the rates of a day, of any since 1999', async () => {
    const table = await demo('latest', '--base', 'EUR', '--date', SATURDAY)
    expect(table.split('\n')).toContain('EUR\t1\tEuro')
    const [, rate] = /^USD\t(\S+)\t/m.exec(table) ?? []
    expect(await demo('convert', 'EUR', 'USD', '--date', '2020-02-28')).toBe(`${rate} USD\n`)
    expect(await demo('latest', '--date', '1999-01-04')).toMatch(/^JPY\t/m)
  })

  it('lists a range of days, or the last of each month in it', async () => {
    const range = ['history', 'USD', 'EUR', '--start', '2019-01-01', '--end', '2019-12-31']
    const days = (await demo(...range)).trimEnd().split('\n')
    expect(days.length).toBeGreaterThan(240)
    expect(days[0]).toMatch(/^2019-01-0/)
    const months = (await demo(...range, '--interval', 'month')).trimEnd().split('\n')
    expect(months).toHaveLength(12)
    expect(days).toEqual(expect.arrayContaining(months))
    const open = (await demo(...range.slice(0, 5), '--interval', 'week')).trimEnd().split('\n')
    expect(open.at(-1)?.slice(0, 4)).toBe(String(new Date().getUTCFullYear()))
  })

  it('answers with the JSON of the API', async () => {
    const json = async (args: readonly string[]): Promise<unknown> => {
      const { code, stdout, stderr } = await piped(runtime, [...args, '--json', '--demo'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      return JSON.parse(stdout)
    }
    const [batch, ...others] = await Promise.all(QUESTIONS.map(json))
    expect(batch).toMatchObject({ from: 'USD', amount: 100, results: { GBP: expect.any(Object) } })
    const [reversed, single, table, range] = others
    expect(reversed).toMatchObject({ reverse: true, date: '2020-02-28', results: {} })
    expect(single).toMatchObject({ reverse: true, date: '2020-02-28', to: 'EUR' })
    expect(table).toMatchObject({ base: 'USD', date: '2020-02-28' })
    expect(range).toMatchObject({ start: '2019-01-01', end: '2019-12-31', interval: 'month' })
  })

  it.each([
    [['convert', '1', 'USD', 'EUR,EURO'], 'Invalid to currency: EURO. Did you mean EUR?'],
    [['convert', '1', 'USD', 'JPY,GPB'], 'Invalid to currency: GPB. Did you mean GBP?'],
    [['convert', 'USD', 'JPY,GPB', '--date', SATURDAY], '). Did you mean GBP?'],
    [['convert', 'USD', 'EUR,', '--date', '2020-02-30'], 'Invalid parameter: date (YYYY-MM-DD)\n'],
    [['convert', 'USD', 'EUR', '--date', '2999-01-01'], 'date (not after today)\n'],
    [['convert', 'USD', ','], 'Invalid to currency: ,\n'],
    [['convert', 'USD', 'EUR', '--revers'], "'--revers'. Did you mean --reverse?"],
    [['latest', '--date', SATURDAY, '--symbols', 'USD,USX'], '). Did you mean USD'],
    [['latest', '--date', SATURDAY, '--base', 'EURO'], 'base currency: EURO. Did you mean EUR?'],
    [['history', 'USD', 'EUX', '--start', '2005-01-03'], '). Did you mean EUR?'],
    [
      ['history', 'USD', 'EUR', '--start', '2019-01-01', '--period', '1M'],
      'Invalid parameter: period (either a period, or start and end)\n',
    ],
    [['history', 'USD', 'EUR', '--end', '2019-01-01'], 'Missing required parameter: start\n'],
    [['history', 'USD', 'EUR', '--interval', 'weekly'], 'week or month). Did you mean week?'],
    [
      ['history', 'USD', 'EUR', '--start', '2020-01-02', '--end', '2020-01-01'],
      'Invalid parameter: start (not after end)\n',
    ],
  ])('ends with 2 and one line of stderr: %j', async (args, line) => {
    const { code, stdout, stderr } = await piped(runtime, [...args, '--demo'])
    expect(stderr).toMatch(/^ratesmith: [^\n]+\n$/)
    expect(stderr).toContain(line)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  it('ends with 1 where there is nothing of that day, with the error as JSON where that is asked for', async () => {
    const args = ['convert', 'USD', 'EUR', '--date', '1998-12-31', '--json', '--demo']
    const { code, stdout, stderr } = await piped(runtime, args)
    expect(JSON.parse(stdout)).toEqual({
      error: { code: 'no_data', message: 'No reference rates of 1998-12-31' },
    })
    expect(stderr).toBe('ratesmith: No reference rates of 1998-12-31\n')
    expect(code).toBe(1)
  })

  it('fetches all reference rates once, and answers of a day without its upstream as ever', async () => {
    const { calls, env, stop } = await startUpstreams()
    const args = ['convert', '100', 'USD', 'EUR', '--date', '2001-03-01']
    const first = await piped(runtime, args, env)
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining('European Central') })
    const asked = calls.length
    expect(await piped(runtime, args, env)).toEqual(first)
    expect(calls).toHaveLength(asked)
    await stop()
    ageCache(String(env['RATESMITH_CACHE_DIR']), 8)
    expect(await piped(runtime, args, env)).toEqual(first)
  })
})

it('says offline, and of which day the rates are, where the day that is asked for may have come since', async () => {
  const { env, stop } = await startUpstreams()
  const today = new Date().toISOString().slice(0, 10)
  const args = ['latest', '--symbols', 'EUR', '--date', today]
  expect((await piped(NODE, args, env)).code).toBe(0)
  ageCache(String(env['RATESMITH_CACHE_DIR']), 8)
  await stop()
  const { code, stderr } = await piped(NODE, args, env)
  expect(stderr).toMatch(/^ratesmith: offline: rates of 20\d\d-\d\d-\d\d \(127\.0\.0\.1/)
  expect(code).toBe(0)
})

describe.each(RUNTIMES)('on a terminal on %s', (...runtime) => {
  beforeEach(({ skip }) => requireProgram('script', SCRIPT, skip))

  it.each(QUESTIONS.map((args) => [args]))(
    'fits 40 columns, and shows the source: %j',
    async (args) => {
      const narrow = await onTerminal(runtime, [...args, '--demo'], { columns: 40 })
      expect(Math.max(...narrow.lines.map((line) => line.length))).toBeLessThanOrEqual(40)
      expect(narrow.lines.join(' ')).toContain(SYNTHETIC)
      expect(narrow.code).toBe(0)
    },
  )

  it('makes a table of several currencies', async () => {
    const { lines } = await onTerminal(runtime, ['convert', '100', 'USD', 'JPY,EUR', '--demo'])
    expect(lines[0]).toBe('100 USD')
    expect(lines[1]).toMatch(/^code +amount +rate +name$/)
    expect(lines[2]).toMatch(new RegExp(`^JPY +${NUMBER} +${NUMBER} +Japanese Yen$`))
    expect(lines[3]).toMatch(new RegExp(`^EUR +${NUMBER} +${NUMBER} +Euro$`))
    expect(lines[4]).toMatch(/^published 20\d\d-/)
  })

  it('names the day that rates are of, and the one that was asked for where it is another', async () => {
    const told = 'of 2020-02-28, the last before 2020-02-29'
    const options = { columns: 120 }
    const args = ['convert', '100', 'USD', 'EUR', '--reverse', '--demo', '--date']
    const converted = await onTerminal(runtime, [...args, SATURDAY], options)
    expect(converted.lines[0]).toMatch(new RegExp(`^${NUMBER} USD = 100 EUR$`))
    expect(converted.lines[1]).toMatch(
      new RegExp(`^1 USD = ${NUMBER} EUR, reference rates ${told}$`),
    )
    const exact = await onTerminal(runtime, [...args, '2020-02-28'], options)
    expect(exact.lines[1]).toMatch(/ of 2020-02-28$/)
    const table = await onTerminal(runtime, ['latest', '--date', SATURDAY, '--demo'], options)
    expect(table.lines[0]).toBe('1 USD on 2020-02-28, the last before 2020-02-29')
    const range = await onTerminal(runtime, [...(QUESTIONS.at(-1) ?? []), '--demo'], options)
    expect(range.lines[0]).toBe(
      '1 USD in EUR, 2019-01-31 to 2019-12-31, the last day of each month',
    )
  })
})
