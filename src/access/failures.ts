import { reasonOf } from '../events.ts'
import type { RatesEvent } from '../events.ts'

type CountersFailed = Extract<RatesEvent, { type: 'counters_failed' }>

/**
 * Creates the event of a failure. Errors of drivers may quote what they were called with: the event has the reason without
 * keys and without `secret`, and not the error itself, whose properties may contain both.
 */
export function countersFailed(
  operation: CountersFailed['operation'],
  error: unknown,
  secret = '',
): CountersFailed {
  const reason = withoutSecrets(reasonOf(error), secret)
  return { type: 'counters_failed', operation, reason, error: new Error(reason) }
}

/** Returns `text` without keys and without `secret`. */
function withoutSecrets(text: string, secret: string): string {
  const known = secret === '' ? text : text.replaceAll(secret, '…')
  return known.replaceAll(/rsk_[0-9A-Za-z]*/g, 'rsk_…')
}
