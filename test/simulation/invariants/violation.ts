/** A promise that was broken. */
export class Violation extends Error {
  override readonly name = 'Violation'
  /** `I1` to `I16`. */
  readonly invariant: string

  constructor(invariant: string, message: string) {
    super(`${invariant}: ${message}`)
    this.invariant = invariant
  }
}

/** Ends the simulation: `invariant` (I1 to I16) does not hold, as `message` says. */
export type Violate = (invariant: string, message: string) => void
