import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

import { endWithThis } from '../../system/child.ts'
import type { Site } from './site.ts'

/** How long a program may run, in ms. */
const TIMEOUT_MS = 120_000

/** A running program with its child processes. */
export interface Job {
  /** Output so far. */
  output: { stdout: string; stderr: string }
  /** Resolves with the fault of an exit code other than 0, if any; a program is killed after the timeout. */
  ended: Promise<string | undefined>
  /** Kills the program and its child processes. */
  stop(): Promise<void>
}

/** Starts a program in a folder, in its own process group, as npx does not pass on signals. */
export function startJob(
  [program = '', ...args]: readonly string[],
  { folder, env }: Pick<Site, 'folder' | 'env'>,
): Job {
  const child = spawn(program, args, {
    cwd: folder,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  child.on('error', (error) => (output.stderr += error.message))
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // The whole group has ended.
    }
  }
  const faultOf = (code: number | null): string =>
    `ended with ${code}: ${output.stdout}${output.stderr}`
  const timer = setTimeout(kill, TIMEOUT_MS)
  const ended = endWithThis(child).then(() => {
    clearTimeout(timer)
    return child.exitCode === 0 ? undefined : faultOf(child.exitCode)
  })
  return {
    output,
    ended,
    async stop() {
      kill()
      await ended
    },
  }
}

/** Requests `url` until `job` answers or ends; resolves with the fault of the answer, if any. */
export async function faultOfServer(job: Job, url: string): Promise<string | undefined> {
  const ended = job.ended.then(() => true)
  while (!(await Promise.race([ended, sleep(50, false)]))) {
    const response = await fetch(url).catch(() => undefined)
    const text = await response?.text()
    if (response?.ok) return undefined
    if (response) return `${url} answers ${response.status} ${text}`
  }
  return `${(await job.ended) ?? 'ended'} before it answered ${url}`
}
