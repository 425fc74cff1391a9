import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { pairsOf } from '../fixtures/rows.ts'
import { NOW, publish, run, show } from './run.ts'

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

it('an old version of Node exits with 1 and one line that names both versions', async () => {
  const needed: string = manifest.engines.node.replace('>=', '')
  const [major = 0, minor = 0] = needed.split('.').map(Number)
  const args = ['convert', 'USD', 'EUR', '--demo']
  for (const node of [
    `${major}.${minor - 1}.9`,
    `${major - 2}.${minor + 4}.0`,
    `9.${minor + 9}.0`,
  ]) {
    const stderr = `ratesmith requires Node ${needed} or newer, got ${node}\n`
    expect(await run(args, { versions: { node } })).toEqual({ code: 1, stdout: '', stderr })
  }
  const others = [needed, `${major}.${minor + 1}.0`, `${major + 2}.0.0`].map((node) => ({ node }))
  const runtimes = [{ bun: '1.2.0' }, { deno: '2.0.0' }].map((own) => ({ node: '20.0.0', ...own }))
  for (const versions of [...others, ...runtimes]) {
    expect((await run(['--version'], { versions })).code, JSON.stringify(versions)).toBe(0)
  }
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

it('latest --sort change needs one upstream request for each data set', async () => {
  const calls: unknown[] = []
  const answer = publish()
  const args = ['latest', '--sort', 'change', '--no-cache']
  const fetch: typeof answer = (...given) => (calls.push(given), answer(...given))
  const { code, stdout } = await run(args, { fetch })
  expect([code, calls.length]).toEqual([0, 2])
  const cells = stdout.split('\n').map((line) => line.split('\t')[2] ?? '')
  const changes = cells.filter(Boolean).map(Number)
  expect(changes).toHaveLength(30)
  expect(changes).toEqual(changes.toSorted((one, other) => other - one))
})

it('latest shows all currencies on a terminal with --all', async () => {
  const lines = await show(['latest', '--all'], 80, { fetch: publish() })
  expect(lines).toHaveLength(2 + 166 + 2)
})
