import { createCooldown, requestedPause } from '../cache/cooldown.ts'
import { FLIGHT_LIMIT } from '../cache/flight.ts'
import { WAITING_LIMIT } from '../cache/waiting.ts'
import { runWithin } from '../cache/within.ts'
import type { DataSet } from '../events.ts'
import type { Attribution, ProviderContext } from '../providers/provider.ts'
import { RejectedError } from '../rates/rejected-error.ts'
import { firstGood } from './first-good.ts'
import { NoAnswerError, leftAlone } from './no-answer-error.ts'
import { reasonOf } from './reason.ts'
import type { SourcesOptions } from './source-options.ts'

/** How long one provider may take for one call, in ms. */
const CALL_LIMIT: Record<DataSet, number> = { latest: 5_000, history: 10_000, archive: 15_000 }

/** A provider is left alone for as long as its own errors ask for, and no longer. */
const AS_ASKED = { first: 0, longest: 0 }

/** Calls one provider and makes something usable of what it answered. */
type Ask<Provider, Data> = (provider: Provider, context: ProviderContext) => Promise<Data>

/** What a round goes by. */
interface RoundOptions {
  /** Ends the whole round. */
  signal: AbortSignal
  /** Whether anybody waits for it: there is nothing else to answer with. */
  isAwaited: boolean
}

/** Asks the providers in their order for the first good answer. */
export type Round<Provider> = <Data>(
  options: RoundOptions,
  ask: Ask<Provider, Data>,
) => Promise<Data>

/** A round under way. */
interface RoundState<Provider> {
  /** Aborted as soon as one has a good answer. */
  controller: AbortController
  /** What was thrown by those that failed, in the order in which they did. */
  failures: Map<Provider, unknown>
}

/**
 * Rounds over the providers of one data set, each with a time limit of its own. The next is asked as soon as the one
 * before has failed, or beside it when that has had its head start; the first good answer ends the other calls. Every
 * call and its outcome is an event. A provider that asked to be left alone is passed over as long.
 *
 * A round rejects with a `NoAnswerError`, which is an event too, where none has a good answer.
 */
export function createRound<Provider extends { attribution: Attribution }>(
  { fetch, runtime, emit }: SourcesOptions,
  dataSet: DataSet,
  providers: readonly Provider[],
): Round<Provider> {
  const pauses = new Map(providers.map((each) => [each, createCooldown(runtime, AS_ASKED)]))
  let lastFailure: unknown

  async function call<Data>(
    provider: Provider,
    ask: Ask<Provider, Data>,
    { controller, failures }: RoundState<Provider>,
  ): Promise<Data> {
    const about = { dataSet, provider: provider.attribution.name }
    const startedAt = runtime.monotonic()
    emit({ type: 'upstream_asked', ...about })
    try {
      const data = await runWithin(
        runtime,
        CALL_LIMIT[dataSet],
        (limit) => ask(provider, { fetch, signal: limit, now: () => runtime.now() }),
        controller.signal,
      )
      // Of two that answer in one turn of the loop, one is the first.
      controller.signal.throwIfAborted()
      controller.abort(new Error('another provider answered first'))
      emit({ type: 'upstream_answered', ...about, elapsed: runtime.monotonic() - startedAt })
      return data
    } catch (error) {
      failures.set(provider, error)
      pauses.get(provider)?.fail(requestedPause(error))
      const reason = reasonOf(error)
      const elapsed = runtime.monotonic() - startedAt
      if (error instanceof RejectedError) {
        emit({ type: 'rates_rejected', ...about, origin: 'upstream', reason, error })
      } else {
        emit({ type: 'upstream_failed', ...about, elapsed, reason, error })
      }
      throw error
    }
  }

  function noAnswer({ failures }: RoundState<Provider>): NoAnswerError {
    for (const error of failures.values()) lastFailure = error
    const findings = [...pauses].map(([provider, pause]) => {
      const left = pause.remaining()
      const unasked = left > 0 ? leftAlone(left) : 'not asked in time'
      const reason = failures.has(provider) ? reasonOf(failures.get(provider)) : unasked
      return { provider: provider.attribution.name, reason, left }
    })
    const shortest = Math.min(...findings.map(({ left }) => left))
    return new NoAnswerError(findings, shortest, lastFailure)
  }

  return async ({ signal, isAwaited }, ask) => {
    const ready = [...pauses].filter(([, pause]) => pause.remaining() === 0)
    const controller = new AbortController()
    const state: RoundState<Provider> = { controller, failures: new Map() }
    const end = (): void => controller.abort(signal.reason)
    signal.addEventListener('abort', end)
    // So that the last, too, is asked well within the time of those who wait, and then has twice as long as the others.
    const headStart = (isAwaited ? WAITING_LIMIT : FLIGHT_LIMIT) / (ready.length + 1)
    const staggering = { runtime, headStart, signal: controller.signal }
    try {
      return await firstGood(ready, ([provider]) => call(provider, ask, state), staggering)
    } catch {
      const error = noAnswer(state)
      emit({ type: 'refresh_failed', dataSet, reason: error.message, error })
      throw error
    } finally {
      signal.removeEventListener('abort', end)
    }
  }
}
