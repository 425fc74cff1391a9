import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the project. */
export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url))

/** A runtime: its name, the executable, and the arguments before the program's path. */
export type Runtime = [name: string, program: string, ...parameters: string[]]

/** Returns the path of a program or package that `npm run tools` installs, or `undefined`. */
export const findBun = (): string | undefined => installed('.bin/bun')
const findDeno = (): string | undefined => installed('.bin/deno')
export const findWorkerd = (): string | undefined => installed('.bin/workerd')
export const findNode = (major: number): string | undefined => installed(`node-${major}/bin/node`)
export const findPackage = (name: string): string | undefined => installed(`${name}/package.json`)

/** The current Node. */
export const NODE: Runtime = ['Node', process.execPath]

export const BUN: Runtime = ['Bun', findBun() ?? '']

export const DENO: Runtime = ['Deno', findDeno() ?? '', 'run', '-A', '--no-lock']

/** The supported runtimes. */
export const RUNTIMES: Runtime[] = [NODE, BUN, DENO]

function installed(path: string): string | undefined {
  const found = join(ROOT, 'node_modules', path)
  return existsSync(found) ? found : undefined
}
