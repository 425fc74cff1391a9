import type { NodeRequest } from './node-messages.ts'

/** If middleware has read the body before, reads `request.body`. Rejects when the client disconnects or `signal` aborts. */
export function readNodeBody(
  request: NodeRequest,
  onChunk: (chunk: Uint8Array) => void,
  signal: AbortSignal,
): Promise<void> {
  // Requests that a framework imitates may have no stream.
  if (request.readableEnded || !request.on) {
    onChunk(toBytes(request.body))
    return Promise.resolve()
  }
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      request.off?.('data', onChunk)
      request.off?.('end', onEnd)
      request.off?.('close', onClose)
      request.off?.('error', onClose)
      signal.removeEventListener('abort', onAbort)
      request.resume?.()
      if (error) reject(error)
      else resolve()
    }
    const onEnd = (): void => settle()
    const onClose = (): void => settle(new Error('the client has disconnected'))
    const onAbort = (): void =>
      settle(new Error('the rest of the body is not read', { cause: signal.reason }))
    if (request.destroyed) return onClose()
    if (signal.aborted) return onAbort()
    request.on?.('end', onEnd)
    request.on?.('close', onClose)
    request.on?.('error', onClose)
    signal.addEventListener('abort', onAbort)
    return request.on?.('data', onChunk)
  })
}

/** A parser leaves a body that it has read as text, as bytes, or as the value of its JSON. */
function toBytes(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body
  if (body === undefined || body === null) return new Uint8Array()
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
}
