import { existsSync } from 'node:fs'

import { ROOT } from './root.ts'

/** A runtime by its name, and how it runs a program: what is started, and what goes before the program's path. */
export type Runtime = [name: string, program: string, ...parameters: string[]]

/** Node, as it runs this. */
export const NODE: Runtime = ['Node', process.execPath]

/** Those that the package is for. */
export const RUNTIMES: Runtime[] = [
  NODE,
  ['Bun', `${ROOT}/node_modules/.bin/bun`],
  ['Deno', `${ROOT}/node_modules/.bin/deno`, 'run', '-A', '--no-lock'],
]

/** Skips where a runtime is not installed; on CI that is a failure. */
export function requireProgram(
  name: string,
  program: string,
  skip: (reason: string) => never,
): void {
  if (existsSync(program)) return
  if (process.env['CI']) throw new Error(`${name} is missing: ${program}`)
  skip(`${name} is not installed: ${program}`)
}
