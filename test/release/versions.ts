import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { ROOT } from '../system/root.ts'
import { BUN, DENO } from '../system/runtimes.ts'
import type { Runtime } from '../system/runtimes.ts'

const OTHERS = join(ROOT, '.runtimes/node_modules')

/** Every line of Node that the package is for, and the other runtimes. */
export const RUNTIMES: Runtime[] = [
  ['Node 22', join(OTHERS, 'node-22/bin/node')],
  ['Node 24', join(ROOT, 'node_modules/node/bin/node')],
  ['Node 26', join(OTHERS, 'node-26/bin/node')],
  BUN,
  DENO,
]

/** Every compiler that the declarations are for, by its version. */
export const COMPILERS: [version: string, program: string][] = [
  ...['5.4', '5.9', '6.0'].map((version): [string, string] => [
    version,
    join(OTHERS, `typescript-${version}/bin/tsc`),
  ]),
  ['7.0', join(ROOT, 'node_modules/.bin/tsc')],
]

/** Throws where a program is missing that a release is tried with. */
export function requireInstalled(program: string): void {
  if (existsSync(program)) return
  throw new Error(`${program} is missing: install it with npm run runtimes`)
}
