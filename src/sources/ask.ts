import { runWithin } from '../cache/within.ts'
import type { DataSet } from '../events.ts'
import type { Attribution, ProviderContext } from '../providers/provider.ts'
import type { Accepted } from '../rates/accept.ts'
import type { SourcesOptions } from './source-options.ts'

/** How long one provider may take for one call, in ms. */
const CALL_LIMIT: Record<DataSet, number> = { latest: 5_000, history: 10_000 }

/** Causes may go round in a circle. */
const DEEPEST_CAUSE = 4

/** A question that any of several providers may answer. */
export interface Question<Provider, Data> {
  dataSet: DataSet
  /** Asked in this order. */
  providers: readonly Provider[]
  /** Aborts the whole round. */
  signal: AbortSignal
  /** Calls one provider and checks what it answered. */
  ask(provider: Provider, context: ProviderContext): Promise<Accepted<Data>>
}

/**
 * The first good answer of the providers in their order, each with a time limit of its own. Every call and its outcome
 * is an event.
 *
 * @throws {Error} the failure of the last provider, where none has a good answer
 */
export async function askInTurn<Provider extends { attribution: Attribution }, Data>(
  { fetch, runtime, emit }: SourcesOptions,
  { dataSet, providers, signal, ask }: Question<Provider, Data>,
): Promise<Data> {
  let failure: unknown = new Error('there is no provider')
  for (const provider of providers) {
    const about = { dataSet, provider: provider.attribution.name }
    const startedAt = runtime.monotonic()
    emit({ type: 'upstream_asked', ...about })
    try {
      const { data, dropped } = await runWithin(
        runtime,
        CALL_LIMIT[dataSet],
        (call) => ask(provider, { fetch, signal: call, now: () => runtime.now() }),
        signal,
      )
      emit({ type: 'upstream_answered', ...about, elapsed: runtime.monotonic() - startedAt })
      if (dropped.length > 0) emit({ type: 'rates_dropped', ...about, dropped })
      return data
    } catch (error) {
      failure = error
      const elapsed = runtime.monotonic() - startedAt
      emit({ type: 'upstream_failed', ...about, elapsed, reason: reasonOf(error), error })
      if (signal.aborted) break
    }
  }
  throw failure
}

/** The messages of an error and of what caused it: `fetch` hides what went wrong on the wire behind "fetch failed". */
function reasonOf(thrown: unknown, depth = 0): string {
  if (typeof thrown === 'string') return thrown
  if (!(thrown instanceof Error)) return `something thrown that is no error: ${typeof thrown}`
  const hasCause = thrown.cause instanceof Error && depth < DEEPEST_CAUSE
  return hasCause ? `${thrown.message}: ${reasonOf(thrown.cause, depth + 1)}` : thrown.message
}
