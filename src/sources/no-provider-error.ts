import { MAX_REASON, shortened } from './reason.ts'

/** Why one provider returned no usable data. */
export interface ProviderFailure {
  provider: string
  reason: string
}

const SEPARATOR = '; '

const MIN_REASON = 20

/** No provider returned usable data. The message has the reason of each one; `cause` is the last error. */
export class NoProviderError extends Error {
  override readonly name = 'NoProviderError'
  /** How long every provider is in backoff, in ms; 0 where one may be called now. */
  readonly retryAfterMs: number

  constructor(failures: readonly ProviderFailure[], retryAfterMs: number, cause: unknown) {
    const opening = 'no provider returned usable data: '
    // Each provider has an equal share of the length, so that the last one is named, too.
    const share = Math.floor((MAX_REASON - opening.length) / failures.length) - SEPARATOR.length
    const reasons = failures.map(({ provider, reason }) =>
      shortened(`${provider}: ${reason}`, Math.max(share, MIN_REASON)),
    )
    super(shortened(opening + reasons.join(SEPARATOR), MAX_REASON), { cause })
    this.retryAfterMs = retryAfterMs
  }
}

/** Returns the reason of a provider that was not called because it is in backoff for `remaining` ms. */
export function describeBackoff(remaining: number): string {
  const seconds = Math.ceil(remaining / 1_000)
  return `in backoff for ${seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`}`
}
