import { existsSync } from 'node:fs'

import { beforeEach, describe } from 'vitest'

import { RUNTIMES } from './runtimes.ts'
import type { Runtime } from './runtimes.ts'

/** Skips the test if `program` is not installed, or fails it on CI. */
export function requireProgram(
  name: string,
  program: string,
  skip: (reason: string) => never,
): void {
  if (existsSync(program)) return
  if (process.env['CI']) throw new Error(`${name} is not installed: ${program}`)
  skip(`${name} is not installed: ${program}`)
}

/** Defines a suite for each runtime. Missing runtimes are skipped, and fail on CI. */
export function describeRuntimes(title: string, suite: (runtime: Runtime) => void): void {
  describe.each(RUNTIMES)(`${title} on %s`, (...runtime) => {
    const [name, program] = runtime
    beforeEach(({ skip }) => requireProgram(name, program, skip))
    suite(runtime)
  })
}
