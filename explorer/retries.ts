import type { RatesError, RatesErrorCode } from 'ratesmith/client'

/** Errors that the same request may avoid later; others concern its parameters. */
const RETRYABLE: readonly RatesErrorCode[] = [
  'rate_limited',
  'provider_unavailable',
  'overloaded',
  'internal_error',
]

const MAX_BACKOFF_SECONDS = 60

/** A monthly limit may end after weeks, for which no timer waits. */
export const MAX_RETRY_DELAY_MS = 3_600_000

export function isRetryable({ code }: RatesError): boolean {
  return RETRYABLE.includes(code)
}

/** Whether another key may help. */
export function isAboutKeys({ code }: RatesError): boolean {
  return code === 'unauthorized' || code === 'forbidden' || code === 'rate_limited'
}

/** Repeats failed requests by `retry`; `show` receives the time until then, in ms. */
export function createRetries(retry: () => void, show: (delay: number) => void) {
  let failures = 0
  return {
    reset(): void {
      failures = 0
    },
    /** Waits for `Retry-After`, or else for 1 s, 2 s, 4 s and so on, at most 60 s; rejects if `signal` aborts. */
    async plan(failure: RatesError, signal: AbortSignal): Promise<void> {
      if (!isRetryable(failure)) return
      const seconds = failure.retryAfter || Math.min(2 ** failures, MAX_BACKOFF_SECONDS)
      failures += 1
      show(seconds * 1_000)
      if (seconds * 1_000 > MAX_RETRY_DELAY_MS) return
      await sleep(seconds * 1_000, signal)
      retry()
    },
  }
}

/** Resolves after `duration` ms; rejects if `signal` aborts. */
export function sleep(duration: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, duration)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}
