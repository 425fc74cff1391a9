import { afterAll, beforeAll } from 'vitest'

const KINDS = ['unhandledRejection', 'uncaughtException'] as const

/** What escapes from here to the end of the tests of a suite: all that would end a process of Node. */
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

/** Resolves when what has gone wrong so far has been told: that is done after all promises have been seen to. */
export async function turnOfLoop(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1))
}
