import { assertKnownOptions } from '../known-options.ts'
import type { HistoryProvider, LatestProvider, ProviderContext } from '../providers/provider.ts'
import { FAILURES } from './failures.ts'
import type { FailureKind } from './failures.ts'
import { fakeProviders } from './fake-providers.ts'
import type { FakeProviders } from './fake-providers.ts'

export type { FailureKind } from './failures.ts'

/** Options of `failingProvider`. Calls for latest rates and for history are counted apart. */
export interface FailingProviderOptions {
  /** How many calls go well before the first that fails (default 0). */
  after?: number | undefined
  /** How many calls fail before they go well again (default all that follow). */
  times?: number | undefined
  /** Who answers the calls that go well, and whose answers are spoilt (default `fakeProviders()`). */
  providers?: FakeProviders | undefined
}

/** A provider of both data sets. */
export interface FailingProvider extends LatestProvider, HistoryProvider {}

/**
 * A provider that fails as upstreams do, for `providers.latest`, `providers.history` or both: at once, after some calls
 * that go well (`after: 1` is an upstream that dies), or for a while (`times: 1` is one that recovers).
 *
 * @throws {TypeError} for a kind that there is none of, or a count that is none
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
  const failsLatest = createTurn(after, times)
  const failsHistory = createTurn(after, times)

  return {
    attribution: {
      name: `Failing provider (${kind})`,
      url: 'https://www.npmjs.com/package/ratesmith',
    },
    async fetchLatest(context: ProviderContext) {
      const answer = () => latest.fetchLatest(context)
      return failsLatest() ? failure.latest(answer, context) : answer()
    },
    async fetchHistory(range: { start: string; end: string }, context: ProviderContext) {
      const answer = () => history.fetchHistory(range, context)
      return failsHistory() ? failure.history(answer, context) : answer()
    },
  }
}

/** Says of one call after the other whether it is to fail. */
function createTurn(after: number, times: number): () => boolean {
  let calls = 0
  return () => {
    calls += 1
    return calls > after && calls <= after + times
  }
}

function requireCount(counts: Record<string, number>): void {
  for (const [name, count] of Object.entries(counts)) {
    if (count >= 0 && (Number.isInteger(count) || count === Infinity)) continue
    throw new TypeError(`${name} must be a whole number of calls, 0 or more, got ${count}`)
  }
}
