import { MAX_REASON, shortened } from './reason.ts'

/** What became of one provider in a round. */
export interface ProviderFailure {
  /** Its name. */
  provider: string
  /** Why there is nothing of it. */
  reason: string
}

const SEPARATOR = '; '

/** Less of a name and a reason would not be worth showing, in characters. */
const MIN_SHARE = 20

/** No provider had a good answer; its message says of each why, and `cause` is what the last one said. */
export class NoProviderError extends Error {
  override readonly name = 'NoAnswerError'
  /** For how many ms every one of them wants to be left alone; 0 where one may be asked at any time. */
  readonly retryAfterMs: number

  constructor(failures: readonly ProviderFailure[], retryAfterMs: number, cause: unknown) {
    const opening = 'no provider has a good answer: '
    // Each has its share of what a reason may take, so that the last is named, too.
    const share = Math.floor((MAX_REASON - opening.length) / failures.length) - SEPARATOR.length
    const reasons = failures.map(({ provider, reason }) =>
      shortened(`${provider}: ${reason}`, Math.max(share, MIN_SHARE)),
    )
    super(shortened(opening + reasons.join(SEPARATOR), MAX_REASON), { cause })
    this.retryAfterMs = retryAfterMs
  }
}

/** What there is to say of a provider that was not asked because it wants to be left alone for `pause` ms. */
export function describeBackoff(pause: number): string {
  const seconds = Math.ceil(pause / 1_000)
  return `left alone for ${seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`}`
}
