import { existsSync } from 'node:fs'

import { beforeEach, describe } from 'vitest'

import { RUNTIMES } from './runtimes.ts'
import type { Runtime } from './runtimes.ts'

/** Skips the test where `program` is not installed; on CI that is a failure. */
export function requireProgram(
  name: string,
  program: string,
  skip: (reason: string) => never,
): void {
  if (existsSync(program)) return
  if (process.env['CI']) throw new Error(`${name} is missing ${program}`)
  skip(`${name} is not installed ${program}`)
}

/** A suite for each runtime, skipped where that is not installed; on CI that is a failure. */
export function describeRuntimes(title: string, suite: (runtime: Runtime) => void): void {
  describe.each(RUNTIMES)(`${title} on %s`, (...runtime) => {
    const [name, program] = runtime
    beforeEach(({ skip }) => requireProgram(name, program, skip))
    suite(runtime)
  })
}
