/** An answer that came, and was found unusable. */
export class RejectedError extends Error {
  override readonly name = 'RejectedError'
}
