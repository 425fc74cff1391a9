import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** Servers share the first core, because only one of them is under load at a time; the load has the second. */
const CORES = { server: 0, load: 1 } as const

/** Whether servers and load have separate cores: on Linux with `taskset`, and at least two cores. */
export const hasOwnCores: boolean =
  availableParallelism() >= Object.keys(CORES).length &&
  spawnSync('taskset', ['-c', String(CORES.load), 'true']).status === 0

/** Returns a command that runs on its own core, where the machine can do that. */
export function onOwnCore(side: keyof typeof CORES, command: readonly string[]): string[] {
  return hasOwnCores ? ['taskset', '-c', String(CORES[side]), ...command] : [...command]
}
