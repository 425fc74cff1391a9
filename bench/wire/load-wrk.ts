import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'

import { killOnExit } from '../../test/system/child.ts'
import { ROOT } from '../../test/system/runtimes.ts'
import type { LoadResult, LoadSettings } from './load.ts'

interface Summary extends LoadResult {
  errors: Record<string, number>
}

const run = promisify(execFile)

/** Returns the version of wrk, or `undefined` if it is not installed. */
export function wrkVersion(): string | undefined {
  // Without a URL, wrk prints its version and usage, and exits with 1.
  return /wrk \S+/.exec(spawnSync('wrk', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[0]
}

/** Runs wrk on one thread. Its duration is in whole seconds. */
export async function runWrk(settings: LoadSettings): Promise<LoadResult> {
  const { url, target, distinct, connections, seconds } = settings
  const args = [
    '-t1',
    `-c${connections}`,
    `-d${Math.max(1, Math.round(seconds))}s`,
    '--timeout',
    '10s',
  ]
  const script = ['-s', `${ROOT}/bench/wire/load-wrk.lua`]
  const numbers = distinct === undefined ? [] : ['--', target, String(distinct)]
  const running = run('wrk', [...args, ...script, url + target, ...numbers])
  void killOnExit(running.child)
  const { stdout } = await running
  const [line = '{}'] = /^\{.*\}$/m.exec(stdout) ?? []
  const { errors, ...result }: Summary = JSON.parse(line)
  const reported = Object.entries(errors).filter(([, count]) => count > 0)
  if (reported.length > 0)
    throw new Error(`wrk reported errors at ${url}${target}: ${String(reported)}`)
  return result
}
