import { existsSync } from 'node:fs'

/** Skips the test where `program` is not installed; on CI that is a failure. */
export function requireProgram(
  name: string,
  program: string,
  skip: (reason: string) => never,
): void {
  if (existsSync(program)) return
  if (process.env['CI']) throw new Error(`${name} is missing: ${program}`)
  skip(`${name} is not installed: ${program}`)
}
