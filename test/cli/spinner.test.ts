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
    await vi.advanceTimersByTimeAsync(749)
    expect(notes.length).toBeGreaterThan(3)
    for (const text of notes) expect(text).toMatch(/^\r[-\\|/] fetching rates$/)
    respond()
    expect((await ran).code).toBe(0)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(notes.at(-1)).toBe('\r\u001B[K')
    expect(notes.filter((text) => text.startsWith('\r\u001B'))).toHaveLength(1)
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
