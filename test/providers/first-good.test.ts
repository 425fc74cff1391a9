import { describe, expect, it } from 'vitest'

import { firstGood } from '../../src/providers/first-good.ts'
import { RejectedError } from '../../src/rates/rejected-error.ts'

const URLS = ['https://a.example', 'https://b.example', 'https://c.example']

/** Calls that are settled by hand, by the URL that they ask. */
function hand(): {
  ask: (url: string, signal: AbortSignal) => Promise<string>
  calls: Map<string, PromiseWithResolvers<string> & { signal: AbortSignal }>
} {
  const calls = new Map<string, PromiseWithResolvers<string> & { signal: AbortSignal }>()
  return {
    calls,
    ask(url, signal) {
      const call = Promise.withResolvers<string>()
      signal.addEventListener('abort', () => call.reject(signal.reason))
      calls.set(url, { ...call, signal })
      return call.promise
    },
  }
}

async function expectAsked(calls: Map<string, unknown>, count: number): Promise<void> {
  await expect.poll(() => calls.size, { interval: 1 }).toBe(count)
}

describe('firstGood()', () => {
  const signal = new AbortController().signal

  it('asks the next one after a head start, and gives the other up when one was first', async () => {
    const { ask, calls } = hand()
    const answer = firstGood(URLS.slice(0, 2), { headStart: 10, signal }, ask)
    await expectAsked(calls, 2)
    calls.get('https://b.example')?.resolve('b')
    expect(await answer).toBe('b')
    expect(calls.get('https://a.example')?.signal.aborted).toBe(true)
  })

  it('has the answer of the first when it comes late, but before that of the second', async () => {
    const { ask, calls } = hand()
    const answer = firstGood(URLS.slice(0, 2), { headStart: 10, signal }, ask)
    await expectAsked(calls, 2)
    calls.get('https://b.example')?.reject(new Error('b is down'))
    calls.get('https://a.example')?.resolve('a')
    expect(await answer).toBe('a')
  })

  it('asks the next one at once when one fails', async () => {
    const { ask, calls } = hand()
    const answer = firstGood(URLS, { headStart: 60_000, signal }, ask)
    calls.get('https://a.example')?.reject(new Error('a is down'))
    await expectAsked(calls, 2)
    calls.get('https://b.example')?.reject(new Error('b is down'))
    await expectAsked(calls, 3)
    calls.get('https://c.example')?.reject(new Error('c is down'))
    await expect(answer).rejects.toThrow('a is down; b is down; c is down')
  })

  it('asks no one else once there is an answer', async () => {
    const { ask, calls } = hand()
    const answer = firstGood(URLS, { headStart: 10, signal }, ask)
    await expectAsked(calls, 2)
    calls.get('https://a.example')?.resolve('a')
    expect(await answer).toBe('a')
    expect([...calls.keys()]).toEqual(URLS.slice(0, 2))
  })

  it('asks no one else once it is given up', async () => {
    const { ask, calls } = hand()
    const controller = new AbortController()
    const answer = firstGood(URLS, { headStart: 60_000, signal: controller.signal }, ask)
    controller.abort(new Error('time is up'))
    await expect(answer).rejects.toThrow('time is up')
    expect(calls.size).toBe(1)
  })

  /** What comes of calls that fail with `errors`, one after the other. */
  async function failures(...errors: unknown[]): Promise<unknown> {
    const left = [...errors]
    const ask = (): Promise<string> => Promise.reject(left.shift())
    const answer = firstGood(URLS.slice(0, errors.length), { headStart: 60_000, signal }, ask)
    return answer.catch((error: unknown) => error)
  }

  it('fails as the only one does', async () => {
    const error = new Error('a is down')
    expect(await failures(error)).toBe(error)
  })

  it('rejects where every answer was rejected, and only there', async () => {
    const rejected = [new RejectedError('a has no rates'), new RejectedError('b has no rates')]
    const all = await failures(...rejected)
    expect(all).toBeInstanceOf(RejectedError)
    expect(all).toMatchObject({ message: 'a has no rates; b has no rates' })
    const some = await failures(new Error('a is down'), rejected[1], 'c is odd')
    expect(some).toBeInstanceOf(AggregateError)
    expect(some).toMatchObject({ message: 'a is down; b has no rates; c is odd' })
  })

  it('may be tried again as soon as any of them may', async () => {
    const pause = (retryAfterMs?: number): Error => Object.assign(new Error(), { retryAfterMs })
    expect(await failures(pause(7_000), pause(5_000), pause(9_000))).toMatchObject({
      retryAfterMs: 5_000,
    })
    expect(await failures(pause(7_000), pause())).toMatchObject({ retryAfterMs: 0 })
  })
})
