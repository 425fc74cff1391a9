import type { CacheStore } from '../cache/store.ts'
import { withTimeout } from '../cache/with-timeout.ts'
import { systemRuntime } from '../runtime.ts'
import { expectSame, show } from './expect-same.ts'
import { createWait } from './wait.ts'
import type { Wait } from './wait.ts'

/** A store that takes longer than this over one operation, in ms, has hung. Runners of tests give up after 5 s, and cannot say on what. */
const OPERATION_TIMEOUT_MS = 4_000

/** One store on trial; whatever it should not do rejects with an error that says what was expected. */
export interface Trial {
  readonly canClaim: boolean
  /** A key that nobody else uses, not even an earlier run against the same backend; it ends with `name`. */
  key(name: string): string
  /** The moment `delay` ms from now, in ms since the Unix epoch. */
  after(delay: number): number
  wait: Wait
  /** Without `expiresAt` the text may be evicted in an hour. */
  set(key: string, text: string, expiresAt?: number): Promise<void>
  get(key: string): Promise<unknown>
  claim(key: string, expiresAt: number): Promise<boolean>
  expectText(key: string, text: string): Promise<void>
  expectMiss(key: string): Promise<void>
  expectClaim(key: string, expiresAt: number, granted: boolean): Promise<void>
}

/** Puts `store` on trial. */
export function openTrial(store: CacheStore): Trial {
  const runtime = systemRuntime(Date.now)
  const unique = `contract:${runtime.now().toString(36)}${runtime.random().toString(36).slice(2)}`
  const after = (delay: number): number => runtime.now() + delay

  async function operate(name: string, operation: () => unknown): Promise<unknown> {
    try {
      return await withTimeout(runtime, OPERATION_TIMEOUT_MS, settle(operation))
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new Error(`expected ${name} to work, but: ${reason}`, { cause: error })
    }
  }

  const trial: Trial = {
    canClaim: store.claim !== undefined,
    key: (name) => `${unique}:${name}`,
    after,
    wait: createWait(runtime),
    async set(key, text, expiresAt = after(3_600_000)) {
      await operate(`set(${show(key)})`, () => store.set(key, text, expiresAt))
    },
    get: (key) => operate(`get(${show(key)})`, () => store.get(key)),
    async claim(key, expiresAt) {
      const call = `claim(${show(key)})`
      const answer = await operate(call, () => store.claim?.(key, expiresAt))
      if (typeof answer === 'boolean') return answer
      throw new Error(`expected ${call} to give true or false, got ${show(answer)}`)
    },
    async expectText(key, text) {
      expectSame(`get(${show(key)})`, await trial.get(key), text, 'to give')
    },
    async expectMiss(key) {
      const answer = await trial.get(key)
      if (typeof answer !== 'string') return
      throw new Error(`expected get(${show(key)}) to give no text, got ${show(answer)}`)
    },
    async expectClaim(key, expiresAt, granted) {
      expectSame(`claim(${show(key)})`, await trial.claim(key, expiresAt), granted, 'to give')
    },
  }
  return trial
}

/** The result of `operation`, which may be a value, a promise or a throw. */
async function settle(operation: () => unknown): Promise<unknown> {
  return operation()
}
