/** A completely received response. */
export interface Exchange {
  status: number
  headers: Headers
  text: string
  /** From the request to the end of the body, in ms. */
  elapsed: number
}

/** Sends a request; calls `observe` with its response, which it also returns. */
export async function observedFetch(
  request: Request,
  observe: (exchange: Exchange) => void,
): Promise<Response> {
  const startedAt = performance.now()
  const response = await fetch(request)
  const text = await response.clone().text()
  const { status, headers } = response
  observe({ status, headers, text, elapsed: performance.now() - startedAt })
  return response
}
