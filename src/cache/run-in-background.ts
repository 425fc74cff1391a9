import { callSafely } from '../call-safely.ts'

/** Given every promise of work that goes on after an answer. */
export type WaitUntil = (work: Promise<unknown>) => void

/** Lets `work` go on behind an answer. */
export function runInBackground(work: Promise<unknown>, waitUntil: WaitUntil | undefined): void {
  // What goes wrong is told where it happens; here it must only not go unhandled.
  const settled = work.then(
    () => undefined,
    () => undefined,
  )
  // A host that takes no more work leaves it to run as long as the process does.
  callSafely(() => waitUntil?.(settled))
}
