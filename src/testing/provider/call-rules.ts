import { expectSame, expectSameJson, expectThat } from '../expect-same.ts'
import { messageOf } from './trial.ts'
import type { Trial } from './trial.ts'

/** A rule of the contract; rejects with an error that states what was expected. */
export type Rule<Data = unknown, Provider = unknown> = (
  trial: Trial<Data>,
  provider: Provider,
) => Promise<void>

/** Time limit for a call to settle after its signal aborts. */
export const ABORT_DEADLINE_MS = 1_000

/** Rules for both methods of providers. */
export const CALLS: Record<string, Rule> = {
  async 'has an attribution with a name and a URL'({ subject }) {
    const { name, url } = Object(subject.attribution)
    const isNamed = typeof name === 'string' && name.trim() !== ''
    expectThat('attribution.name to be a non-empty string', isNamed, name)
    const isLink = typeof url === 'string' && /^https?:/.test(url) && URL.canParse(url)
    expectThat('attribution.url to be an http or https URL', isLink, url)
  },
  async 'resolves to data that the handler accepts'(trial) {
    validatedResultOf(trial, await trial.data())
  },
  async 'resolves to no rates or days that the handler would drop'(trial) {
    const { dropped } = validatedResultOf(trial, await trial.data())
    expectThat('no dropped rates or days', dropped.length === 0, dropped.slice(0, 5).join(', '))
  },
  async 'resolves to the same data on a second call'(trial) {
    const first = await trial.data()
    expectSameJson('the data of the second call', await trial.data(), first)
  },
  async 'does not modify its context'(trial) {
    const call = trial.call()
    const before = Object.entries(call.context)
    await call.outcome()
    const after = new Map(Object.entries(call.context))
    expectSame('the number of properties of the context', after.size, before.length)
    for (const [name, value] of before) expectSame(`context.${name}`, after.get(name), value)
  },
}

/** Rules for methods that send no requests. */
export const OFFLINE: Record<string, Rule> = {
  async 'sends no requests, because the contract has no fetch'(trial) {
    const call = trial.call()
    await call.outcome()
    expectSame('the number of requests', call.requests(), 0)
  },
  async 'settles within 1 s after its signal aborts'(trial) {
    const controller = new AbortController()
    const call = trial.call({ signal: controller.signal })
    controller.abort()
    await call.outcome(ABORT_DEADLINE_MS)
    await trial.call({ signal: controller.signal }).outcome(ABORT_DEADLINE_MS)
  },
}

/** Validates `data` as the handler does; throws if the handler would reject it. */
export function validatedResultOf({ subject, now }: Trial, data: unknown): { dropped: string[] } {
  try {
    return subject.validate(data, now)
  } catch (error) {
    const message = `expected the handler to accept the data of ${subject.name}`
    throw new Error(`${message}, got error: ${messageOf(error)}`, { cause: error })
  }
}
