/** A response that was received, but is unusable. */
export class RejectedError extends Error {
  override readonly name = 'RejectedError'
}
