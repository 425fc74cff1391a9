import { describe, expect, it } from 'vitest'

import { createRates } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { DAY, NOW, publish, run, show } from './run.ts'

const WIDE = ['--history', 'frankfurter,norges-bank', '--no-cache']

describe('ratesmith sources', () => {
  it('prints the record of the API with --json', async () => {
    const { code, stdout } = await run(['sources', '--demo', '--json'])
    const rates = createRates({ providers: fakeProviders({ now: () => NOW }), now: () => NOW })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual(await rates.sources())
  })

  it('lists ids that --source accepts, with base, period, days and terms', async () => {
    const { stdout } = await run(['sources', ...WIDE], { fetch: publish() })
    const lines = stdout.trimEnd().split('\n')
    expect(lines).toEqual([
      expect.stringMatching(
        /^ecb\tEUR\tdaily\t1999-01-04\t2026-11-20\t\tEuropean Central Bank .*\thttps:\S+\thttps:\S+$/,
      ),
      // It does not respond.
      expect.stringMatching(/^norges-bank\t\tdaily\t1999-01-04\t\t\tNorges Bank(\thttps:\S+){2}$/),
    ])
    const [id = ''] = lines[0]?.split('\t') ?? []
    const args = ['convert', '1', 'EUR', 'USD', 'yesterday', '--source', id, ...WIDE]
    expect((await run(args, { fetch: publish() })).code).toBe(0)
  })

  it('shows a table on a terminal, with names and terms below it', async () => {
    const fetch = publish()
    const lines = await show(['sources', ...WIDE], 80, { fetch, now: () => NOW + 5 * DAY })
    expect(lines[0]).toBe('source       base  published  since       newest      state')
    expect(lines[1]).toBe('ecb          EUR   daily      1999-01-04  2026-11-20  late')
    expect(lines.join(' ')).toContain('norges-bank: Norges Bank, https://')
    expect(lines.at(-1)).toBe('For information only, not an offer to exchange currency.')
  })
})

describe('ratesmith status', () => {
  it('shows the state, the newest rates and the source of both data sets', async () => {
    const { code, stdout } = await run(['status'], { fetch: publish() })
    expect(code).toBe(0)
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^latest\tcurrent\t2026-11-20 15:00 UTC\tRates By .*\tloaded\t.* UTC$/),
      expect.stringMatching(/^history\tcurrent\t2026-11-20\tEuropean Cent.*\tloaded\t.* UTC$/),
      '',
    ])
    const lines = await show(['status'], 120, { fetch: publish() })
    expect(lines[0]).toMatch(/^rates +state +newest +source +last attempt +next attempt$/)
  })

  it('has a line for each source of history', async () => {
    const { stdout } = await run(['status', ...WIDE], { fetch: publish() })
    expect(stdout.split('\n').map((line) => line.split('\t', 4).join())).toEqual([
      'latest,current,2026-11-20 15:00 UTC,Rates By Exchange Rate API',
      'history,current,2026-11-20,European Central Bank (via Frankfurter)',
      'history,missing,,Norges Bank',
      '',
    ])
  })

  it('exits with 1 while rates are missing, and says so in the record of --json', async () => {
    const { code, stdout } = await run(['status', '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      ready: false,
      latest: { ready: false, source: null, lastAttempt: { outcome: 'failed' } },
    })
  })

  it('says that rates are overdue if the source has stopped', async () => {
    const { stdout } = await run(['status'], { fetch: publish(), now: () => NOW + 60 * DAY })
    expect(stdout).toMatch(/^latest\toverdue\t2026-11-20/)
  })
})
