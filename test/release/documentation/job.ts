import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

import { endWithThis } from '../../system/child.ts'

/** How long a program may take to its end or to its first answer, in ms. */
const LIMIT = 60_000

/** What a program has written, and its exit code: null if it was killed. */
interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** A program that runs, with whatever it has started itself. */
export interface Job {
  /** All that it has written so far. */
  written(): { stdout: string; stderr: string }
  /** Resolves when it has ended; one that takes too long is killed. */
  ended: Promise<Ended>
  /** Kills it and what it has started, and resolves when it has ended. */
  stop(): Promise<void>
}

/** Where a program runs, and with which environment. */
export interface JobOptions {
  cwd: string
  env: NodeJS.ProcessEnv
}

/** Starts a program in a group of its own: npx passes no signals on. */
export function startJob(command: readonly string[], { cwd, env }: JobOptions): Job {
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    cwd,
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
      // All of them have gone already.
    }
  }
  const timer = setTimeout(kill, LIMIT)
  const ended = endWithThis(child).then(() => {
    clearTimeout(timer)
    return { code: child.exitCode, ...output }
  })
  return {
    written: () => ({ ...output }),
    ended,
    async stop() {
      kill()
      await ended
    },
  }
}

/** Asks `url` until somebody answers; resolves with what is wrong with the answer of `job`, or with nothing. */
export async function faultOfServer(job: Job, url: string): Promise<string | undefined> {
  const ended = job.ended.then(() => true)
  while (!(await Promise.race([ended, sleep(50, false)]))) {
    const response = await fetch(url).catch(() => undefined)
    const text = await response?.text()
    if (response?.ok) return undefined
    if (response) return `${url} answers ${response.status} ${text}`
  }
  const { code, stdout, stderr } = await job.ended
  return `ended with ${code} before it answered ${url}: ${stdout}${stderr}`
}
