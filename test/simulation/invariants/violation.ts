/** A promise that was broken. */
export class Violation extends Error {
  override readonly name = 'Violation'

  /** `invariant` is `I1` to `I16`. */
  constructor(invariant: string, message: string) {
    super(`${invariant}: ${message}`)
  }
}

/** Ends the simulation: `invariant` (I1 to I16) does not hold, as `message` says. */
export type Violate = (invariant: string, message: string) => void
