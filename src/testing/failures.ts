import { DAY_MS, toDay } from '../rates/dates.ts'
import type { HistoryDays, LatestTable, ProviderContext } from '../upstream/provider.ts'

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
  /** Data from a week ago, as from an upstream that no longer publishes. */
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

/** Implementations of all kinds. */
export const FAILURES: Record<FailureKind, Failure> = {
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
