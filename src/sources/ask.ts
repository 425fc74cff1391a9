import { createCooldown, requestedPause } from '../cache/cooldown.ts'
import { runWithin } from '../cache/within.ts'
import type { DataSet } from '../events.ts'
import type { Attribution, ProviderContext } from '../providers/provider.ts'
import { RejectedError } from '../rates/rejected-error.ts'
import { reasonOf } from './reason.ts'
import type { SourcesOptions } from './source-options.ts'

/** How long one provider may take for one call, in ms. */
const CALL_LIMIT: Record<DataSet, number> = { latest: 5_000, history: 10_000, archive: 15_000 }

/** A provider is left alone for as long as its own errors ask for, and no longer. */
const AS_ASKED = { first: 0, longest: 0 }

/** No provider had a good answer; `cause` is what the last one said. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
  /** For how many ms every one of them wants to be left alone; 0 where one may be asked at any time. */
  readonly retryAfterMs: number

  constructor(retryAfterMs: number, cause: unknown) {
    super('no provider has a good answer', { cause })
    this.retryAfterMs = retryAfterMs
  }
}

/** Calls one provider and makes something usable of what it answered. */
export type Ask<Provider, Data> = (provider: Provider, context: ProviderContext) => Promise<Data>

/** Asks the providers in their order for the first good answer, under a signal that ends the whole round. */
export type Round<Provider> = <Data>(signal: AbortSignal, ask: Ask<Provider, Data>) => Promise<Data>

/**
 * Rounds over the providers of one data set, each with a time limit of its own. Every call and its outcome is an event. A
 * provider that asked to be left alone is passed over as long.
 *
 * A round rejects with a `NoAnswerError` where none has a good answer.
 */
export function createRound<Provider extends { attribution: Attribution }>(
  { fetch, runtime, emit }: SourcesOptions,
  dataSet: DataSet,
  providers: readonly Provider[],
): Round<Provider> {
  const pauses = new Map(providers.map((each) => [each, createCooldown(runtime, AS_ASKED)]))
  let failure: unknown

  /** For how long the provider that may be asked soonest wants to be left alone, in ms. */
  function shortestPause(): number {
    return Math.min(...[...pauses.values()].map((pause) => pause.remaining()))
  }

  async function call<Data>(
    provider: Provider,
    signal: AbortSignal,
    ask: Ask<Provider, Data>,
  ): Promise<Data> {
    const about = { dataSet, provider: provider.attribution.name }
    const startedAt = runtime.monotonic()
    emit({ type: 'upstream_asked', ...about })
    try {
      const data = await runWithin(
        runtime,
        CALL_LIMIT[dataSet],
        (limit) => ask(provider, { fetch, signal: limit, now: () => runtime.now() }),
        signal,
      )
      emit({ type: 'upstream_answered', ...about, elapsed: runtime.monotonic() - startedAt })
      return data
    } catch (error) {
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

  return async (signal, ask) => {
    for (const [provider, pause] of pauses) {
      if (pause.remaining() > 0) continue
      try {
        return await call(provider, signal, ask)
      } catch (error) {
        failure = error
        pause.fail(requestedPause(error))
        if (signal.aborted) break
      }
    }
    throw new NoAnswerError(shortestPause(), failure)
  }
}
