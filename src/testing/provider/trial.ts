import { withTimeout } from '../../cache/with-timeout.ts'
import type { LatestTable, ProviderContext } from '../../providers/provider.ts'
import type { Validated } from '../../rates/validate.ts'
import { systemRuntime } from '../../runtime.ts'
import { show } from '../expect-same.ts'
import { createWait } from '../wait.ts'
import type { Wait } from '../wait.ts'
import { HEALTHY, createNetwork } from './upstream.ts'
import type { Behaviour, UpstreamFetch } from './upstream.ts'

/** A call that takes longer than this, in ms, has hung. Runners of tests give up after 5 s, and cannot say on what. */
const CALL_TIMEOUT_MS = 4_000

/** One method of a provider. */
export interface Subject<Answer = unknown> {
  /** What it is called in messages. */
  name: string
  attribution: unknown
  /** Calls it. */
  ask(context: ProviderContext): Promise<Answer>
  /** What the handler makes of an answer; throws where that is nothing. */
  accept(answer: unknown, now: number): Validated<unknown>
}

/** How a call is made. */
interface CallOptions<Answer = unknown> {
  /** How its upstream behaves (default well). */
  behaviour?: Behaviour | undefined
  /** Ends it (default never aborted). */
  signal?: AbortSignal | undefined
  /** Given as `context.previous` (default none). */
  previous?: LatestTable | undefined
  /** What is called (default the subject's `ask`). */
  ask?: Subject<Answer>['ask'] | undefined
}

/** A call that is under way or over. */
export interface Call<Answer = unknown> {
  context: ProviderContext
  /** How many requests it has made of its upstream. */
  requests(): number
  /** How it ends; rejects where it takes longer than `limit` ms (default 4,000). */
  outcome(limit?: number): Promise<Outcome<Answer>>
}

/** How a call ended. */
type Outcome<Answer> = { answer: Answer } | { thrown: unknown }

/** One method of a provider on trial; whatever it should not do rejects with an error that says what was expected. */
export interface Trial<Answer = unknown> {
  subject: Subject<Answer>
  /** The time of the trial, ms since the Unix epoch; it stands still. */
  now: number
  call(options?: CallOptions<Answer>): Call<Answer>
  /** What a call resolves to. */
  answer(options?: CallOptions<Answer>): Promise<Answer>
  /** Expects that `call` rejects, or that the handler refuses what it resolves to. */
  expectFailure(call: Call, limit?: number): Promise<unknown>
  wait: Wait
  /** Ends whatever still goes on. */
  end(): void
}

/** Puts `subject` on trial, at the time of `clock`. */
export function openTrial<Answer>(
  subject: Subject<Answer>,
  clock: (() => number) | undefined,
  upstream: UpstreamFetch = () => Promise.reject(new Error('no fetch was given to the contract')),
): Trial<Answer> {
  const runtime = systemRuntime(clock ?? Date.now)
  const now = runtime.now()
  const over = new AbortController()
  const { name } = subject

  const trial: Trial<Answer> = {
    subject,
    now,
    call({ behaviour = HEALTHY, signal = over.signal, previous, ask = subject.ask } = {}) {
      const network = createNetwork({ runtime, upstream, behaviour, over: over.signal })
      const context: ProviderContext = {
        fetch: network.fetch,
        signal,
        now: () => now,
        ...(previous && { previous }),
      }
      const settled = settle(() => ask(context))
      return {
        context,
        requests: network.requests,
        outcome: (limit = CALL_TIMEOUT_MS) =>
          withTimeout(runtime, limit, settled).catch((error: unknown) => {
            throw new Error(`expected ${name} to settle within ${limit} ms`, { cause: error })
          }),
      }
    },
    async answer(options) {
      const outcome = await trial.call(options).outcome()
      if ('answer' in outcome) return outcome.answer
      throw new Error(`expected ${name} to resolve, but: ${messageOf(outcome.thrown)}`, {
        cause: outcome.thrown,
      })
    },
    async expectFailure(call, limit) {
      const outcome = await call.outcome(limit)
      if ('answer' in outcome) return expectRefused(trial, outcome.answer)
      requireError(name, outcome.thrown)
      return outcome.thrown
    },
    wait: createWait(runtime),
    end: () => over.abort(new Error('the trial is over')),
  }
  return trial
}

async function settle<Answer>(ask: () => Promise<Answer>): Promise<Outcome<Answer>> {
  try {
    return { answer: await ask() }
  } catch (thrown) {
    return { thrown }
  }
}

function expectRefused({ subject, now }: Trial, answer: unknown): void {
  try {
    subject.accept(answer, now)
  } catch {
    return
  }
  const text = JSON.stringify(answer)
  throw new Error(`expected ${subject.name} to reject, but it resolved to ${show(text)}`)
}

/** Whatever else is thrown says nothing in an event. */
export function requireError(name: string, thrown: unknown): void {
  if (thrown instanceof Error) return
  throw new Error(`expected ${name} to reject with an Error, got ${show(thrown)}`)
}

/** What `thrown` says. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : show(thrown)
}
