import { setImmediate } from 'node:timers/promises'

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { publish, run } from './run.ts'

const TERMINAL = { columns: 80, env: { TERM: 'xterm' } }

beforeEach(async () => {
  // Loads the command, which takes time.
  await run(['convert', 'USD', 'EUR', '--demo'])
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
})
afterEach(() => void vi.useRealTimers())

/** Runs a command whose upstream answers or fails on request. */
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
  return { notes, answer: gate.resolve, fail: () => gate.reject(new Error('lost')), ran }
}

describe('a command at work', () => {
  it.each([
    ['for less than 300 ms', TERMINAL, 299],
    ['in a pipe', { env: TERMINAL.env }, 3_000],
    ['on a terminal that cannot erase', { columns: 80, env: { TERM: 'dumb' } }, 3_000],
  ])('shows nothing %s', async (_, surroundings, duration) => {
    const { notes, answer, ran } = await start(surroundings)
    await vi.advanceTimersByTimeAsync(duration)
    expect(notes).toEqual([])
    answer()
    expect((await ran).code).toBe(0)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(notes.join('')).not.toContain('asking')
  })

  it('shows that it works for longer, and erases it', async () => {
    const { notes, answer, ran } = await start()
    await vi.advanceTimersByTimeAsync(749)
    expect(notes.length).toBeGreaterThan(3)
    for (const text of notes) expect(text).toMatch(/^\r[-\\|/] asking for rates$/)
    answer()
    expect((await ran).code).toBe(0)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(notes.at(-1)).toBe('\r\u001B[K')
    expect(notes.filter((text) => text.startsWith('\r\u001B'))).toHaveLength(1)
  })

  it('erases it before an error', async () => {
    const { notes, fail, ran } = await start()
    await vi.advanceTimersByTimeAsync(500)
    fail()
    expect((await ran).code).toBe(1)
    expect(notes.at(-2)).toBe('\r\u001B[K')
    expect(notes.at(-1)).toMatch(/^ratesmith: .*did not answer/)
  })
})
