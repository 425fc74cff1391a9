/** What is known of a failure beside its message; all of it may be absent. */
export interface FailureDetails {
  code?: string
  retryAfter?: number
  isFinal?: boolean
}

/** Why there is no answer, in words for whoever asked. */
export class Failure extends Error {
  /** The API's own code, where it is the API that refused. */
  readonly code: string | undefined
  /** How long to wait before asking again, in seconds, where the server says so. */
  readonly retryAfter: number | undefined
  /** Whether the same question will always fail. */
  readonly isFinal: boolean

  constructor(message: string, { code, retryAfter, isFinal = false }: FailureDetails = {}) {
    super(message)
    this.code = code
    this.retryAfter = retryAfter
    this.isFinal = isFinal
  }
}

/** Why `response`, which is no 200, is one: the API's own words where they are there. */
export async function failureOf(response: Response): Promise<Failure> {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  const waiting = retryAfter > 0 ? { retryAfter } : {}
  // What stands in front of the API may answer with a page of its own.
  const { error } = Object(await response.json().catch(() => undefined))
  const { code, message } = Object(error)
  return typeof code === 'string' && typeof message === 'string'
    ? new Failure(message, { code, isFinal: response.status < 500, ...waiting })
    : new Failure(
        `The server answered ${response.status}, and not in the words of the API`,
        waiting,
      )
}
