import { systemRuntime, withTimeout } from '../async.ts'
import type { CacheStore } from '../cache/store.ts'
import { expectSame, expectThat, show } from './expect-same.ts'
import { createWait } from './wait.ts'
import type { Wait } from './wait.ts'

/** Below the 5 s of test runners, whose timeout names no operation. */
const OPERATION_TIMEOUT_MS = 4_000

/** Operations and expectations on one store, which reject with an error that states what was expected. */
export interface Trial {
  readonly canClaim: boolean
  /** Returns a key that ends with `name` and is unique even among runs against the same backend. */
  key(name: string): string
  /** Returns the time `delay` ms from now, in ms since the Unix epoch. */
  after(delay: number): number
  wait: Wait
  /** Sets a value that expires at `expiresAt` (default: in an hour). */
  set(key: string, value: string, expiresAt?: number): Promise<void>
  get(key: string): Promise<unknown>
  claim(key: string, expiresAt: number): Promise<boolean>
  expectValue(key: string, value: string): Promise<void>
  expectMiss(key: string): Promise<void>
  expectClaim(key: string, expiresAt: number, granted: boolean): Promise<void>
}

/** Creates the trial of `store`. */
export function openTrial(store: CacheStore): Trial {
  const runtime = systemRuntime(Date.now)
  const unique = `contract:${runtime.now().toString(36)}${runtime.random().toString(36).slice(2)}`
  const after = (delay: number): number => runtime.now() + delay

  async function operate(name: string, operation: () => unknown): Promise<unknown> {
    try {
      return await withTimeout(runtime, OPERATION_TIMEOUT_MS, settle(operation))
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new Error(`expected ${name} to succeed, got error: ${reason}`, { cause: error })
    }
  }

  const trial: Trial = {
    canClaim: store.claim !== undefined,
    key: (name) => `${unique}:${name}`,
    after,
    wait: createWait(runtime),
    async set(key, value, expiresAt = after(3_600_000)) {
      await operate(`set(${show(key)})`, () => store.set(key, value, expiresAt))
    },
    get: (key) => operate(`get(${show(key)})`, () => store.get(key)),
    async claim(key, expiresAt) {
      const call = `claim(${show(key)})`
      const granted = await operate(call, () => store.claim?.(key, expiresAt))
      if (typeof granted === 'boolean') return granted
      throw new Error(`expected ${call} to return true or false, got ${show(granted)}`)
    },
    async expectValue(key, value) {
      expectSame(`get(${show(key)})`, await trial.get(key), value, 'to return')
    },
    async expectMiss(key) {
      const found = await trial.get(key)
      expectThat(`get(${show(key)}) to return no string`, typeof found !== 'string', found)
    },
    async expectClaim(key, expiresAt, granted) {
      expectSame(`claim(${show(key)})`, await trial.claim(key, expiresAt), granted, 'to return')
    },
  }
  return trial
}

/** Turns a thrown exception into a rejection. */
async function settle(operation: () => unknown): Promise<unknown> {
  return operation()
}
