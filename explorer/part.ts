import type { Choices } from './currency-select.ts'
import type { View } from './view.ts'

/** A section of the page. */
export interface Part {
  /** Updates the controls to `view`, and sends a request if its parameters changed. */
  show(view: View, choices: Choices): void
  /** Updates texts that depend on the time `now`, in ms since the Unix epoch. */
  tick(now: number): void
  /** Repeats the last request. */
  reload(): void
  /** Repeats the last request if it failed. */
  recover(): void
}
