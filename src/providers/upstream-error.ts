const MINUTE = 60_000

/** Without a word of its own: a limit on requests per address lifts after 20 minutes, a refusal for good hardly sooner. */
const PAUSE_BY_STATUS: Readonly<Record<number, number>> = {
  401: 15 * MINUTE,
  403: 15 * MINUTE,
  404: 15 * MINUTE,
  410: 15 * MINUTE,
  429: 20 * MINUTE,
}

/** An upstream that refused, or answered with something else than data. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  /** For how many ms it is to be left alone, where that is known. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs?: number, options?: ErrorOptions) {
    super(message, options)
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * For how many ms an upstream that answered so is to be left alone: what its `Retry-After` says (seconds or a date, RFC
 * 9110 §10.2.3), with the clock at `now` (ms since the Unix epoch), else what is due after its status.
 */
export function pauseAfter({ status, headers }: Response, now: number): number | undefined {
  if (status === 200) return undefined
  const text = headers.get('retry-after') ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  // A date begins with the day of the week; the parser would also make one of '1.5'.
  const asked = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) - now : NaN
  return Number.isNaN(asked) ? PAUSE_BY_STATUS[status] : asked
}
