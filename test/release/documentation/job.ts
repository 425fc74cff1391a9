import { setTimeout as sleep } from 'node:timers/promises'

import { killOnExit } from '../../system/child.ts'
import { launch } from '../../system/processes.ts'
import type { Site } from './site.ts'

const TIMEOUT_MS = 120_000

export type Job = ReturnType<typeof startJob>

/** Starts a program in a folder, in its own process group, as npx does not pass on signals. */
export function startJob(
  [program = '', ...args]: readonly string[],
  { folder, env }: { folder: string; env: Site['env'] | NodeJS.ProcessEnv },
  timeout: number = TIMEOUT_MS,
) {
  const running = launch(program, args, { cwd: folder, env, detached: true })
  const { pid } = running.process
  const kill = (): void => {
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL')
    } catch {
      // The whole group has ended.
    }
  }
  const timer = setTimeout(kill, timeout)
  void killOnExit(running.process)
  /** Resolves with the fault of an exit code other than 0, if any; a program is killed after the timeout. */
  const ended = running.exited.then((code) => {
    clearTimeout(timer)
    return code === 0 ? undefined : `ended with ${code}: ${running.stdout}${running.stderr}`
  })
  return {
    running,
    ended,
    async stop() {
      kill()
      await ended
    },
  }
}

/** Requests `url` until `job` responds or ends; resolves with the fault of the response, if any. */
export async function faultOfServer(job: Job, url: string): Promise<string | undefined> {
  const ended = job.ended.then(() => true)
  while (!(await Promise.race([ended, sleep(50, false)]))) {
    const response = await fetch(url).catch(() => undefined)
    const text = await response?.text()
    if (response?.ok) return undefined
    if (response) return `${url} returns ${response.status} ${text}`
  }
  return `${(await job.ended) ?? 'ended'} before it responded to ${url}`
}
