import { expectThat } from '../expect-same.ts'
import { ABORT_DEADLINE_MS } from './call-rules.ts'
import type { Rule } from './call-rules.ts'
import {
  FAULTS,
  OTHER_FORMS,
  endless,
  respondingWith,
  silent,
  stuck,
  withRetryAfter,
} from './faults.ts'
import type { Call, Trial } from './trial.ts'
import type { Behaviour } from './upstream.ts'

/** Time before an endless body is aborted; the handler would wait for seconds. */
const ENDLESS_BODY_MS = 300

const RETRY_AFTER_SECONDS = 120

/** Rules for methods that send requests. */
export const REQUESTS: Record<string, Rule> = {
  async 'sends its requests with context.fetch'(trial) {
    const call = trial.call()
    await call.outcome()
    expectRequest(call)
  },
  async 'rejects if its signal has already aborted'(trial) {
    await trial.expectFailure(trial.call({ signal: AbortSignal.abort() }), ABORT_DEADLINE_MS)
  },
  'rejects if its signal aborts before the response': (trial) => expectAborted(trial, silent, 0),
  'rejects if its signal aborts during the body': (trial) => expectAborted(trial, stuck, 20),
  'rejects if its signal aborts during an endless body': (trial) =>
    expectAborted(trial, endless, ENDLESS_BODY_MS),
  ...Object.fromEntries(
    Object.entries(FAULTS).map(([fault, behaviour]): [string, Rule] => [
      `rejects if the upstream ${fault}`,
      async (trial) => void (await trial.expectFailure(trial.call({ behaviour }))),
    ]),
  ),
  async 'rejects if the upstream returns JSON of another structure'(trial) {
    for (const text of OTHER_FORMS) {
      await trial.expectFailure(trial.call({ behaviour: respondingWith(text) }))
    }
  },
  async 'rejects if the upstream fails after a success'(trial) {
    await trial.data()
    const behaviour: Behaviour = () => Promise.reject(new TypeError('fetch failed'))
    await trial.expectFailure(trial.call({ behaviour }))
  },
  async 'rejects without a retryAfterMs shorter than Retry-After'(trial) {
    for (const status of [429, 503]) {
      const call = trial.call({ behaviour: withRetryAfter(status, RETRY_AFTER_SECONDS) })
      expectRetryAfter(Object(await trial.expectFailure(call)).retryAfterMs)
    }
  },
}

async function expectAborted(trial: Trial, behaviour: Behaviour, delay: number): Promise<void> {
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
  expectThat('a request with context.fetch', call.requests() > 0, call.requests())
}

function expectRetryAfter(retryAfterMs: unknown): void {
  const min = RETRY_AFTER_SECONDS * 1_000
  const isLongEnough = typeof retryAfterMs === 'number' && retryAfterMs >= min
  const expectation = `retryAfterMs to be undefined or at least ${min} after Retry-After: ${RETRY_AFTER_SECONDS}`
  expectThat(expectation, retryAfterMs === undefined || isLongEnough, retryAfterMs)
}
