import { join } from 'node:path'

import { expect, it } from 'vitest'

import { bankRate, createBank, isBankDay } from '../fixtures/bank.ts'
import { codes } from '../fixtures/codes.ts'
import { daysOf } from '../oracle.ts'
import { launch, listen, temporaryFolder } from './processes.ts'
import { ROOT } from './runtimes.ts'

const PROGRAM = `${ROOT}/test/system/backfill-program.ts`

const CODES = codes(12)

const NOW = Date.UTC(2026, 10, 20, 18)

/** Starts a slow bank, and records the ids of the pieces that it was asked for: quarters begin on the first of a month. */
async function startBank() {
  const bank = createBank({ codes: CODES, now: () => NOW })
  const asked: string[] = []
  const { url } = await listen((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost')
    const { code = '', start = '', end = '' } = Object.fromEntries(searchParams)
    asked.push(code || (start.endsWith('-01') ? start : 'newest'))
    const context = { fetch, signal: new AbortController().signal, now: () => NOW }
    const days = code
      ? bank.fetchSeries?.({ code, start, end }, context)
      : bank.fetchHistory({ start, end }, context)
    setTimeout(() => void days?.then((body) => response.end(JSON.stringify(body))), 20)
  })
  return { url, asked }
}

it.each([
  ['file', 'series'],
  ['sqlite', 'windows'],
])(
  'a backfill into a %s store by %s resumes after each kill, without a second call for a stored piece',
  { timeout: 120_000 },
  async (store, form) => {
    const { url, asked } = await startBank()
    const args = [store, join(temporaryFolder(), 'rates'), url, form]
    const stored = new Set<string>()
    const repeated: string[] = []
    let output = ''
    let kill = 0
    const kills = [4, 3, 2, 5]
    do {
      kill = kills.shift() ?? 0
      asked.length = 0
      const running = launch(process.execPath, [PROGRAM, ...args, `${kill}`, [...stored].join(',')])
      expect(await running.exited).toBe(kill > 0 ? null : 0)
      output = running.stdout
      // On a busy machine a write misses its time, and the store is then not asked for a while.
      const isSlow = keysAfter('slow', output).length > 0
      if (!isSlow) repeated.push(...asked.filter((id) => stored.has(id)))
      for (const id of keysAfter('stored', output)) stored.add(id)
      // The last run needs no call.
    } while ((kill > 0 || asked.length > 0) && repeated.length === 0)
    const served = Array.from(output.matchAll(/^served (.*)$/gm), ([, json = '']) =>
      JSON.parse(json),
    )
    const days = daysOf('2024-01-02', '2026-11-20').filter(isBankDay)
    expect(served).toEqual(
      CODES.map((to) => ({ to, points: days.map((d) => ({ d, r: bankRate(to, d) })) })),
    )
    expect(repeated).toEqual([])
  },
)

/** Returns the ids of the pieces in lines that begin with `word`. */
function keysAfter(word: string, output: string): string[] {
  const lines = output.matchAll(new RegExp(`^${word} rates:v1:history:bank(?::(.*))?$`, 'gm'))
  return Array.from(lines, ([, id = 'newest']) => id)
}
