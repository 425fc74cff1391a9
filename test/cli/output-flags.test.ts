import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { pairsOf } from '../fixtures/rows.ts'
import { NOW, publish, run, show } from './run.ts'

async function* streamOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}

describe('the short flags', () => {
  it.each([
    [
      'latest -b EUR -s USD -d 2020-02-28 -j',
      'latest --base EUR --symbols USD --date 2020-02-28 --json',
    ],
    ['history USD EUR -p 1W -q', 'history USD EUR --period 1W --quiet'],
    ['convert USD EUR -qd 2020-02-28', 'convert USD EUR --quiet --date 2020-02-28'],
  ])('%s equals %s', async (short, long) => {
    const ran = await run([...short.split(' '), '--demo'])
    expect(ran.code).toBe(0)
    expect(ran).toEqual(await run([...long.split(' '), '--demo']))
  })
})

describe('--quiet', () => {
  it.each(['convert USD EUR', 'latest', 'history USD EUR'])(
    'leaves stderr empty, and stdout as it is: %s',
    async (command) => {
      const args = [...command.split(' '), '--demo']
      const loud = await run(args)
      expect(loud.stderr).not.toBe('')
      expect(await run([...args, '-q'])).toEqual({ ...loud, stderr: '' })
    },
  )

  it('keeps errors', async () => {
    const { code, stderr } = await run(['convert', 'USD', 'EUX', '--demo', '--quiet'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('EUX') })
  })
})

/** Command lines with the requests of the API that they are. */
const REQUESTS = `
  convert 5 USD EUR => convert?from=USD&to=EUR&amount=5
  convert 5 USD EUR,JPY -d 2020-02-29 --rule next => convert?from=USD&to=EUR,JPY&amount=5&date=2020-02-29&rule=next
  5 USD EUR --reverse --round cash => convert?from=USD&to=EUR&amount=5&reverse=true&round=cash
  latest => latest
  latest EUR USD,JPY --change 1W => latest?base=EUR&symbols=USD,JPY&change=1W
  history USD EUR 1W => history?from=USD&to=EUR&period=1W
  history USD EUR,JPY 2026-11 => history?from=USD&to=EUR,JPY&start=2026-11-01&end=2026-11-30
  history USD EUR 1W --fill previous => history?from=USD&to=EUR&period=1W&fill=previous
  history USD EUR,JPY -p 5Y --interval year --value high => history?from=USD&to=EUR,JPY&period=5Y&interval=year&value=high`

const WIDE = `
  history USD EUR,GBP 1W --layout wide => history?from=USD&to=EUR,GBP&period=1W&layout=wide
  history USD EUR,GBP 1W --layout wide --fill previous => history?from=USD&to=EUR,GBP&period=1W&layout=wide&fill=previous`

describe('--json and --csv', () => {
  const handler = createRatesHandler({ providers: fakeProviders(), now: () => NOW })
  const answer = async (target: string): Promise<string> =>
    (await handler(new Request(`http://localhost/api/v1/${target}`))).text()

  it.each(pairsOf(REQUESTS))('print what the API answers: %s', async (line, target) => {
    const ran = await run([...line.split(' '), '--json', '--demo'])
    expect(ran).toEqual({ code: 0, stdout: `${await answer(target)}\n`, stderr: '' })
  })

  it.each(pairsOf(REQUESTS + WIDE))('print its CSV, with LF: %s', async (line, target) => {
    const ran = await run([...line.split(' '), '--csv', '--demo'])
    const csv = await answer(`${target}${target.includes('?') ? '&' : '?'}format=csv`)
    expect(csv).toMatch(/^[a-zA-Z,]+\r\n/)
    expect(ran).toEqual({ code: 0, stdout: csv.replaceAll('\r\n', '\n'), stderr: '' })
  })
})

describe('convert -', () => {
  const list = (text: string, ...flags: string[]) =>
    run(['convert', '-', '--demo', ...flags], { stdin: streamOf(text) })

  it('prints a line for each line of stdin', async () => {
    const { code, stdout } = await list('100 USD EUR\n\n1,000 gbp to JPY\r\nUSD EUR')
    expect(code).toBe(0)
    const single = await run(['convert', '100', 'USD', 'EUR', '--demo'])
    expect(stdout).toMatch(/^[\d.]+ EUR\n[\d.]+ JPY\n[\d.]+ EUR\n$/)
    expect(stdout.startsWith(single.stdout)).toBe(true)
  })

  it('prints CSV and JSON', async () => {
    expect((await list('2 USD EUR\n', '--csv')).stdout).toMatch(
      /^from,to,amount,.*\nUSD,EUR,2,.*\n$/,
    )
    expect(JSON.parse((await list('2 USD EUR\n', '--json')).stdout)).toMatchObject({ amount: 2 })
  })

  it.each([
    ['hello', 'must be like 100 USD EUR, got hello'],
    ['1 USD XXQ', 'XXQ'],
    ['1 USD EUR,GBP', 'must be like 100 USD EUR, got 1 USD EUR,GBP'],
    ['10.000 USD EUR', '10.000 has two meanings: write 10000 or 10'],
    ['5 pence USD', 'pence is a part of a currency'],
    ['400 GBp GBP', 'GBp: market data write hundredths'],
    ['1 USD EUR 2999-01-01', '--date must not be after today'],
  ])('fails only the line %s', async (line, reason) => {
    const { code, stdout, stderr } = await list(`1 USD EUR\n\n${line}\n-2 USD EUR\n`, '--quiet')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^[\d.]+ EUR\n\n-[\d.]+ EUR\n$/)
    expect(stderr).toMatch(/^ratesmith: line 3: [^\n]+\n$/)
    expect(stderr).toContain(reason)
    const { stdout: json } = await list(line, '--json')
    expect(JSON.parse(json).error.message).toBeTypeOf('string')
  })

  it('applies flags to all lines, and refuses invalid ones at once', async () => {
    const { stdout } = await list('100 USD CHF\n7 USD JPY yesterday\n', '--round', 'cash')
    expect(stdout).toMatch(/^\d+\.\d[05] CHF\n\d+ JPY\n$/)
    expect(await list('100 USD CHF\n', '--max-age', 'week')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--max-age must be a whole number of days'),
    })
  })
})

describe('latest --sort', () => {
  const rowsOf = async (...args: string[]) => {
    const { stdout } = await run(['latest', '--demo', ...args])
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'))
  }

  it('adds the change of the newest reference rate, the largest first, and none without a history', async () => {
    const rows = await rowsOf('--sort', 'change')
    const changes = rows.flatMap(([, , change = '']) => (change === '' ? [] : [Number(change)]))
    expect(changes.length).toBeGreaterThan(25)
    expect(changes).toEqual(changes.toSorted((one, other) => other - one))
    expect(rows.slice(changes.length).every(([, , change]) => change === '')).toBe(true)
  })

  it('needs one upstream request for each data set', async () => {
    const calls: unknown[] = []
    const answer = publish()
    const { code } = await run(['latest', '--sort', 'change', '--no-cache'], {
      fetch: (...args) => (calls.push(args[0]), answer(...args)),
    })
    expect(code).toBe(0)
    expect(calls).toHaveLength(2)
  })

  it('orders by rate and by code', async () => {
    const rates = (await rowsOf('--sort', 'rate')).map(([, rate]) => Number(rate))
    expect(rates).toEqual(rates.toSorted((one, other) => one - other))
    const codes = (await rowsOf('--sort', 'code')).map(([code]) => code)
    expect(codes.slice(0, 3)).toEqual(['AED', 'AFN', 'ALL'])
  })
})

describe('latest on a terminal', () => {
  it('shows the major currencies, and all with --all', async () => {
    const short = await show(['latest', '--demo'], 80)
    expect(short.join('\n')).toMatch(/\d+ of \d+ currencies; --all shows all/)
    expect(short.join('\n')).not.toContain('AED')
    expect((await show(['latest', '--demo', '--all'], 80)).join('\n')).toContain('AED')
    expect((await show(['latest', '--demo', '-s', 'AED'], 80)).join('\n')).toContain('AED')
  })
})

describe('--pegs', () => {
  it.each(['convert 1 USD AED --date 2026-11-20', 'history USD AED --period 1W'])(
    'adds currencies with an official peg, and says so: %s',
    async (command) => {
      const args = [...command.split(' '), '--demo']
      expect((await run(args)).code).toBe(2)
      const { code, stdout, stderr } = await run([...args, '--pegs'])
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('3.6') })
      expect(stderr).toContain('Synthetic rates (ratesmith) (peg)')
    },
  )

  it.each([
    'latest --date 2026-11-20 --symbols AED,EUR,XOF',
    'convert USD AED,EUR,XOF -d 2026-11-20',
  ])('lists the added currencies of a table or a list: %s', async (command) => {
    const args = [...command.split(' '), '--demo', '--pegs']
    const note = 'not published by the source (peg): AED, XOF'
    expect((await run(args)).stderr).toContain(`${note}\n`)
    expect(await show(args, 80)).toContain(note)
  })
})
