import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import Papa from 'papaparse'
import { describe, expect, it } from 'vitest'

import { pairsOf } from '../fixtures/rows.ts'
import { temporaryFolder } from '../stores/meets-contract.ts'
import { publish, run } from './run.ts'
import type { Surroundings } from './run.ts'

/** Converts a ledger from stdin. */
function convert(csv: string | Uint8Array, args: string[] = [], surroundings: Surroundings = {}) {
  async function* stdin(): AsyncGenerator<Uint8Array> {
    yield typeof csv === 'string' ? new TextEncoder().encode(csv) : csv
  }
  return run(['convert', '--file', '-', '--no-cache', ...args], {
    fetch: publish(),
    stdin: stdin(),
    ...surroundings,
  })
}

/** Matches a text, or an error. */
const like = (expected: string | RegExp): unknown =>
  typeof expected === 'string' ? expected : expect.stringMatching(expected)

const HEAD = 'from,to,amount'

const REFUSED = `
  1 USD EUR => --file takes the amount and
  --json => --file cannot be combined with --json
  --columns date=Day => must name the column Day
  --columns day=Day => --columns: Invalid parameter: day (use
  --columns to=A,to=B => --columns contains to twice
  --columns to:A => --columns must be like from=Currency
  --to EUR,USD => --to takes one currency, got EUR,USD
  --to EURO1 => EURO1
  --decimal , => --decimal must be comma or point, got ,
  --date-format DYM => --date-format must be DMY, MDY or YMD, got DYM
  --time-zone Warsaw => --time-zone must be a name such as Europe/Warsaw`

const rowsOf = (csv: string) =>
  Papa.parse<Record<string, string>>(csv.trimEnd(), { header: true }).data

describe('ratesmith convert --file', () => {
  it('keeps all columns, and appends those of the results', async () => {
    const csv =
      'no,from,to,amount,date,text\n1,USD,EUR,100,2026-11-14,"a,""b"""\n2,usd,jpy,5,2026-11-20,=1+1\n'
    const { code, stdout, stderr } = await convert(csv)
    expect(code).toBe(0)
    const [head, first, second] = stdout.split('\n')
    expect(head).toBe('no,from,to,amount,date,text,rate,result,rateDate,source,error')
    expect(first).toMatch(/^1,USD,EUR,100,2026-11-14,"a,""b""",0\.\d+,\d+\.\d+,2026-11-13,European/)
    expect(second).toMatch(
      /^2,usd,jpy,5,2026-11-20,=1\+1,[\d.]+,[\d.]+,2026-11-20,European Central Bank.*,$/,
    )
    expect(stderr).toContain('https://frankfurter.dev\n')
    const single = ['convert', '100', 'USD', 'EUR', '--date', '2026-11-14', '--json', '--no-cache']
    const { rate, result } = JSON.parse((await run(single, { fetch: publish() })).stdout)
    expect(rowsOf(stdout)[0]).toMatchObject({ rate: String(rate), result: String(result) })
  })

  it.each([
    ['\u{FEFF}', ';', '\r\n'],
    ['\u{FEFF}sep=,\r\n', ',', '\r\n'],
    ['SEP=\t\n', '\t', '\n'],
    ['"sep=;"\r', ';', '\r'],
  ])('keeps the start %j, the separator %j and line ends %j', async (start, separator, end) => {
    const csv = ['From; TO;Amount;text', ' usd;EUR ;-12.50;"a;\rb"', '', ''].join(end)
    const { code, stdout } = await convert(start + csv.replaceAll(/;(?!\r)/g, separator))
    expect(code).toBe(0)
    const lines = `From; TO;Amount;text;rate;result;rateDate;source;error${end} usd;EUR ;-12.50;`
    const head = start + lines.replaceAll(';', separator) + '"a;\rb"' + separator
    expect(stdout.slice(0, head.length)).toBe(head)
    expect(stdout.slice(head.length)).toMatch(
      new RegExp(`^0\\.\\d+${separator}-\\d+\\.\\d+${separator}.*${separator}${end}$`),
    )
  })

  it('exits with 1 if a row fails, with its error', async () => {
    const csv = [
      'from,to,amount,date,text',
      'USD,EUR,1,2026-11-20,x',
      'USD,ZZZ,1,2026-11-20,x',
      'USD,EUR,,2026-11-20,x',
      'USD,EUR',
      'USD,EUR,1,,x',
      'USD,"EUR,1,2026-11-20,x',
      'USD,EUR,1,2026-11-20,"x"y',
      'USD,"EUR",1,2026-11-20,"x"',
      'USD,"EUR,1,2026-11-20,x',
    ].join('\n')
    const { code, stdout, stderr } = await convert(csv)
    expect(code).toBe(1)
    expect(stderr).toContain('ratesmith: 7 of 9 rows failed; see the column error\n')
    const rows = rowsOf(stdout)
    expect(rows.map(({ error }) => error)).toEqual([
      '',
      expect.stringContaining('ZZZ'),
      expect.stringMatching(/^Invalid amount: /),
      'Invalid parameter: row (has 2 cells, expected 5)',
      expect.stringMatching(/^Invalid parameter: date \(must be YYYY-MM-DD/),
      'Invalid parameter: csv (line 7 has a quote inside a cell; expected it around the cell)',
      'Invalid parameter: csv (line 8 has a quote inside a cell; expected it around the cell)',
      '',
      'Invalid parameter: csv (line 10 has an unclosed quote)',
    ])
    expect(rows[5]?.['from']).toBe('USD,"EUR,1,2026-11-20,x')
  })

  it('applies flags to the rows without their own values', async () => {
    const csv = 'from,to,amount,date\nUSD,EUR,1,2026-11-14\nUSD,,1,\n'
    const { stdout } = await convert(csv, ['--date', '2026-11-08', '--rule', 'next', '--to', 'yen'])
    const [first, second] = rowsOf(stdout)
    expect(first?.['rateDate']).toBe('2026-11-16')
    expect(second).toMatchObject({ to: '', rateDate: '2026-11-09' })
    expect(Number(second?.['rate'])).toBeGreaterThan(50)
  })

  // Of a pair of one currency, the result is the amount.
  it.each([
    ['', '-12.50', '-12.5'],
    ['', '12,50', /^Invalid amount: 12,50 \(has a comma: use --decimal comma/],
    ['--decimal comma', '1.234,50', '1234,5'],
    ['--decimal comma', '1 234,50', '1234,5'],
    ['--decimal comma', "-1'234'567,8", '-1234567,8'],
    ['--decimal comma', '\u00a01.234', '1234'],
    ['--decimal comma', '-12,5', '-12,5'],
    ['--decimal comma', ',5', '0,5'],
    ['--decimal comma', '12.5', /decimal comma, such as 1\.234,50\)$/],
    ['--decimal comma', '1,234.50', /decimal comma/],
    ['--decimal comma', '1.234 567,8', /decimal comma/],
    ['--decimal comma', '1,234,567', /decimal comma/],
    ['--decimal comma', '12,50 EUR', /decimal comma/],
    ['--decimal point', '1,234.50', '1234.5'],
    ['--decimal point', '1.234,50', /decimal point, such as 1,234\.50\)$/],
  ])('reads with %j the amount %j as %s', async (flags, amount, expected) => {
    const csv = `from;to;amount\nUSD;USD;"${amount}"\n`
    const { code, stdout } = await convert(csv, flags.split(' ').filter(Boolean))
    const [{ result, error } = {}] = rowsOf(stdout)
    expect(result || error).toEqual(like(expected))
    expect(code).toBe(typeof expected === 'string' ? 0 : 1)
  })

  it('writes the decimal comma that it reads', async () => {
    const args = ['--decimal', 'comma', '--round', 'minor', '--to', 'EUR']
    const { stdout } = await convert('from;amount\nUSD;-1.000,00\n', args)
    expect(stdout).toMatch(/^USD;"-1\.000,00";"0,\d+";"-\d+,\d+";"-\d+,\d\d";2026-11-20;/m)
  })

  it.each([
    ['', '2026-03-02', '2026-03-02'],
    ['', '2026-03-02T09:30:00', '2026-03-02'],
    ['', '2026-03-02T23:30:00.123Z', /needs --time-zone, such as Europe\/Warsaw\)$/],
    ['', '2026-3-2', /^Invalid parameter: date \(must be YYYY-MM-DD; --date-format reads others/],
    ['', '02/03/2026', /--date-format/],
    ['', '46083', /--date-format/],
    ['--date-format DMY', '03/02/2026', '2026-02-03'],
    ['--date-format DMY', '3.2.2026', '2026-02-03'],
    ['--date-format DMY', '3. 2. 2026.', '2026-02-03'],
    ['--date-format DMY', '03022026', '2026-02-03'],
    ['--date-format MDY', '2/3/2026 11:59:59 PM', '2026-02-03'],
    ['--date-format YMD', '2026-2-3', '2026-02-03'],
    ['--date-format YMD', '20260203', '2026-02-03'],
    ['--date-format DMY', '3/2/26', /a day, month and year of four digits, such as 31\/01\/2026/],
    ['--date-format DMY', '2026-02-03', /a day, month and year of four digits/],
    ['--date-format DMY', '3/2-2026', /a day, month/],
    ['--date-format DMY', '3022026', /a day, month/],
    ['--date-format MDY', '31/01/2026', /a month, day and year.*; that day does not exist/],
    ['--date-format MDY', '01/30/2026 25:00', /that time does not exist/],
    ['--time-zone Europe/Warsaw', '2026-03-02T22:59:59Z', '2026-03-02'],
    ['--time-zone Europe/Warsaw', '2026-03-02T23:00:00Z', '2026-03-03'],
    ['--time-zone Europe/Warsaw', '2026-03-03 00:30:00 +03:00', '2026-03-02'],
    ['--time-zone America/New_York', '2026-03-03T04:59+0000', '2026-03-02'],
    ['--time-zone America/New_York', '2026-03-03T00:30:00', '2026-03-03'],
    ['--date-format DMY --time-zone Asia/Tokyo', '2.3.2026 3:00 PM UTC', '2026-03-03'],
  ])('reads with %j the day %j as %s', async (flags, date, expected) => {
    const csv = `from,to,amount,date\nUSD,EUR,1,"${date}"\n`
    const args = [...flags.split(' ').filter(Boolean), '--rule', 'exact']
    const { code, stdout } = await convert(csv, args)
    const [{ rateDate, error } = {}] = rowsOf(stdout)
    expect(rateDate || error).toEqual(like(expected))
    expect(code).toBe(typeof expected === 'string' ? 0 : 1)
  })

  it('reads the columns that --columns names', async () => {
    const csv = 'Booking date;Currency;Account, no;AMOUNT;code;from\n1.9.2026;USD;5;-7,5;x;y\n'
    const columns = 'from=currency,date="booking date" , amount="Account, no"'
    const args = ['--to', 'usd', '--date-format', 'DMY', '--decimal', 'comma', '--columns', columns]
    const { code, stdout } = await convert(csv, args)
    expect([code, rowsOf(stdout)[0]]).toMatchObject([0, { result: '5', rateDate: '2026-09-01' }])
  })

  it.each([
    ['from,to,amount,rate', '', 'fx_rate,fx_result,fx_rateDate,fx_source,fx_error'],
    ['from,to,amount, SOURCE ', '', 'fx_rate,fx_result,fx_rateDate,fx_source,fx_error'],
    [
      'from,to,amount,rate',
      '--prefix eur_',
      'eur_rate,eur_result,eur_rateDate,eur_source,eur_error',
    ],
    ['from,to,amount,note', '--prefix x', 'xrate,xresult,xrateDate,xsource,xerror'],
    ['from,to,amount,account', '', 'rate,result,rateDate,source,error'],
  ])('never doubles a column of %s: %j adds %s', async (header, flags, added) => {
    const csv = `${header}\nUSD,EUR,1,x\nUSD,EUR,,x\n`
    const ran = await convert(csv, flags.split(' ').filter(Boolean))
    expect([ran.code, ran.stdout.split('\n')[0]]).toEqual([1, `${header},${added}`])
    expect(ran.stderr).toContain(`1 of 2 rows failed; see the column ${added.split(',').at(-1)}`)
  })

  it('notes that latest rates are used where a column could be the day', async () => {
    const csv = 'Value date,from,to,amount\n2026-01-02,USD,EUR,1\n'
    expect((await convert(csv)).stderr).toContain('latest rates for all rows')
    const named = ['--columns', 'date=Value date']
    expect((await convert(csv, named)).stderr).not.toContain('latest rates')
    expect((await convert(csv, ['--quiet'])).stderr).toBe('')
  })

  it('converts more rows than one call takes', async () => {
    const { code, stdout } = await convert(`from,to,amount\n${'USD,EUR,1\n'.repeat(10_001)}`)
    expect(code).toBe(0)
    expect(stdout.trimEnd().split('\n')).toHaveLength(10_002)
  })

  it('works offline with cached rates', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'ledger.csv')
    writeFileSync(file, 'from,to,amount,date\nUSD,EUR,1,2003-05-05\nUSD,EUR,1,2026-11-20\n')
    const args = ['convert', '--file', file]
    const env = { RATESMITH_CACHE_DIR: join(folder, 'cache') }
    const failed = await run(args, { env })
    expect([failed.code, rowsOf(failed.stdout)[0]?.['rate']]).toEqual([1, ''])
    const online = await run(args, { env, fetch: publish() })
    expect(online.code).toBe(0)
    // The cache is written after the output.
    await expect
      .poll(async () => (await run(args, { env })).stdout, { timeout: 20_000 })
      .toBe(online.stdout)
  })

  it.each(pairsOf(REFUSED))('refuses with a good file: %s', async (flags, message) => {
    const { code, stdout, stderr } = await convert(`${HEAD}\nUSD,EUR,1`, flags.split(' '))
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
  })

  it.each<[string, string, string, string]>([
    [
      'an alias',
      'from,target,amount\nUSD,EUR,1',
      '',
      'target (use to); --columns names the columns',
    ],
    ['a near name', 'from,to,amout\nUSD,EUR,15', '', 'amout (did you mean amount?)'],
    ['no amount', 'from,to\nUSD,EUR', '', 'the first line must name the column amount'],
    ['an empty file', '', '', 'the first line must name the column from'],
    ['no row', `${HEAD}\r`, '', 'rows (must be one or more lines below the header)'],
    ['UTF-16', `\u{FEFF}${HEAD}`.split('').join('\0'), '', 'must name the column from'],
    ['an unclosed quote in the header', '"from', '', 'line 1 has an unclosed quote'],
    ['a taken name', `${HEAD},rate,fx_Source\nUSD,EUR,1,,`, '', 'has a column fx_source already'],
    ['a taken prefix', `${HEAD},x_rate\nUSD,EUR,1,`, '--prefix x_', 'choose another --prefix'],
  ])('refuses %s', async (_, csv, args, message) => {
    const { code, stdout, stderr } = await convert(csv, args.split(' ').filter(Boolean))
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
  })

  it('refuses a file that is missing or not UTF-8', async () => {
    const missing = await run(['convert', '--file', join(temporaryFolder(), 'none.csv')])
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('none.csv')])
    const latin = await convert(Uint8Array.from([0x66, 0xe9, 0x0a]))
    expect([latin.code, latin.stderr]).toEqual([2, expect.stringContaining('must be UTF-8')])
  })
})
