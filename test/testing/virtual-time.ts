import { vi } from 'vitest'

import type { ContractCase } from '../../src/testing/index.ts'
import { settled } from '../virtual-runtime.ts'

/** How often nothing may happen before a test fails. */
const MOST_IDLE_TURNS = 10_000

/**
 * Lets the time of fake timers pass until `promise` is settled, from one timer to the next as soon as everything that waits
 * for no timer has gone on; returns `promise`.
 */
export async function passTimeFor<T>(promise: Promise<T>): Promise<T> {
  const wait = { isOver: false, idleTurns: 0 }
  const end = (): void => void (wait.isOver = true)
  promise.then(end, end)
  for (;;) {
    for (let turn = 0; turn < 3; turn += 1) await settled()
    if (wait.isOver) return promise
    if (vi.getTimerCount() === 0) wait.idleTurns += 1
    if (wait.idleTurns > MOST_IDLE_TURNS) throw new Error('there is no timer to wait for')
    vi.advanceTimersToNextTimer()
    // Time also passes for a program that waits for 0 ms again and again.
    vi.advanceTimersByTime(1)
  }
}

/** Runs the cases of a contract in virtual time; returns the errors of those that fail, by their names. */
export async function failuresOf(cases: readonly ContractCase[]): Promise<Map<string, Error>> {
  const found = new Map<string, Error>()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  for (const { name, run } of cases) {
    await passTimeFor(run()).catch((error: Error) => found.set(name, error))
  }
  return found
}
