import { reasonOf } from '../core.ts'
import type { Emit, Runtime } from '../core.ts'
import type { RatesEvent } from '../index.ts'

/** A limit of a plan. */
export interface Limit {
  /** Name in the header fields: `burst` or `month`. */
  readonly name: string
  /** What may be used in one window, in requests. */
  readonly quota: number
  /** Length of the window in ms, or `'month'` for calendar months in UTC. */
  readonly window: number | 'month'
}

/** The state of one limit after a decision. */
export interface LimitState {
  /** What is left, in whole requests. */
  remaining: number
  /** Time until the limit has its whole quota again, in ms. */
  reset: number
  /** Time until the refused cost is available, in ms; 0 where this limit did not refuse it. */
  wait: number
}

/** The decision about a cost: taken from all limits, or from none. */
export interface Decision {
  readonly granted: boolean
  /** In the order of the limits; empty where the counters failed. */
  readonly states: readonly LimitState[]
  /** Gives back `cost` or less of what was granted, as far as no refill has replaced it (default: nothing is given back). */
  giveBack?(cost: number): void
}

/** What counters use of their handler. */
export interface CountersContext {
  runtime: Runtime
  emit: Emit
}

/** Counts what clients use. */
export interface Counters {
  /** Called once for each handler. */
  open(context: CountersContext): OpenCounters
}

/** Counters in use. */
export interface OpenCounters {
  /**
   * Takes `cost` from all `limits` of `client`, or from none; a cost of 0 only reads their state. Returns a promise only if it
   * has to wait; rejects when the counters fail.
   */
  take(client: string, limits: readonly Limit[], cost: number): Decision | Promise<Decision>
  /** Ends timers; does not end the connection of a client that was passed in. */
  close(): void
}

type CountersFailed = Extract<RatesEvent, { type: 'counters_failed' }>

/**
 * Errors of drivers may quote what they were called with: the event has the reason without
 * keys and without `secret`, a key or the name of a client, and not the error itself, whose properties may contain both.
 */
export function countersFailed(
  operation: CountersFailed['operation'],
  error: unknown,
  secret = '',
): CountersFailed {
  const reason = withoutSecrets(reasonOf(error), secret.replace(/^(key|address):/, ''))
  return { type: 'counters_failed', operation, reason, error: new Error(reason) }
}

function withoutSecrets(text: string, secret: string): string {
  const known = secret === '' ? text : text.replaceAll(secret, '…')
  return known.replaceAll(/rsk_[0-9A-Za-z]*/g, 'rsk_…')
}
