import { readdirSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { respondAsFeeds } from '../fixtures/feeds.ts'
import { temporaryFolder } from '../stores/meets-contract.ts'
import { NOW, examine, publish, run, show, urlOf } from './run.ts'

const EUROPEAN = 'European Central Bank (via Frankfurter), https://frankfurter.dev'
const ITALIAN = "Banca d'Italia (indicative cross rates), https://tassidicambio.bancaditalia.it"

/** Returns a `fetch` of the default upstreams and of Banca d'Italia, which has two West African francs besides the euro's. */
function publishWidely(now: () => number = () => NOW) {
  const others = publish({ now })
  const calls: string[] = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const url = urlOf(input)
    calls.push(new URL(url).host)
    return url.includes('bancaditalia') ? respondAsFeeds(url, now(), '') : others(input, init)
  }
  return { fetch, calls }
}

const WIDE = ['--history', 'frankfurter,banca-d-italia']

describe('--history with several publications', () => {
  it('answers a pair from the first with both currencies, and names it below the rates', async () => {
    const { fetch } = publishWidely()
    const sourceOf = async (...args: string[]): Promise<string | undefined> =>
      (await show([...args, ...WIDE], 120, { fetch })).at(-2)
    expect(await sourceOf('history', 'USD', 'JPY')).toBe(EUROPEAN)
    expect(await sourceOf('history', 'USD', 'XOF', '--period', '1W')).toBe(ITALIAN)
    expect(await sourceOf('convert', 'EUR', 'XOF', '--date', '2026-11-19')).toBe(ITALIAN)
    expect(await sourceOf('convert', 'EUR', 'JPY', '--date', '2026-11-19')).toBe(EUROPEAN)
    expect(await sourceOf('latest', '--symbols', 'XOF', '--date', '2026-11-19')).toBe(ITALIAN)
  })

  it('reads cached rates of each publication while upstreams are down', async () => {
    const env = { RATESMITH_CACHE_DIR: temporaryFolder() }
    const args = ['history', 'EUR', 'XOF', '--period', '1W', ...WIDE]
    const { fetch } = publishWidely()
    const online = await run(args, { fetch, env })
    // Cache writes may still be in progress.
    const files = (): string[] =>
      readdirSync(env.RATESMITH_CACHE_DIR, { recursive: true }).map(String)
    await expect.poll(() => files().filter((name) => name.endsWith('.cache'))).toHaveLength(3)
    const { code, stdout } = await run(args, { env })
    expect({ code, stdout }).toEqual({ code: 0, stdout: online.stdout })
    expect(online.stdout).toMatch(/^2026-11-13\t655\.957\n(.*\t655\.957\n){5}$/)
    expect(online.stderr).toContain(`${ITALIAN}\n`)
  })
})

it('ratesmith currencies has the days of each source', async () => {
  const { fetch } = publishWidely()
  const [european = '', italian = ''] = [EUROPEAN, ITALIAN].map((source) => source.split(', ')[0])
  const days = `${european} 1999-01-04 to 2026-11-20; ${italian} ? to 2026-11-20`
  expect(await show(['currencies', 'JPY', ...WIDE], 200, { fetch })).toEqual([
    'code  no.  digits  latest  history  name          days',
    `JPY   392  0       yes     yes      Japanese Yen  ${days}`,
  ])
  for (const [code, cell] of [
    ['JPY', days],
    ['HRK', `${european} 2005-04-01 to 2022-12-30`],
  ] as const) {
    const { stdout } = await run(['currencies', code, ...WIDE], { fetch })
    expect(stdout.trimEnd().split('\t').at(-1)).toBe(cell)
  }
})

it('ratesmith doctor checks each provider of history, with the newest day of a publication', async () => {
  const { fetch, calls } = publishWidely()
  const findings = await examine(WIDE, { fetch })
  const found = findings.filter(({ subject }) => subject.startsWith('history rates'))
  expect(found).toMatchObject([
    {
      ok: true,
      subject: expect.stringMatching(/, api\.frankfurter\.dev$/),
      found: 'reference rates of 30 currencies up to 2026-11-20',
    },
    {
      ok: true,
      subject: expect.stringMatching(/, tassidicambio\.bancaditalia\.it$/),
      found: expect.stringMatching(/^reference rates of 3\d currencies up to 2026-11-20$/),
    },
  ])
  // No series.
  expect(calls.filter((host) => host.includes('bancaditalia'))).toHaveLength(1)
  expect(calls).toHaveLength(3)
})
