import { vi } from 'vitest'

import type { ContractCase } from '../../src/testing/index.ts'
import { settled } from '../virtual-runtime.ts'

const MAX_IDLE_TURNS = 10_000

/** Advances fake timers until `promise` settles, and returns it. Each timer fires when no other work is pending. */
export async function passTimeFor<T>(promise: Promise<T>): Promise<T> {
  const wait = { isOver: false, idleTurns: 0 }
  const end = (): void => void (wait.isOver = true)
  promise.then(end, end)
  for (;;) {
    for (let turn = 0; turn < 3; turn += 1) await settled()
    if (wait.isOver) return promise
    if (vi.getTimerCount() === 0) wait.idleTurns += 1
    if (wait.idleTurns > MAX_IDLE_TURNS) throw new Error('no timer to wait for')
    vi.advanceTimersToNextTimer()
    // Time must also pass for a program that waits for 0 ms repeatedly.
    vi.advanceTimersByTime(1)
  }
}

/** Runs the cases of a contract in virtual time, and returns the errors of failing cases by name. */
export async function failuresOf(cases: readonly ContractCase[]): Promise<Map<string, Error>> {
  const found = new Map<string, Error>()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  for (const { name, run } of cases) {
    await passTimeFor(run()).catch((error: Error) => found.set(name, error))
  }
  return found
}
