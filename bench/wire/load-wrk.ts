import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'

import { endWithThis } from '../../test/system/child.ts'
import { ROOT } from '../../test/system/root.ts'
import type { LoadResult, LoadSettings } from './load.ts'

/** What the script of wrk prints. */
interface Summary extends LoadResult {
  /** Errors by kind; empty where there was none. */
  errors: Record<string, number>
}

const run = promisify(execFile)

/** The version of wrk, or nothing where it is not installed. */
export function wrkVersion(): string | undefined {
  // Without arguments it ends with 1, and says how it is used.
  return /wrk \S+/.exec(spawnSync('wrk', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[0]
}

/** Makes load with wrk, on one thread; it knows whole seconds only. */
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
  void endWithThis(running.child)
  const { stdout } = await running
  const [line = '{}'] = /^\{.*\}$/m.exec(stdout) ?? []
  const { errors, ...result }: Summary = JSON.parse(line)
  const told = Object.entries(errors).filter(([, count]) => count > 0)
  if (told.length > 0) throw new Error(`wrk met errors at ${url}${target}: ${String(told)}`)
  return result
}
