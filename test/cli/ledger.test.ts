import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import Papa from 'papaparse'
import { describe, expect, it, onTestFinished } from 'vitest'

import { publish, run } from './run.ts'
import type { Surroundings } from './run.ts'

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ratesmith-ledger-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

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

const rowsOf = (csv: string) =>
  Papa.parse<Record<string, string>>(csv.trimEnd(), { header: true }).data

describe('ratesmith convert --file', () => {
  it('keeps all columns, and appends those of the results', async () => {
    const csv =
      'no,from,to,amount,date,text\n1,USD,EUR,100,2026-11-14,"a,""b"""\n2,usd,jpy,5,,=1+1\n'
    const { code, stdout, stderr } = await convert(csv)
    expect(code).toBe(0)
    const [head, first, second] = stdout.split('\n')
    expect(head).toBe('no,from,to,amount,date,text,rate,result,rateDate,source,error')
    expect(first).toMatch(/^1,USD,EUR,100,2026-11-14,"a,""b""",0\.\d+,\d+\.\d+,2026-11-13,European/)
    expect(second).toMatch(
      /^2,usd,jpy,5,,=1\+1,[\d.]+,[\d.]+,2026-11-20,Rates By Exchange Rate API,$/,
    )
    expect(stderr).toContain('https://frankfurter.dev\n')
    expect(stderr).toContain('https://www.exchangerate-api.com\n')
    const single = ['convert', '100', 'USD', 'EUR', '--date', '2026-11-14', '--json', '--no-cache']
    const { rate, result } = JSON.parse((await run(single, { fetch: publish() })).stdout)
    expect(rowsOf(stdout)[0]).toMatchObject({ rate: String(rate), result: String(result) })
  })

  it('keeps separators, line ends and the byte order mark', async () => {
    const { stdout } = await convert('\u{FEFF}from;to;text\r\nUSD;EUR;"a;b"\r\n\r\n')
    expect(stdout).toMatch(
      /^\u{FEFF}from;to;text;rate;[^\n]*;error\r\nUSD;EUR;"a;b";0\.[^\n]*;\r\n$/u,
    )
  })

  it('exits with 1 if a row fails, with its error', async () => {
    const csv = 'from,to,amount,currency\nUSD,EUR,1,x\nUSD,ZZZ,1,x\nUSD,EUR,,x\nUSD,EUR\n'
    const { code, stdout, stderr } = await convert(csv)
    expect(code).toBe(1)
    expect(stderr).toContain('ratesmith: 3 of 4 rows failed; see the column error\n')
    expect(rowsOf(stdout).map(({ error }) => error)).toEqual([
      '',
      'Invalid to currency: ZZZ',
      'Invalid amount: ',
      'Invalid parameter: row (has 2 cells, expected 4)',
    ])
  })

  it('applies flags to the rows without their own values', async () => {
    const csv = 'from,to,date\nUSD,EUR,2026-11-14\nUSD,EUR,\n'
    const { stdout } = await convert(csv, ['--date', '2026-11-08', '--rule', 'next'])
    const days = rowsOf(stdout).map(({ rateDate }) => rateDate)
    expect(days).toEqual(['2026-11-16', '2026-11-09'])
  })

  it('converts more rows than one call takes', async () => {
    const { code, stdout } = await convert(`from,to\n${'USD,EUR\n'.repeat(10_001)}`)
    expect(code).toBe(0)
    expect(stdout.trimEnd().split('\n')).toHaveLength(10_002)
  })

  it('works offline with cached rates', async () => {
    const folder = makeFolder()
    const file = join(folder, 'ledger.csv')
    writeFileSync(file, 'from,to,date\nUSD,EUR,2003-05-05\nUSD,EUR,\n')
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

  it.each<[string, string, string[], string]>([
    ['currencies as arguments', 'from,to\n', ['1', 'USD', 'EUR'], '--file takes the amount and'],
    ['JSON', 'from,to\n', ['--json'], '--file cannot be combined with --json'],
    ['a header without a column', 'from,target\nUSD,EUR\n', [], 'target (use to)'],
    ['an unclosed quote', 'from,to\n"USD', [], 'line 2 has an unclosed quote'],
    ['an empty file', '', [], 'the first line must name the column from'],
  ])('refuses %s', async (_, csv, args, message) => {
    const { code, stdout, stderr } = await convert(csv, args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
  })

  it('refuses a file that is missing or not UTF-8', async () => {
    const missing = await run(['convert', '--file', join(makeFolder(), 'none.csv')])
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('none.csv')])
    const latin = await convert(Uint8Array.from([0x66, 0xe9, 0x0a]))
    expect([latin.code, latin.stderr]).toEqual([2, expect.stringContaining('must be UTF-8')])
  })
})
