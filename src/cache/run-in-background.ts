import { callSafely } from '../call-safely.ts'

/** Receives every promise of work that continues after the response. */
export type WaitUntil = (work: Promise<unknown>) => void

/** Lets `work` continue after the response, and ignores its rejection. */
export function runInBackground(work: Promise<unknown>, waitUntil: WaitUntil | undefined): void {
  // The work reports its own failures; here they must only not become unhandled rejections.
  const settled = work.then(
    () => undefined,
    () => undefined,
  )
  // Where the hook throws, the work runs as long as the process does.
  callSafely(() => waitUntil?.(settled))
}
