import { createBackoff, requestedDelay } from '../cache/backoff.ts'
import { REFRESH_TIMEOUT_MS } from '../cache/single-flight.ts'
import { REQUEST_TIMEOUT_MS } from '../cache/deadline.ts'
import { runWithTimeout } from '../cache/with-timeout.ts'
import type { DataSet } from '../events.ts'
import type { Attribution, ProviderContext } from '../providers/provider.ts'
import { RejectedError } from '../rates/rejected-error.ts'
import { hedge } from './hedge.ts'
import { NoProviderError, describeBackoff } from './no-provider-error.ts'
import { reasonOf } from './reason.ts'
import type { SourcesOptions } from './source-options.ts'

/** How long one provider may take for one call, in ms. */
const CALL_TIMEOUT_MS: Record<DataSet, number> = { latest: 5_000, history: 10_000, archive: 15_000 }

/** A provider is left alone for as long as its own errors ask for, and no longer. */
const NO_BACKOFF = { initial: 0, max: 0 }

/** Calls one provider and makes something usable of what it answered. */
type ProviderCall<Provider, Data> = (provider: Provider, context: ProviderContext) => Promise<Data>

/** What a round goes by. */
interface FailoverOptions {
  /** Ends the whole round. */
  signal: AbortSignal
  /** Whether anybody waits for it: there is nothing else to answer with. */
  isAwaited: boolean
}

/** Asks the providers in their order for the first good answer. */
export type Failover<Provider> = <Data>(
  options: FailoverOptions,
  callProvider: ProviderCall<Provider, Data>,
) => Promise<Data>

/** A round under way. */
interface FailoverState<Provider> {
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
export function createFailover<Provider extends { attribution: Attribution }>(
  { fetch, runtime, emit }: SourcesOptions,
  dataSet: DataSet,
  providers: readonly Provider[],
): Failover<Provider> {
  const backoffs = new Map(providers.map((each) => [each, createBackoff(runtime, NO_BACKOFF)]))
  let lastFailure: unknown

  async function call<Data>(
    provider: Provider,
    callProvider: ProviderCall<Provider, Data>,
    { controller, failures }: FailoverState<Provider>,
  ): Promise<Data> {
    const about = { dataSet, provider: provider.attribution.name }
    const startedAt = runtime.monotonic()
    emit({ type: 'upstream_request', ...about })
    try {
      const data = await runWithTimeout(
        runtime,
        CALL_TIMEOUT_MS[dataSet],
        (limit) => callProvider(provider, { fetch, signal: limit, now: () => runtime.now() }),
        controller.signal,
      )
      // Of two that answer in one turn of the loop, one is the first.
      controller.signal.throwIfAborted()
      controller.abort(new Error('another provider answered first'))
      emit({ type: 'upstream_response', ...about, elapsed: runtime.monotonic() - startedAt })
      return data
    } catch (error) {
      failures.set(provider, error)
      backoffs.get(provider)?.recordFailure(requestedDelay(error))
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

  function failureOf({ failures }: FailoverState<Provider>): NoProviderError {
    for (const error of failures.values()) lastFailure = error
    const findings = [...backoffs].map(([provider, pause]) => {
      const left = pause.remaining()
      const unasked = left > 0 ? describeBackoff(left) : 'not asked in time'
      const reason = failures.has(provider) ? reasonOf(failures.get(provider)) : unasked
      return { provider: provider.attribution.name, reason, left }
    })
    const shortest = Math.min(...findings.map(({ left }) => left))
    return new NoProviderError(findings, shortest, lastFailure)
  }

  return async ({ signal, isAwaited }, callProvider) => {
    const ready = [...backoffs].filter(([, pause]) => pause.remaining() === 0)
    const controller = new AbortController()
    const state: FailoverState<Provider> = { controller, failures: new Map() }
    const end = (): void => controller.abort(signal.reason)
    signal.addEventListener('abort', end)
    // So that the last, too, is asked well within the time of those who wait, and then has twice as long as the others.
    const delay = (isAwaited ? REQUEST_TIMEOUT_MS : REFRESH_TIMEOUT_MS) / (ready.length + 1)
    const hedging = { runtime, delay, signal: controller.signal }
    try {
      return await hedge(ready, ([provider]) => call(provider, callProvider, state), hedging)
    } catch {
      const error = failureOf(state)
      emit({ type: 'refresh_failed', dataSet, reason: error.message, error })
      throw error
    } finally {
      signal.removeEventListener('abort', end)
    }
  }
}
