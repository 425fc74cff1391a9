import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { withSpinner } from '../../src/cli/terminal/spinner.ts'

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubEnv('TERM', 'xterm')
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})

/** A stream, what was written to it, and work that ends after `duration` ms. */
function stage({ duration, isTTY = true }: { duration: number; isTTY?: boolean }) {
  const written: string[] = []
  const stream = { isTTY, write: (text: string) => written.push(text) }
  const work = new Promise<string>((resolve) => setTimeout(() => resolve('done'), duration))
  return { stream, written, result: withSpinner(stream, 'asking', work) }
}

describe('withSpinner', () => {
  it('shows nothing of work that takes 300 ms', async () => {
    const { written, result } = stage({ duration: 299 })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await result).toBe('done')
    expect(written).toEqual([])
  })

  it('shows longer work, and nothing is left of that', async () => {
    const { written, result } = stage({ duration: 750 })
    await vi.advanceTimersByTimeAsync(749)
    expect(written.length).toBeGreaterThan(3)
    for (const text of written) expect(text).toMatch(/^\r[-\\|/] asking$/)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(await result).toBe('done')
    expect(written.at(-1)).toBe('\r\u001B[K')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('takes it away from work that fails', async () => {
    const written: string[] = []
    const stream = { isTTY: true, write: (text: string) => written.push(text) }
    const work = new Promise<never>((_resolve, reject) => {
      setTimeout(() => reject(new Error('lost')), 500)
    })
    const outcome = withSpinner(stream, 'asking', work).catch(String)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await outcome).toBe('Error: lost')
    expect(written.at(-1)).toBe('\r\u001B[K')
  })

  it('shows nothing where nobody sees it, or the terminal cannot take it away', async () => {
    const unseen = stage({ duration: 5_000, isTTY: false })
    await vi.advanceTimersByTimeAsync(5_000)
    vi.stubEnv('TERM', 'dumb')
    const dumb = stage({ duration: 5_000 })
    await vi.advanceTimersByTimeAsync(5_000)
    expect(await Promise.all([unseen.result, dumb.result])).toEqual(['done', 'done'])
    expect([...unseen.written, ...dumb.written]).toEqual([])
  })
})
