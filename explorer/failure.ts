/** Optional details of a failure. */
export interface FailureDetails {
  /** Error code of the API; absent for other failures. */
  code?: string
  /** Value of `Retry-After`, in seconds. */
  retryAfter?: number
  /** Whether the same request will always fail (default false). */
  isFinal?: boolean
}

/** A failed request, with a message for the user. */
export class Failure extends Error {
  readonly code: string | undefined
  readonly retryAfter: number | undefined
  readonly isFinal: boolean

  constructor(message: string, { code, retryAfter, isFinal = false }: FailureDetails = {}) {
    super(message)
    this.code = code
    this.retryAfter = retryAfter
    this.isFinal = isFinal
  }
}

/** Reads the failure from an error response: the error of the API, or the status of any other response. */
export async function failureOf(response: Response): Promise<Failure> {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  const waiting = retryAfter > 0 ? { retryAfter } : {}
  // A proxy in front of the API may return an error page.
  const { error } = Object(await response.json().catch(() => undefined))
  const { code, message } = Object(error)
  return typeof code === 'string' && typeof message === 'string'
    ? new Failure(message, { code, isFinal: response.status < 500, ...waiting })
    : new Failure(`The server returned an unknown error with status ${response.status}`, waiting)
}
