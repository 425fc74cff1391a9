import { describe, expect, it } from 'vitest'

import { runWithin, within } from '../../src/cache/within.ts'
import { settled, virtualRuntime } from '../virtual-runtime.ts'

const never = new Promise<never>(() => {})

/** A signal that knows how many listen to it. */
function countedSignal(): { signal: AbortSignal; controller: AbortController; count(): number } {
  const controller = new AbortController()
  const { signal } = controller
  const listeners = new Set<unknown>()
  const counted = Object.assign(signal, {
    addEventListener(type: string, listener: EventListener) {
      if (type === 'abort') listeners.add(listener)
      EventTarget.prototype.addEventListener.call(signal, type, listener)
    },
    removeEventListener(type: string, listener: EventListener) {
      if (type === 'abort') listeners.delete(listener)
      EventTarget.prototype.removeEventListener.call(signal, type, listener)
    },
  })
  return { signal: counted, controller, count: () => listeners.size }
}

describe('within()', () => {
  it('settles as the promise does, and leaves nothing behind', async () => {
    const runtime = virtualRuntime(0)
    const { signal, count } = countedSignal()
    expect(await within(runtime, 10, Promise.resolve('a'), signal)).toBe('a')
    const failure = new Error('refused')
    await expect(within(runtime, 10, Promise.reject(failure), signal)).rejects.toBe(failure)
    expect([runtime.timers(), count()]).toEqual([0, 0])
  })

  it('gives up when the time is over, and leaves nothing behind', async () => {
    const runtime = virtualRuntime(0)
    const { signal, count } = countedSignal()
    const outcome = within(runtime, 10, never, signal).catch((error: unknown) => error)
    await runtime.advance(9)
    expect([runtime.timers(), count()]).toEqual([1, 1])
    await runtime.advance(1)
    expect(await outcome).toMatchObject({
      name: 'TimeoutError',
      message: 'no answer within 10 ms',
    })
    expect([runtime.timers(), count()]).toEqual([0, 0])
  })

  it('gives up when the signal aborts, with its reason, and leaves nothing behind', async () => {
    const runtime = virtualRuntime(0)
    const { signal, controller, count } = countedSignal()
    const outcome = within(runtime, 10, never, signal).catch((error: unknown) => error)
    const reason = new Error('enough')
    controller.abort(reason)
    expect(await outcome).toBe(reason)
    expect([runtime.timers(), count()]).toEqual([0, 0])
  })

  it('gives up at once under a signal that has aborted, with an error for a reason that is none', async () => {
    const runtime = virtualRuntime(0)
    await expect(within(runtime, 10, never, AbortSignal.abort('bored'))).rejects.toMatchObject({
      message: 'aborted',
      cause: 'bored',
    })
    expect(runtime.timers()).toBe(0)
  })

  it('takes an answer that has come while the loop was blocked', async () => {
    const runtime = virtualRuntime(0)
    const answer = new Promise<string>((resolve) => {
      runtime.startTimer(() => resolve('a'), 10)
    })
    const outcome = within(runtime, 10, answer)
    await runtime.advance(10)
    expect(await outcome).toBe('a')
    expect(runtime.timers()).toBe(0)
  })
})

describe('runWithin()', () => {
  it('leaves the signal of work that succeeds alone', async () => {
    const signals: AbortSignal[] = []
    const work = async (signal: AbortSignal): Promise<string> => {
      signals.push(signal)
      return 'a'
    }
    expect(await runWithin(virtualRuntime(0), 10, work)).toBe('a')
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
  })

  it.each([
    ['it throws', 'thrown'],
    ['its time is over', 'no answer within 10 ms'],
    ['its parent aborts', 'enough'],
  ])('aborts the signal of work with the error when %s', async (how, message) => {
    const runtime = virtualRuntime(0)
    const parent = new AbortController()
    let seen: AbortSignal | undefined
    const work = (signal: AbortSignal): Promise<never> => {
      seen = signal
      if (message === 'thrown') throw new Error(message)
      return never
    }
    const outcome = runWithin(runtime, 10, work, parent.signal).catch((error: unknown) => error)
    await settled()
    if (how === 'its parent aborts') parent.abort(new Error(message))
    await runtime.advance(10)
    const error = await outcome
    expect(error).toMatchObject({ message })
    expect(seen?.reason).toBe(error)
    expect(runtime.timers()).toBe(0)
  })
})
