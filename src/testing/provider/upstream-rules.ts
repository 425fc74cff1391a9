import { show } from '../expect-same.ts'
import { ABORT_DEADLINE_MS } from './call-rules.ts'
import type { Rule } from './call-rules.ts'
import { FAULTS, OTHER_FORMS, answering, withRetryAfter, endless, silent, stuck } from './faults.ts'
import type { Call, Trial } from './trial.ts'
import type { Behaviour } from './upstream.ts'

/** For how long an endless body is let come in, in ms: the handler would wait for seconds. */
const FAULT_TIMEOUT_MS = 300

/** What an upstream asks for that wants to be left alone, in seconds. */
const RETRY_AFTER_SECONDS = 120

/** What each method of a provider must do that makes requests. */
export const REQUESTS: Record<string, Rule> = {
  async 'makes its requests with the fetch of its context'(trial) {
    const call = trial.call()
    await call.outcome()
    expectRequest(call)
  },
  async 'gives up when its signal has aborted already'(trial) {
    await trial.expectFailure(trial.call({ signal: AbortSignal.abort() }), ABORT_DEADLINE_MS)
  },
  'gives up when its signal aborts before there is an answer': (trial) =>
    expectGivenUp(trial, silent, 0),
  'gives up when its signal aborts amid an answer': (trial) => expectGivenUp(trial, stuck, 20),
  'gives up when its signal aborts over an answer without an end': (trial) =>
    expectGivenUp(trial, endless, FAULT_TIMEOUT_MS),
  ...Object.fromEntries(
    Object.entries(FAULTS).map(([what, behaviour]): [string, Rule] => [
      `fails when its upstream ${what}`,
      async (trial) => void (await trial.expectFailure(trial.call({ behaviour }))),
    ]),
  ),
  async 'fails when its upstream answers with JSON of another form'(trial) {
    for (const text of OTHER_FORMS) {
      await trial.expectFailure(trial.call({ behaviour: answering(text) }))
    }
  },
  async 'fails when its upstream can be reached no longer'(trial) {
    await trial.answer()
    const behaviour: Behaviour = () => Promise.reject(new TypeError('fetch failed'))
    await trial.expectFailure(trial.call({ behaviour }))
  },
  async 'asks for no shorter pause than its upstream did'(trial) {
    for (const status of [429, 503]) {
      const call = trial.call({ behaviour: withRetryAfter(status, RETRY_AFTER_SECONDS) })
      expectRetryAfter(Object(await trial.expectFailure(call)).retryAfterMs)
    }
  },
}

/** Expects that a call fails within a second when its signal aborts `delay` ms after its first request. */
async function expectGivenUp(trial: Trial, behaviour: Behaviour, delay: number): Promise<void> {
  const controller = new AbortController()
  const call = trial.call({ behaviour, signal: controller.signal })
  for (let waited = 0; call.requests() === 0 && waited < ABORT_DEADLINE_MS; waited += 1)
    await trial.wait(1)
  expectRequest(call)
  await trial.wait(delay)
  controller.abort()
  await trial.expectFailure(call, ABORT_DEADLINE_MS)
}

function expectRequest(call: Call): void {
  if (call.requests() > 0) return
  throw new Error('expected a request with context.fetch, got none')
}

function expectRetryAfter(retryAfterMs: unknown): void {
  if (retryAfterMs === undefined) return
  if (typeof retryAfterMs === 'number' && retryAfterMs >= RETRY_AFTER_SECONDS * 1_000) return
  throw new Error(
    `expected retryAfterMs to be absent or at least 120000 after Retry-After: 120, got ${show(retryAfterMs)}`,
  )
}
