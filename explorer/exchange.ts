/** A completely received response. */
export interface Exchange {
  status: number
  headers: Headers
  text: string
  /** From the request to the end of the body, in ms. */
  elapsed: number
}

/** Sends a request, and resolves with its response. */
export async function exchange(request: Request): Promise<Exchange> {
  const startedAt = performance.now()
  const response = await fetch(request)
  const text = await response.text()
  const { status, headers } = response
  return { status, headers, text, elapsed: performance.now() - startedAt }
}
