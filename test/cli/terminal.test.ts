import { setImmediate } from 'node:timers/promises'

import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

import { publish, run } from './run.ts'

const UTF8 = { LANG: 'en_GB.UTF-8', TERM: 'xterm' }

describe('a terminal', () => {
  it.each([
    [UTF8, 'linux', 'colour, Unicode'],
    [{ ...UTF8, NO_COLOR: '1' }, 'linux', 'Unicode'],
    [{ ...UTF8, NO_COLOR: '' }, 'linux', 'colour, Unicode'],
    [{ ...UTF8, FORCE_COLOR: '0' }, 'linux', 'Unicode'],
    [{ ...UTF8, FORCE_COLOR: '', NO_COLOR: '1' }, 'linux', 'colour, Unicode'],
    [{ ...UTF8, TERM: 'dumb' }, 'linux', ''],
    [{ LANG: 'C' }, 'linux', 'colour'],
    [{ LANG: 'en_GB.UTF-8', LC_ALL: 'C' }, 'linux', 'colour'],
    [{ LANG: 'C', LC_CTYPE: 'C.utf8' }, 'linux', 'colour, Unicode'],
    [{}, 'linux', 'colour'],
    [{}, 'win32', 'colour, Unicode'],
  ])('with %j on %s has: %s', async (env, platform, expected) => {
    const args = ['history', 'EUR', 'CHF', '--period', '1W', '--demo']
    const { stdout } = await run(args, { env, platform, columns: 80 })
    const seen = [stdout.includes('\u001B[') && 'colour', stdout.includes('│') && 'Unicode']
    expect(seen.filter(Boolean).join(', ')).toBe(expected)
  })
})

const TERMINAL = { columns: 80, env: { TERM: 'xterm' } }

/** Runs a command whose upstream responds or fails when the test calls `respond` or `fail`. */
async function start(surroundings: Parameters<typeof run>[1] = TERMINAL) {
  const notes: string[] = []
  const gate = Promise.withResolvers<void>()
  const called = Promise.withResolvers<void>()
  const fetch: typeof globalThis.fetch = async (input) => {
    called.resolve()
    await gate.promise
    return publish()(input)
  }
  const onNote = (text: string): void => void notes.push(text)
  const ran = run(['convert', 'USD', 'EUR'], { ...surroundings, fetch, onNote })
  await called.promise
  await setImmediate()
  return { notes, respond: gate.resolve, fail: () => gate.reject(new Error('lost')), ran }
}

describe('a command that fetches rates', () => {
  beforeEach(async () => {
    // Loads the command, which takes time.
    await run(['convert', 'USD', 'EUR', '--demo'])
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
  })

  it.each([
    ['for less than 300 ms', TERMINAL, 299],
    ['in a pipe', { env: TERMINAL.env }, 3_000],
    ['on a terminal that cannot erase', { columns: 80, env: { TERM: 'dumb' } }, 3_000],
  ])('shows nothing %s', async (_, surroundings, duration) => {
    const { notes, respond, ran } = await start(surroundings)
    await vi.advanceTimersByTimeAsync(duration)
    expect(notes).toEqual([])
    respond()
    expect((await ran).code).toBe(0)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(notes.join('')).not.toContain('fetching')
  })

  it('shows a spinner after 300 ms, and erases it', async () => {
    const { notes, respond, ran } = await start()
    await vi.advanceTimersByTimeAsync(799)
    respond()
    expect((await ran).code).toBe(0)
    await vi.advanceTimersByTimeAsync(5_000)
    const frames = Array.from('-\\|/-', (frame) => `\r${frame} fetching rates`)
    expect(notes).toEqual([...frames, '\r\u001B[K'])
  })

  it('erases the spinner before an error', async () => {
    const { notes, fail, ran } = await start()
    await vi.advanceTimersByTimeAsync(500)
    fail()
    expect((await ran).code).toBe(1)
    expect(notes.at(-2)).toBe('\r\u001B[K')
    expect(notes.at(-1)).toMatch(/^ratesmith: .*unavailable.* \(.*doctor/)
  })
})
