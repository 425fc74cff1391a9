import { sleep, systemRuntime, withTimeout } from '../async.ts'
import type { CacheStore } from '../cache/store.ts'
import { DAY_MS } from '../rates/dates.ts'
import { expectSame, expectThat, show } from './contract.ts'
import type { ContractCase } from './contract.ts'

/** Tolerates stores that round expiry times to seconds. */
const MAX_EXPIRY_DELAY_MS = 2_000

/**
 * Returns test cases, for any test runner, that check what every `CacheStore` must do.
 *
 * Every case calls `create`. The stores may share a backend, even with earlier runs: nothing is cleared, and keys are unique
 * to a run, except `__proto__` and `constructor`. A store without `claim` passes the cases on claims. The cases use the real
 * clock and take about 100 ms.
 *
 * @example
 * ```ts
 * import { test } from 'node:test'
 * import { createMemoryStore } from 'ratesmith/stores/memory'
 * import { storeContract } from 'ratesmith/testing'
 *
 * for (const { name, run } of storeContract(() => createMemoryStore())) test(name, run)
 * ```
 */
export function storeContract(create: () => CacheStore | Promise<CacheStore>): ContractCase[] {
  const claims = Object.entries(CLAIMS).map(([name, rule]): [string, Rule] => [
    name,
    async (trial) => (trial.canClaim ? rule(trial) : undefined),
  ])
  return [...Object.entries(VALUES), ...claims].map(([name, rule]) => ({
    name,
    run: async () => rule(openTrial(await create())),
  }))
}

type Rule = (trial: Trial) => Promise<void>

const VALUES: Record<string, Rule> = {
  async 'returns no string for a key that was never set'({ key, expectMiss }) {
    await expectMiss(key('never'))
    await expectMiss('toString')
  },
  async 'returns a stored value on every read'({ key, set, expectValue }) {
    await set(key('a'), '{"v":1}')
    for (const _ of [1, 2, 3]) await expectValue(key('a'), '{"v":1}')
  },
  async 'returns the value last set'({ key, set, expectValue }) {
    for (const value of ['a long first value', 'second', 'third']) {
      await set(key('a'), value)
      await expectValue(key('a'), value)
    }
  },
  async 'stores the values of different keys separately'({ key, set, expectValue, expectMiss }) {
    await Promise.all([set(key('a'), 'one'), set(key('b'), 'two')])
    await set(key('a'), 'three')
    await expectValue(key('b'), 'two')
    await expectValue(key('a'), 'three')
    await expectMiss(key('c'))
  },
  async 'distinguishes keys with special characters, spaces and capitals'(trial) {
    const { key, set, expectValue } = trial
    const keys = [...ODD_ENDINGS.map(key), '__proto__', 'constructor']
    for (const odd of keys) await set(odd, key(odd))
    for (const odd of keys) await expectValue(odd, key(odd))
  },
  async 'distinguishes keys of 300 characters that differ in the last one'(trial) {
    const { key, set, expectValue } = trial
    const start = key('').padEnd(299, 'x')
    await set(`${start}1`, 'one')
    await set(`${start}2`, 'two')
    await expectValue(`${start}1`, 'one')
  },
  async 'returns values unchanged'({ key, set, expectValue }) {
    for (const [index, value] of ODD_VALUES.entries()) {
      await set(key(`value ${index}`), value)
      await expectValue(key(`value ${index}`), value)
    }
  },
  async 'stores a value of 1,000,000 characters'({ key, set, expectValue }) {
    const value = '{"EUR":0.85,"note":"\\u2116 ü"}\n'.repeat(40_000).slice(0, 1_000_000)
    await set(key('large'), value)
    await expectValue(key('large'), value)
  },
  async 'returns one complete value after 20 concurrent writes'({ key, set, get, expectValue }) {
    const values = Array.from({ length: 20 }, (_, index) => `${index};`.repeat(9_000 - 400 * index))
    await Promise.all(values.map((value) => set(key('a'), value)))
    const found = await get(key('a'))
    const survivor = values.find((value) => value === found)
    expectThat('one of the 20 written values', survivor !== undefined, found)
    await expectValue(key('a'), String(survivor))
  },
  async 'keeps a value until it expires, in 10 seconds or 30 days'({ key, after, set, ...trial }) {
    await set(key('soon'), 'one', after(10_000))
    await set(key('far'), 'two', after(30 * DAY_MS))
    await trial.wait(40)
    await trial.expectValue(key('soon'), 'one')
    await trial.expectValue(key('far'), 'two')
  },
  async 'accepts a value that has already expired, and the next value'({ key, after, ...trial }) {
    await trial.set(key('a'), 'old', after(-DAY_MS))
    await trial.get(key('a'))
    await trial.set(key('a'), 'older', 0)
    await trial.set(key('a'), 'new')
    await trial.expectValue(key('a'), 'new')
  },
}

/** Ends of keys that break stores by paths, URLs, patterns, letter cases or encodings. */
const ODD_ENDINGS = [
  '',
  '\n',
  'a ',
  'a b',
  ...`a A a:b a/b a_b a-b a.b a+b a%20b a%2Fb a\\b a/ b a/../b ./b ../b ?b #b * a* " '`.split(' '),
  ...'ü u\u0308 汇率 💱 ﬁ fi ſ s'.split(' '),
]

const ODD_VALUES = [
  '',
  ' ',
  ' a ',
  '\t\n',
  'a\r\nb\n',
  '{"b": 1, "a": 2}',
  'ü 汇率 💱',
  ...`[1] 0 1.50 1e999 null undefined true "quoted" " ' \\ \\n %41 <&> $1 \${1}`.split(' '),
]

const CLAIMS: Record<string, Rule> = {
  async 'grants exactly one of 50 concurrent claims'({ key, after, claim, expectClaim }) {
    const expiresAt = after(10_000)
    const granted = await Promise.all(Array.from({ length: 50 }, () => claim(key('a'), expiresAt)))
    expectSame('the number of granted claims', granted.filter(Boolean).length, 1)
    await expectClaim(key('a'), after(20_000), false)
  },
  async 'grants claims of different keys independently'({ key, after, expectClaim }) {
    await expectClaim(key('a'), after(10_000), true)
    await expectClaim(key('b'), after(10_000), true)
    await expectClaim(key('A'), after(10_000), true)
  },
  async 'stores claims and values separately'({ key, after, set, expectValue, ...trial }) {
    await set(key('set'), 'value')
    await trial.expectClaim(key('set'), after(10_000), true)
    await expectValue(key('set'), 'value')
    await trial.expectClaim(key('unset'), after(10_000), true)
    await trial.expectMiss(key('unset'))
  },
  async 'keeps a claim until it expires, even if a value is set'({ key, after, set, ...trial }) {
    await trial.expectClaim(key('a'), after(10_000), true)
    await set(key('a'), 'value')
    await trial.wait(40)
    await trial.expectClaim(key('a'), after(10_000), false)
  },
  async 'grants a claim again after it expires'(trial) {
    const key = trial.key('a')
    await trial.expectClaim(key, trial.after(30), true)
    await expectGrantedSoon(trial, key)
  },
  async 'grants a claim after one with a past expiry time'(trial) {
    const key = trial.key('a')
    await trial.claim(key, trial.after(-DAY_MS))
    await trial.claim(key, 0)
    await expectGrantedSoon(trial, key)
  },
}

async function expectGrantedSoon({ claim, after, wait }: Trial, key: string): Promise<void> {
  const deadline = after(MAX_EXPIRY_DELAY_MS)
  while (!(await claim(key, after(10_000)))) {
    if (after(0) > deadline) {
      throw new Error(
        `expected a claim to be granted within ${MAX_EXPIRY_DELAY_MS} ms after another one expired`,
      )
    }
    await wait(20)
  }
}

/** Below the 5 s of test runners, whose timeout names no operation. */
const OPERATION_TIMEOUT_MS = 4_000

interface Trial {
  readonly canClaim: boolean
  /** Returns a key that ends with `name` and is unique even among runs against the same backend. */
  key(name: string): string
  /** Returns the time `delay` ms from now, in ms since the Unix epoch. */
  after(delay: number): number
  wait(duration: number): Promise<void>
  /** Sets a value that expires at `expiresAt` (default: in an hour). */
  set(key: string, value: string, expiresAt?: number): Promise<void>
  get(key: string): Promise<unknown>
  claim(key: string, expiresAt: number): Promise<boolean>
  expectValue(key: string, value: string): Promise<void>
  expectMiss(key: string): Promise<void>
  expectClaim(key: string, expiresAt: number, granted: boolean): Promise<void>
}

function openTrial(store: CacheStore): Trial {
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
    wait: (duration) => sleep(runtime, duration),
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

async function settle(operation: () => unknown): Promise<unknown> {
  return operation()
}
