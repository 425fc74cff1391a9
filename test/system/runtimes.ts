import { ROOT } from './root.ts'

/** A runtime by its name, and how it runs a program: what is started, and what goes before the program's path. */
export type Runtime = [name: string, program: string, ...parameters: string[]]

/** Node, as it runs this. */
export const NODE: Runtime = ['Node', process.execPath]

export const BUN: Runtime = ['Bun', `${ROOT}/node_modules/.bin/bun`]

export const DENO: Runtime = ['Deno', `${ROOT}/node_modules/.bin/deno`, 'run', '-A', '--no-lock']

/** Those that the package is for. */
export const RUNTIMES: Runtime[] = [NODE, BUN, DENO]
