import { describe, expect, it } from 'vitest'

import { publish, run } from './run.ts'

const fetch = publish()

/** Runs a command line whose arguments have no blanks. */
function type(line: string) {
  return run(line.split(' '), { fetch })
}

/** Returns the note on the conversion of a currency at its ratio, such as `1.95583 DEM`. */
function fixed(ratio: string): string {
  const code = ratio.split(' ')[1]
  return `${code} was withdrawn on 1999-01-01: converted at the fixed ratio, 1 EUR = ${ratio}`
}

describe('a withdrawn currency', () => {
  it.each([
    ['100 DEM EUR', '51.1291881196218 EUR', [fixed('1.95583 DEM')]],
    ['1 DEM EUR --date 2001-12-31', '0.511291881196218 EUR', [fixed('1.95583 DEM')]],
    ['1 DEM EUR --date 2020-02-29', '0.511291881196218 EUR', [fixed('1.95583 DEM')]],
    ['100 DEM USD', '59.8927560677564 USD', [fixed('1.95583 DEM')]],
    ['100 DEM EUR --round minor', '51.13 EUR', [fixed('1.95583 DEM')]],
    ['1000000000 ITL EUR --round minor', '516456.90 EUR', [fixed('1936.27 ITL')]],
    ['39427 DEM EUR --round minor', '20158.70 EUR', [fixed('1.95583 DEM')]],
    [
      '0.12 CUP CUC --round minor',
      '0.01 CUC',
      ['CUC was withdrawn on 2021-01-01: converted at the fixed ratio, 1 CUC = 24 CUP'],
    ],
    [
      '100000000000 VEF VES',
      '1 VES',
      ['VEF was withdrawn on 2018-08-20: converted at the fixed ratio, 1 VES = 100000000000 VEF'],
    ],
    ['5 EUR ITL --reverse --round minor', '0.00 EUR', [fixed('1936.27 ITL')]],
    [
      '100 EUR DEM,FRF',
      'DEM\t195.583\t1.95583\nFRF\t655.957\t6.55957',
      [fixed('1.95583 DEM'), fixed('6.55957 FRF')],
    ],
    [
      '100 german marks to italian lira',
      '98999.9130803802 ITL',
      [fixed('1.95583 DEM'), fixed('1936.27 ITL')],
    ],
  ])('converts by its fixed ratio: %s', async (line, stdout, notes) => {
    const ran = await type(line)
    expect(ran).toMatchObject({ code: 0, stdout: `${stdout}\n` })
    const noted = ran.stderr.split('\n').filter((each) => each.startsWith('ratesmith: '))
    expect(noted).toEqual(notes.map((note) => `ratesmith: ${note}`))
  })

  it('that lost zeros keeps all digits of an amount', async () => {
    const ran = await type('12345678901234.56 PLZ PLN')
    expect(ran.stdout).toBe('1234567890.123456 PLN\n')
  })

  it('is converted in JSON and CSV, too', async () => {
    const { stdout } = await type('100 DEM EUR,DEM --json --reverse')
    expect(JSON.parse(stdout)).toMatchObject({
      from: 'DEM',
      amount: 100,
      reverse: true,
      results: { EUR: { rate: 0.5112918812, result: 195.583 }, DEM: { rate: 1, result: 100 } },
    })
    const csv = await type('100 EUR DEM --csv')
    expect(csv.stdout).toMatch(/^from,to,amount,rate,.*\nEUR,DEM,100,1.95583,195.583,/)
  })
})

describe('a day in words', () => {
  it.each([
    ['2026-11-20T00:00:00Z', 'today', '2026-11-20'],
    ['2026-11-20T23:59:59Z', 'Yesterday', '2026-11-19'],
    ['2026-11-21T00:00:00Z', 'last friday', '2026-11-20'],
    ['2026-11-20T12:00:00Z', 'friday', '2026-11-13'],
    ['2026-11-20T12:00:00Z', 'Thu', '2026-11-19'],
    ['2026-11-20T12:00:00Z', 'sat', '2026-11-14'],
    ['2026-11-20T12:00:00Z', '-30d', '2026-10-21'],
    ['2026-11-20T12:00:00Z', '2w', '2026-11-06'],
    ['2026-11-20T12:00:00Z', '1 month ago', '2026-10-20'],
    ['2026-03-31T12:00:00Z', '1m', '2026-02-28'],
    ['2024-02-29T12:00:00Z', '-1y', '2023-02-28'],
    ['2026-11-20T12:00:00Z', '2024-02-29', '2024-02-29'],
  ])('is that of UTC: at %s, %j is %s', async (now, word, day) => {
    const at = Date.parse(now)
    const surroundings = { fetch: publish({ now: () => at }), now: () => at }
    const words = ['USD', 'EUR', '--json', '--rule', 'on-or-before', '--date']
    const { stdout } = await run(['convert', ...words, ...word.split(' ')], surroundings)
    expect(JSON.parse(stdout)).toMatchObject({ asked: day })
  })
})

describe('ratesmith currencies', () => {
  it.each([
    ['francs', ['CHF', 'BIF', 'CDF', 'DJF']],
    ['£', ['GBP', 'FKP', 'GIP']],
    ['franc', ['CHF', 'BIF', 'CDF', 'DJF']],
    ['978', ['EUR']],
  ])('finds as the search of currencies does: %s', async (word, codes) => {
    const { code, stdout } = await run(['currencies', word, '--demo'])
    const lines = stdout.split('\n').map((line) => line.slice(0, 3))
    expect(lines).toEqual(expect.arrayContaining(codes))
    expect(lines[0]).toBe(codes[0])
    expect(code).toBe(0)
  })

  it('shows when and for what a currency was withdrawn, and suggests a code', async () => {
    const kuna = await type('currencies HRK')
    expect(kuna.stdout).toMatch(/^HRK\t.*withdrawn 2023-01-01, use EUR, 1 EUR = 7\.5345 HRK\n$/)
    const stderr = 'ratesmith: no currency matches gpb. Did you mean GBP?\n'
    expect(await type('currencies gpb')).toEqual({ code: 1, stdout: '', stderr })
  })

  it.each(['Deutsche', 'BTC'])('suggests no other currency for %s', async (word) => {
    expect(await run(['currencies', word, '--demo'])).toEqual({
      code: 1,
      stdout: '',
      stderr: `ratesmith: no currency matches ${word}\n`,
    })
  })
})
