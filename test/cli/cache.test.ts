import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

import { describe, expect, it, onTestFinished } from 'vitest'

import { ARCHIVE_KEY, readAhead } from '../../src/cli/read-ahead.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { CacheStore } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { DAY, publish, run } from './run.ts'

/** A folder that is removed at the end of the test. */
function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ratesmith-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

describe('the cache folder', () => {
  // `~` is the home folder, and the current folder in values without one.
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
    const home = makeFolder()
    const env = Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [name, value.replace('~', home)]),
    )
    const { stdout } = await run(['doctor', '--json'], { env, platform, home })
    const { findings }: { findings: { subject: string; ok: boolean }[] } = JSON.parse(stdout)
    expect(findings.at(-1)).toMatchObject({
      subject: `cache, ${expected.replace('~', home)}`.replaceAll('/', join('/')),
      ok: expected !== 'no folder',
    })
  })

  it('may be relative to the current folder, where it is chosen', async () => {
    const folder = relative(process.cwd(), makeFolder())
    const { stdout } = await run(['doctor'], { env: { RATESMITH_CACHE_DIR: folder } })
    expect(stdout).toContain(`works  cache, ${folder}\n`)
  })

  it('is none where there is no home folder', async () => {
    const { stdout } = await run(['doctor'], { home: '' })
    expect(stdout).toContain('fails  cache, no folder\n')
  })
})

describe('rates that were kept', () => {
  /** Rates of every weekday of a quarter. */
  const francs = Object.fromEntries(
    Array.from({ length: 92 }, (_, day) => new Date(Date.UTC(2026, 9, 1 + day)))
      .filter((date) => date.getUTCDay() % 6 > 0)
      .map((date) => [date.toISOString().slice(0, 10), 0.9 + date.getUTCDate() / 1_000]),
  )

  /** Asks with `args`, keeps the answer, and asks again some days later without an upstream. */
  async function askAgain(
    args: string[],
    { at, days }: { at: string; days: number },
  ): Promise<{ code: number; stderr: string }> {
    const env = { RATESMITH_CACHE_DIR: makeFolder() }
    const then = Date.parse(at)
    const now = (): number => then
    const { code } = await run(args, { env, now, fetch: publish({ now, francs }) })
    expect(code).toBe(0)
    // What is kept is still being written.
    await expect
      .poll(() =>
        readdirSync(env.RATESMITH_CACHE_DIR, { recursive: true, encoding: 'utf8' }).filter((name) =>
          name.endsWith('.cache'),
        ),
      )
      .not.toEqual([])
    return run(args, { env, now: () => then + days * DAY })
  }

  it.each([
    // A Friday with rates, and the Sunday after it, whose rates are those of that Friday.
    { date: '2026-11-06', at: '2026-11-06T18:00:00Z', days: 10, isSettled: true },
    { date: '2026-11-08', at: '2026-11-08T18:00:00Z', days: 1, isSettled: false },
    { date: '2026-11-08', at: '2026-11-08T18:00:00Z', days: 10, isSettled: false },
    { date: '2026-11-08', at: '2026-11-18T12:00:00Z', days: 10, isSettled: false },
    { date: '2026-11-08', at: '2026-12-08T12:00:00Z', days: 10, isSettled: true },
  ])(
    'of a day are final where no later publication could change them: $date, asked on $at and $days days later',
    async ({ date, at, days, isSettled }) => {
      const { code, stderr } = await askAgain(['convert', 'EUR', 'CHF', '--date', date], {
        at,
        days,
      })
      expect(stderr.startsWith('ratesmith: offline: rates of 2026-11-06 (')).toBe(!isSettled)
      expect(code).toBe(0)
    },
  )

  it.each([
    [['latest'], 3, /^ratesmith: offline: rates of 3 days ago \(connect|did not answer/],
    [['history', 'EUR', 'CHF'], 8, /^ratesmith: offline: rates of \d+ days ago \(/],
  ])('of no certain day are old without an upstream: %j', async (args, days, note) => {
    const { code, stderr } = await askAgain(args, { at: '2026-11-06T18:00:00Z', days })
    expect(stderr).toMatch(note)
    expect(code).toBe(0)
  })
})

describe('readAhead', () => {
  /** How many providers are called for latest rates and history with `store`. */
  async function countCalls(store: CacheStore): Promise<number> {
    let calls = 0
    const handler = createRatesHandler({
      providers: fakeProviders(),
      store,
      onEvent: ({ type }) => void (calls += type === 'upstream_asked' ? 1 : 0),
    })
    await handler.rates.latest()
    await handler.rates.history({ from: 'EUR', to: 'USD' })
    handler.close()
    return calls
  }

  /** A store that never answers for a key again. */
  function answerOnce(values: Map<string, string>): CacheStore {
    const asked = new Set<string>()
    return {
      get: (key) => (asked.has(key) ? new Promise(() => {}) : (asked.add(key), values.get(key))),
      set: (key, value) => values.set(key, value),
    }
  }

  it('has the values of a slow store before a handler needs them', async () => {
    const values = new Map<string, string>()
    expect(await countCalls(values)).toBe(2)
    expect(await countCalls(await readAhead(answerOnce(values)))).toBe(0)
  })

  it('reads the reference rates since 1999 on request only', async () => {
    const read: string[] = []
    const store = { get: (key: string) => void read.push(key), set: () => undefined }
    await readAhead(store)
    expect(read).toEqual(['rates:v1:latest', 'rates:v1:history'])
    await readAhead(store, [ARCHIVE_KEY])
    expect(read.slice(2)).toEqual(['rates:v1:archive'])
  })

  it('knows the key of the reference rates since 1999', async () => {
    const values = new Map<string, string>()
    const handler = createRatesHandler({ providers: fakeProviders(), store: values })
    await handler.rates.latest({ date: '2001-02-28' })
    handler.close()
    expect([...values.keys()]).toEqual([ARCHIVE_KEY])
  })

  it('returns the value last set, and sets it in the store', async () => {
    const values = new Map([['rates:v1:latest', 'old']])
    const store = await readAhead(values)
    expect(store.get('rates:v1:latest')).toBe('old')
    await store.set('rates:v1:latest', 'new', Infinity)
    expect(store.get('rates:v1:latest')).toBe('new')
    expect(values.get('rates:v1:latest')).toBe('new')
  })

  it('leaves the errors of a store to its caller', async () => {
    const store = await readAhead({ get: () => Promise.reject(new Error('gone')), set() {} })
    await expect(store.get('rates:v1:latest')).rejects.toThrow('gone')
  })
})
