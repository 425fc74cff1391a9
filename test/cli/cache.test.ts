import { readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

import { describe, expect, it, vi } from 'vitest'

import { daysOf, isWeekend } from '../oracle.ts'
import { temporaryFolder } from '../stores/meets-contract.ts'
import { DAY, NOW, examine, publish, run } from './run.ts'

describe('the cache folder', () => {
  // `~` is the home folder; a value without it is relative to the current folder.
  it.each([
    [{}, 'linux', '~/.cache/ratesmith'],
    [{}, 'darwin', '~/Library/Caches/ratesmith'],
    [{ XDG_CACHE_HOME: '~/c' }, 'linux', '~/c/ratesmith'],
    [{ XDG_CACHE_HOME: 'relative' }, 'linux', '~/.cache/ratesmith'],
    [{ XDG_CACHE_HOME: '~/c', RATESMITH_CACHE_DIR: '~/own' }, 'linux', '~/own'],
    [{ RATESMITH_CACHE_DIR: '' }, 'linux', '~/.cache/ratesmith'],
    [{ LOCALAPPDATA: '~/Local' }, 'win32', '~/Local/ratesmith/Cache'],
    [{ XDG_CACHE_HOME: '~/c' }, 'win32', 'no folder'],
  ])('with %j on %s is %s', async (variables, platform, expected) => {
    const home = temporaryFolder()
    const env = Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [name, value.replace('~', home)]),
    )
    const findings = await examine([], { env, platform, home })
    expect(findings.at(-1)).toMatchObject({
      subject: `cache, ${expected.replace('~', home)}`.replaceAll('/', join('/')),
      ok: expected !== 'no folder',
    })
  })

  it('may be relative to the current folder with RATESMITH_CACHE_DIR', async () => {
    const folder = relative(process.cwd(), temporaryFolder())
    const { stdout } = await run(['doctor'], { env: { RATESMITH_CACHE_DIR: folder } })
    expect(stdout).toContain(`works  cache, ${folder}\n`)
  })
})

describe('cached rates', () => {
  // Every weekday of a quarter.
  const days = daysOf('2026-10-01', '2026-12-31').filter((day) => !isWeekend(day))
  const francs = Object.fromEntries(days.map((day, index) => [day, 0.9 + index / 1_000]))

  const FRIDAY = ['convert', 'EUR', 'CHF', '--date', '2026-11-06']
  // Its rates are those of that Friday.
  const SUNDAY = ['convert', 'EUR', 'CHF', '--date', '2026-11-08']
  // A Friday and the last day with rates in November, a Monday.
  const MONTH_END = ['latest', '--date', '2026-11-06', '--rule', 'period-end']

  it.each([
    [FRIDAY, { at: '2026-11-06T18:00:00Z', days: 10, note: '' }],
    [SUNDAY, { at: '2026-11-08T18:00:00Z', days: 1, note: 'offline: rates of 2026-11-06 (' }],
    [SUNDAY, { at: '2026-11-18T12:00:00Z', days: 10, note: '' }],
    [[...SUNDAY, '--rule', 'next'], { at: '2026-11-10T18:00:00Z', days: 10, note: '' }],
    [MONTH_END, { at: '2026-11-06T18:00:00Z', days: 10, note: 'offline: rates of 2026-11-06 (' }],
    [MONTH_END, { at: '2026-12-01T18:00:00Z', days: 10, note: '' }],
    [['latest'], { at: '2026-11-06T18:00:00Z', days: 3, note: 'offline: rates of 3 days ago (' }],
  ])('are final if no later publication can change them: %j, %j', async (args, expected) => {
    const { at, days, note } = expected
    const env = { RATESMITH_CACHE_DIR: temporaryFolder() }
    const now = (): number => Date.parse(at)
    const first = await run(args, { env, now, fetch: publish({ now, francs }) })
    expect(first.code).toBe(0)
    // The cache write may still be in progress.
    const files = (): string => readdirSync(env.RATESMITH_CACHE_DIR, { recursive: true }).join()
    await expect.poll(files).toMatch(/\.cache(,|$)/)
    const again = await run(args, { env, now: () => now() + days * DAY })
    expect(again.stderr.startsWith('ratesmith: offline')).toBe(note !== '')
    expect(again.stderr).toContain(note)
    expect(again.code).toBe(0)
  })

  it('are read before the 50 ms that a store has are over, also from a slow disk', async () => {
    const env = { RATESMITH_CACHE_DIR: temporaryFolder() }
    await run(['latest'], { env, fetch: publish() })
    const files = (): string => readdirSync(env.RATESMITH_CACHE_DIR, { recursive: true }).join()
    await expect.poll(files).toMatch(/\.cache(,|$)/)
    const { setTimeout: start } = globalThis
    // Reading a file takes several turns of the event loop; the time is over after two.
    vi.stubGlobal('setTimeout', (callback: () => void, delay?: number) =>
      delay === 50 || delay === 0 ? setImmediate(callback) : start(callback, delay),
    )
    const calls: unknown[] = []
    const answer = publish()
    const { code } = await run(['latest'], {
      env,
      fetch: (...args) => (calls.push(args), answer(...args)),
    }).finally(() => vi.unstubAllGlobals())
    expect([code, calls]).toEqual([0, []])
  })

  it('are kept apart from those with pegs', async () => {
    const env = { RATESMITH_CACHE_DIR: temporaryFolder() }
    const pair = ['convert', 'USD', 'AED', '--date', '2026-11-20']
    // A run may write one file or several.
    const folders = (): number => {
      const names = readdirSync(env.RATESMITH_CACHE_DIR, { recursive: true, encoding: 'utf8' })
      return new Set(names.filter((name) => name.endsWith('.cache')).map((name) => dirname(name)))
        .size
    }
    expect((await run([...pair, '--pegs'], { env, fetch: publish() })).code).toBe(0)
    await expect.poll(folders).toBe(1)
    expect((await run(pair, { env, fetch: publish() })).code).toBe(2)
    await expect.poll(folders).toBe(2)
  })
})

it('late rates are shown as late from the cache, too, with the name of the source', async () => {
  const env = { RATESMITH_CACHE_DIR: temporaryFolder() }
  const surroundings = { env, fetch: publish(), now: () => NOW + 60 * DAY }
  await run(['latest'], surroundings)
  const { code, stderr } = await run(['latest'], surroundings)
  const late = 'late: rates of 60 days ago (no newer ones from Rates By Exchange Rate API)'
  expect([code, stderr.split('\n')[0]]).toEqual([0, `ratesmith: ${late}`])
})

function convert(content: string | Uint8Array, surroundings: Parameters<typeof run>[1] = {}) {
  const file = join(temporaryFolder(), 'ledger.csv')
  writeFileSync(file, content)
  return run(['convert', '--file', file], surroundings)
}

it('convert --file takes more rows than one call of the API', async () => {
  const rows = 'USD,EUR,1\n'.repeat(10_001)
  const { code, stdout } = await convert(`from,to,amount\n${rows}`, { fetch: publish() })
  expect(code).toBe(0)
  const [, first, ...others] = stdout.trimEnd().split('\n')
  expect(others).toEqual(Array.from({ length: 10_000 }, () => first))
})

it('convert --file works offline with cached rates', async () => {
  const csv = 'from,to,amount,date\nUSD,EUR,1,2003-05-05\nUSD,EUR,1,2026-11-20\n'
  const env = { RATESMITH_CACHE_DIR: temporaryFolder() }
  expect(await convert(csv, { env })).toMatchObject({ code: 1 })
  const online = await convert(csv, { env, fetch: publish() })
  expect(online.code).toBe(0)
  // The cache is written after the output.
  await expect.poll(async () => (await convert(csv, { env })).stdout).toBe(online.stdout)
})

it('convert --file refuses a file that is not UTF-8', async () => {
  const { code, stderr } = await convert(Uint8Array.from([0x66, 0xe9, 0x0a]))
  expect([code, stderr]).toEqual([2, expect.stringContaining('ledger.csv: must be UTF-8')])
})
