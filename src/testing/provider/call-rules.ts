import { expectSame, expectSameJson, show } from '../expect-same.ts'
import { messageOf } from './trial.ts'
import type { Trial } from './trial.ts'

/** A thing that a provider must do. */
export type Rule<Answer = unknown, Provider = unknown> = (
  trial: Trial<Answer>,
  provider: Provider,
) => Promise<void>

/** How soon a call ends when its signal aborts, in ms. */
export const ABORT_DEADLINE_MS = 1_000

/** What each method of a provider must do, wherever its rates come from. */
export const CALLS: Record<string, Rule> = {
  async 'has a name and a link to show beside its rates'({ subject }) {
    const { name, url } = Object(subject.attribution)
    const isNamed = typeof name === 'string' && name.trim() !== ''
    if (!isNamed) throw new Error(`expected attribution.name to be a text, got ${show(name)}`)
    const isLink = typeof url === 'string' && /^https?:/.test(url) && URL.canParse(url)
    if (!isLink) throw new Error(`expected attribution.url to be a URL, got ${show(url)}`)
  },
  async 'resolves to what the handler accepts'(trial) {
    acceptedOf(trial, await trial.answer())
  },
  async 'has nothing in it that the handler would drop'(trial) {
    const { dropped } = acceptedOf(trial, await trial.answer())
    expectSame('what is dropped', dropped.slice(0, 5).join(', '), '')
  },
  async 'gives the same when it is asked again'(trial) {
    const first = await trial.answer()
    const again = await trial.answer()
    expectSameJson('the second answer', again, first)
  },
  async 'leaves its context as it is'(trial) {
    const call = trial.call()
    const before = Object.entries(call.context)
    await call.outcome()
    const after = new Map(Object.entries(call.context))
    expectSame('the number of its properties', after.size, before.length)
    for (const [name, value] of before) expectSame(`context.${name}`, after.get(name), value)
  },
}

/** What a method must do that makes no requests. */
export const OFFLINE: Record<string, Rule> = {
  async 'makes no requests, as no fetch was given'(trial) {
    const call = trial.call()
    await call.outcome()
    expectSame('the number of requests', call.requests(), 0)
  },
  async 'ends within a second of its signal aborting'(trial) {
    const controller = new AbortController()
    const call = trial.call({ signal: controller.signal })
    controller.abort()
    await call.outcome(ABORT_DEADLINE_MS)
    await trial.call({ signal: controller.signal }).outcome(ABORT_DEADLINE_MS)
  },
}

/** What the handler makes of `answer`. */
export function acceptedOf({ subject, now }: Trial, answer: unknown): { dropped: string[] } {
  try {
    return subject.accept(answer, now)
  } catch (error) {
    throw new Error(`expected ${subject.name} to be accepted, but: ${messageOf(error)}`, {
      cause: error,
    })
  }
}
