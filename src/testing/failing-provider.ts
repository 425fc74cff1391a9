import { assertKnownOptions } from '../known-options.ts'
import type { HistoryProvider, LatestProvider, ProviderContext } from '../upstream/provider.ts'
import { FAILURES } from './failures.ts'
import type { FailureKind } from './failures.ts'
import { fakeProviders } from './fake-providers.ts'
import type { FakeProviders } from './fake-providers.ts'

export type { FailureKind } from './failures.ts'

/** Options of `failingProvider`. Calls for latest rates and for history are counted separately. */
export interface FailingProviderOptions {
  /** Number of calls that succeed before the first failure (default 0). */
  after?: number | undefined
  /** Number of calls that fail before calls succeed again (default `Infinity`). */
  times?: number | undefined
  /** Providers of the data that successful calls return and failing calls corrupt (default `fakeProviders()`). */
  providers?: FakeProviders | undefined
}

/** A provider of latest rates and of history. */
export interface FailingProvider extends LatestProvider, HistoryProvider {}

/**
 * Creates a provider that simulates an outage, for `providers.latest`, `providers.history` or both. By default every call
 * fails; with `after: 1` the upstream fails after one success, and with `times: 1` it recovers after one failure.
 *
 * @throws {TypeError} for an unknown kind, or a count that is not a non-negative integer or `Infinity`
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { failingProvider } from 'ratesmith/testing'
 *
 * const latest = failingProvider('unreachable')
 * const { rates } = createRatesHandler({ providers: { latest } })
 * await rates.latest().catch((error) => console.log(error.code)) // provider_unavailable
 * ```
 */
export function failingProvider(
  kind: FailureKind,
  options: FailingProviderOptions = {},
): FailingProvider {
  const { after = 0, times = Infinity, providers = fakeProviders() } = options
  assertKnownOptions(options, { after, times, providers })
  if (!Object.hasOwn(FAILURES, kind)) {
    throw new TypeError(`kind must be one of ${Object.keys(FAILURES).join(', ')}, got ${kind}`)
  }
  requireCount({ after, times })
  const { latest, history } = providers
  const failure = FAILURES[kind]
  const failsLatest = createFailureCounter(after, times)
  const failsHistory = createFailureCounter(after, times)

  return {
    attribution: {
      name: `Failing provider (${kind})`,
      url: 'https://www.npmjs.com/package/ratesmith',
    },
    async fetchLatest(context: ProviderContext) {
      const succeed = () => latest.fetchLatest(context)
      return failsLatest() ? failure.latest(succeed, context) : succeed()
    },
    async fetchHistory(range: { start: string; end: string }, context: ProviderContext) {
      const succeed = () => history.fetchHistory(range, context)
      return failsHistory() ? failure.history(succeed, context) : succeed()
    },
  }
}

function createFailureCounter(after: number, times: number): () => boolean {
  let calls = 0
  return () => {
    calls += 1
    return calls > after && calls <= after + times
  }
}

function requireCount(counts: Record<string, number>): void {
  for (const [name, count] of Object.entries(counts)) {
    if (count >= 0 && (Number.isInteger(count) || count === Infinity)) continue
    throw new TypeError(`${name} must be a non-negative integer or Infinity, got ${count}`)
  }
}
