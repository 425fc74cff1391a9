import type { HistoryDays, LatestTable, ProviderContext } from '../providers/provider.ts'
import { DAY_MS, toDay } from '../rates/day.ts'

/** The usual disasters of an upstream. */
export type FailureKind =
  /** No connection: the call rejects at once. */
  | 'unreachable'
  /** No answer: the call hangs until its signal aborts. */
  | 'timeout'
  /** A status of 503 that asks for a pause of two minutes. */
  | 'server-error'
  /** A status of 429: left alone for 20 minutes. */
  | 'rate-limited'
  /** A status of 401, as for a key that has run out: left alone for 15 minutes. */
  | 'unauthorized'
  /** An answer that is neither a table nor days. */
  | 'malformed'
  /** Half of the rates are not numbers, zero or negative. */
  | 'bad-rates'
  /** The rate of `JPY` is not a number. */
  | 'one-bad-rate'
  /** What was published a week ago, as from an upstream that stands still. */
  | 'outdated'

/** What becomes of a call, given the good `answer` to it. */
type Outcome<Data> = (answer: () => Promise<Data>, context: ProviderContext) => Promise<Data>

interface Failure {
  latest: Outcome<LatestTable>
  history: Outcome<HistoryDays>
}

type Rates = Record<string, number>

const MINUTE_MS = 60_000

const WEEK_MS = 7 * DAY_MS

/** What each kind does. */
export const FAILURES: Record<FailureKind, Failure> = {
  unreachable: rejecting(async () => {
    const cause = new TypeError('connect ECONNREFUSED')
    throw new Error('upstream.example did not answer', { cause })
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
    const spoilt = Object.entries(rates).map(([code, rate], index) => {
      return [code, index % 2 === 0 ? rate : (bad[index % bad.length] ?? NaN)]
    })
    return Object.fromEntries(spoilt)
  }),
  'one-bad-rate': withRates((rates) => ({ ...rates, JPY: NaN })),
  outdated: {
    async latest(answer) {
      const { updatedAt, nextUpdateAt, ...table } = await answer()
      return { ...table, updatedAt: updatedAt - WEEK_MS, nextUpdateAt: nextUpdateAt - WEEK_MS }
    },
    async history(answer, { now }) {
      const { base, days } = await answer()
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
    const error = new Error(`upstream.example answered with status ${status}`)
    throw Object.assign(error, { retryAfterMs })
  })
}

function withRates(spoil: (rates: Rates) => Rates): Failure {
  return {
    async latest(answer) {
      const { rates, ...table } = await answer()
      return { ...table, rates: spoil(rates) }
    },
    async history(answer) {
      const { base, days } = await answer()
      return { base, days: days.map(({ date, rates }) => ({ date, rates: spoil(rates) })) }
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
