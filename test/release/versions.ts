import { join } from 'node:path'

import { ROOT } from '../system/root.ts'
import { BUN, DENO, NODE, findNode } from '../system/runtimes.ts'
import type { Runtime } from '../system/runtimes.ts'

/** All supported versions of Node, and the other runtimes; the path of a missing one is empty. */
export const RUNTIMES: Runtime[] = [
  ['Node 22', findNode(22) ?? ''],
  NODE,
  ['Node 26', findNode(26) ?? ''],
  BUN,
  DENO,
]

/** All supported compilers, by version. */
export const COMPILERS: [version: string, program: string][] = [
  ['5.4', tsc('typescript-5.4')],
  ['5.9', tsc('typescript-5.9')],
  ['6.0', tsc('typescript-6.0')],
  ['7.0', tsc('typescript')],
]

function tsc(name: string): string {
  return join(ROOT, 'node_modules', name, 'bin/tsc')
}
