import type { CacheStore } from '../cache/store.ts'
import type { ContractCase } from './contract-case.ts'
import { expectSame } from './expect-same.ts'
import { openTrial } from './store-trial.ts'
import type { Trial } from './store-trial.ts'

const DAY_MS = 86_400_000

/** For how long a store that counts in seconds may go on refusing a claim that has run out, in ms. */
const MAX_EXPIRY_DELAY_MS = 2_000

/**
 * What every `CacheStore` must do, one case each, for any test runner:
 * `for (const { name, run } of storeContract(() => new Map())) test(name, run)`.
 *
 * Every case makes a store of its own. They may share a backend, with earlier runs too: nothing is cleared, and keys are
 * new in every run but for `__proto__` and `constructor`. A store without `claim` passes what is asked of claims. Runs by
 * the machine's clock, for some 100 ms.
 */
export function storeContract(create: () => CacheStore | Promise<CacheStore>): ContractCase[] {
  const claims = Object.entries(CLAIMS).map(([name, rule]): [string, Rule] => [
    name,
    async (trial) => (trial.canClaim ? rule(trial) : undefined),
  ])
  return [...Object.entries(TEXTS), ...claims].map(([name, rule]) => ({
    name,
    run: async () => rule(openTrial(await create())),
  }))
}

type Rule = (trial: Trial) => Promise<void>

const TEXTS: Record<string, Rule> = {
  async 'has no text for a key that was never set'({ key, expectMiss }) {
    await expectMiss(key('never'))
    await expectMiss('toString')
  },
  async 'gives back the text that was set, however often'({ key, set, expectText }) {
    await set(key('a'), '{"v":1}')
    for (const _ of [1, 2, 3]) await expectText(key('a'), '{"v":1}')
  },
  async 'puts a later text in the place of an earlier one'({ key, set, expectText }) {
    for (const text of ['a long first text', 'second', 'third']) {
      await set(key('a'), text)
      await expectText(key('a'), text)
    }
  },
  async 'lets no key disturb another'({ key, set, expectText, expectMiss }) {
    await Promise.all([set(key('a'), 'one'), set(key('b'), 'two')])
    await set(key('a'), 'three')
    await expectText(key('b'), 'two')
    await expectText(key('a'), 'three')
    await expectMiss(key('c'))
  },
  async 'keeps keys apart, however odd'({ key, set, expectText }) {
    const keys = [...ODD_ENDINGS.map(key), '__proto__', 'constructor']
    for (const odd of keys) await set(odd, key(odd))
    for (const odd of keys) await expectText(odd, key(odd))
  },
  async 'keeps keys of 300 characters apart that differ in the last'({ key, set, expectText }) {
    const start = key('').padEnd(299, 'x')
    await set(`${start}1`, 'one')
    await set(`${start}2`, 'two')
    await expectText(`${start}1`, 'one')
  },
  async 'changes nothing about a text'({ key, set, expectText }) {
    for (const [index, text] of ODD_TEXTS.entries()) {
      await set(key(`text ${index}`), text)
      await expectText(key(`text ${index}`), text)
    }
  },
  async 'holds a text of a million characters'({ key, set, expectText }) {
    const text = '{"EUR":0.85,"note":"\\u2116 ü"}\n'.repeat(40_000).slice(0, 1_000_000)
    await set(key('large'), text)
    await expectText(key('large'), text)
  },
  async 'has one text whole where many were set at once'({ key, set, get, expectText }) {
    const texts = Array.from({ length: 20 }, (_, index) => `${index};`.repeat(9_000 - 400 * index))
    await Promise.all(texts.map((text) => set(key('a'), text)))
    const found = await get(key('a'))
    const survivor = texts.find((text) => text === found)
    if (survivor === undefined) throw new Error('expected one of the 20 texts that were set, whole')
    await expectText(key('a'), survivor)
  },
  async 'keeps a text until it expires, be that soon or in 30 days'({ key, after, set, ...trial }) {
    await set(key('soon'), 'one', after(10_000))
    await set(key('far'), 'two', after(30 * DAY_MS))
    await trial.wait(40)
    await trial.expectText(key('soon'), 'one')
    await trial.expectText(key('far'), 'two')
  },
  async 'takes a text that has expired already, and the next one too'({ key, after, ...trial }) {
    await trial.set(key('a'), 'old', after(-DAY_MS))
    await trial.get(key('a'))
    await trial.set(key('a'), 'older', 0)
    await trial.set(key('a'), 'new')
    await trial.expectText(key('a'), 'new')
  },
}

/** What keys end with, after a part of their own: traps of paths, URLs, patterns, letter cases and encodings. */
const ODD_ENDINGS = [
  '',
  '\n',
  'a ',
  'a b',
  ...`a A a:b a/b a_b a-b a.b a+b a%20b a%2Fb a\\b a/ b a/../b ./b ../b ?b #b * a* " '`.split(' '),
  ...'ü u\u0308 汇率 💱 ﬁ fi ſ s'.split(' '),
]

const ODD_TEXTS = [
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
  async 'grants a claim to one of 50 who ask at once'({ key, after, claim, expectClaim }) {
    const expiresAt = after(10_000)
    const answers = await Promise.all(Array.from({ length: 50 }, () => claim(key('a'), expiresAt)))
    expectSame('the number of claims granted', answers.filter(Boolean).length, 1)
    await expectClaim(key('a'), after(20_000), false)
  },
  async 'grants claims of different keys apart'({ key, after, expectClaim }) {
    await expectClaim(key('a'), after(10_000), true)
    await expectClaim(key('b'), after(10_000), true)
    await expectClaim(key('A'), after(10_000), true)
  },
  async 'keeps claims away from texts'({ key, after, set, expectText, ...trial }) {
    await set(key('set'), 'text')
    await trial.expectClaim(key('set'), after(10_000), true)
    await expectText(key('set'), 'text')
    await trial.expectClaim(key('unset'), after(10_000), true)
    await trial.expectMiss(key('unset'))
  },
  async 'holds a claim until it runs out, whatever is set'({ key, after, set, ...trial }) {
    await trial.expectClaim(key('a'), after(10_000), true)
    await set(key('a'), 'text')
    await trial.wait(40)
    await trial.expectClaim(key('a'), after(10_000), false)
  },
  async 'grants a claim again when it has run out'(trial) {
    const key = trial.key('a')
    await trial.expectClaim(key, trial.after(30), true)
    await expectGrantedSoon(trial, key)
  },
  async 'is not blocked by a claim that has expired already'(trial) {
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
        `expected a claim to be granted within ${MAX_EXPIRY_DELAY_MS} ms of the end of another`,
      )
    }
    await wait(20)
  }
}
