import { afterAll, beforeAll } from 'vitest'

const KINDS = ['unhandledRejection', 'uncaughtException'] as const

/** Collects unhandled rejections and uncaught exceptions, which would end a Node process, until the suite ends. */
export function watchEscapes(): readonly unknown[] {
  const escaped: unknown[] = []
  const note = (thrown: unknown): void => void escaped.push(thrown)
  beforeAll(() => {
    for (const kind of KINDS) process.on(kind, note)
  })
  afterAll(() => {
    for (const kind of KINDS) process.off(kind, note)
  })
  return escaped
}

/** Resolves after the runtime has reported the rejections so far, which happens after all promise callbacks. */
export async function turnOfLoop(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1))
}
