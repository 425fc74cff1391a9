import { assertKnownOptions } from '../known-options.ts'
import { DAY_MS, toDay } from '../rates/dates.ts'
import type {
  HistoryDays,
  HistoryProvider,
  LatestProvider,
  LatestTable,
  ProviderContext,
} from '../upstream/provider.ts'
import { fakeProviders } from './fake-providers.ts'
import type { FakeProviders } from './fake-providers.ts'

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

/** Kind of a simulated outage. */
export type FailureKind =
  /** No connection: the call rejects immediately. */
  | 'unreachable'
  /** No response: the call hangs until its signal aborts. */
  | 'timeout'
  /** HTTP 503 with a `Retry-After` of 2 minutes. */
  | 'server-error'
  /** HTTP 429 with a `Retry-After` of 20 minutes. */
  | 'rate-limited'
  /** HTTP 401, as for an expired key; retried after 15 minutes. */
  | 'unauthorized'
  /** A result that is neither a table nor a list of days. */
  | 'malformed'
  /** Half of the rates are NaN, zero or negative. */
  | 'bad-rates'
  /** The rate of `JPY` is NaN. */
  | 'one-bad-rate'
  /** Data from a week ago, as from an upstream that no longer publishes: they are late. */
  | 'outdated'

/** Fails a call; `succeed` makes the call that would succeed. */
type Fail<Data> = (succeed: () => Promise<Data>, context: ProviderContext) => Promise<Data>

interface Failure {
  latest: Fail<LatestTable>
  history: Fail<HistoryDays>
}

type Rates = Record<string, number>

const MINUTE_MS = 60_000

const WEEK_MS = 7 * DAY_MS

const FAILURES: Record<FailureKind, Failure> = {
  unreachable: rejecting(async () => {
    const cause = new TypeError('connect ECONNREFUSED')
    throw new Error('upstream.example did not respond', { cause })
  }),
  timeout: rejecting(hang),
  'server-error': refusing(503, 2 * MINUTE_MS),
  'rate-limited': refusing(429, 20 * MINUTE_MS),
  unauthorized: refusing(401, 15 * MINUTE_MS),
  malformed: {
    latest: async () => JSON.parse('{"message":"Internal error"}'),
    history: async () => JSON.parse('{"message":"Internal error"}'),
  },
  'bad-rates': withRates((rates) => {
    const bad = [NaN, 0, -1]
    const corrupted = Object.entries(rates).map(([code, rate], index) => {
      return [code, index % 2 === 0 ? rate : (bad[index % bad.length] ?? NaN)]
    })
    return Object.fromEntries(corrupted)
  }),
  'one-bad-rate': withRates((rates) => ({ ...rates, JPY: NaN })),
  outdated: {
    async latest(succeed) {
      const { updatedAt, nextUpdateAt, ...table } = await succeed()
      return { ...table, updatedAt: updatedAt - WEEK_MS, nextUpdateAt: nextUpdateAt - WEEK_MS }
    },
    async history(succeed, { now }) {
      const { base, days } = await succeed()
      const last = toDay(now() - WEEK_MS)
      return { base, days: days.filter(({ date }) => date <= last) }
    },
  },
}

function rejecting(reject: (context: ProviderContext) => Promise<never>): Failure {
  return {
    latest: (_, context) => reject(context),
    history: (_, context) => reject(context),
  }
}

function refusing(status: number, retryAfterMs: number): Failure {
  return rejecting(async () => {
    const error = new Error(`upstream.example returned HTTP ${status}`)
    throw Object.assign(error, { retryAfterMs })
  })
}

function withRates(corrupt: (rates: Rates) => Rates): Failure {
  return {
    async latest(succeed) {
      const { rates, ...table } = await succeed()
      return { ...table, rates: corrupt(rates) }
    },
    async history(succeed) {
      const { base, days } = await succeed()
      return { base, days: days.map(({ date, rates }) => ({ date, rates: corrupt(rates) })) }
    },
  }
}

function hang({ signal }: ProviderContext): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = (): void => reject(signal.reason)
    if (signal.aborted) giveUp()
    else signal.addEventListener('abort', giveUp)
  })
}
