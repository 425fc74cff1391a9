import type { Choices } from './currency-select.ts'
import type { View } from './view.ts'

/** One of the parts of the page, each with a question of its own. */
export interface Part {
  /** Puts its controls as `view` says, and asks if that makes another question. */
  show(view: View, choices: Choices): void
  /** Says anew what depends on the time, ms since the Unix epoch. */
  tick(now: number): void
  /** Asks the same again. */
  again(): void
  /** Asks the same again if that failed. */
  recover(): void
}
