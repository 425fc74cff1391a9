import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

import { onTestFinished } from 'vitest'

import { listenOnFreePort } from './ports.ts'
import { ROOT } from './root.ts'

/** A process under test; what it has written so far is in `stdout` and `stderr`. */
export interface Running {
  process: ChildProcessByStdio<null, Readable, Readable>
  readonly stdout: string
  readonly stderr: string
  /** Its exit code, once it has ended. */
  exited: Promise<number | null>
  /** Resolves with the first match in what it writes to stdout; rejects when it ends without one. */
  written(pattern: RegExp): Promise<RegExpExecArray>
}

/** Where a program runs, and what its environment has beside this process's. */
export interface Surroundings {
  env?: NodeJS.ProcessEnv
  cwd?: string
}

/** Starts a program that is killed at the end of the test, if it still runs. */
export function start(program: string, args: string[], surroundings: Surroundings = {}): Running {
  const running = launch(program, args, surroundings)
  onTestFinished(() => void running.process.kill('SIGKILL'))
  return running
}

/** Runs a program to its end. */
export async function run(
  program: string,
  args: string[],
  surroundings: Surroundings = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const running = launch(program, args, surroundings)
  const code = await running.exited
  return { code, stdout: running.stdout, stderr: running.stderr }
}

/** Starts a program that the caller ends. */
export function launch(
  program: string,
  args: string[],
  { env, cwd = ROOT }: Surroundings = {},
): Running {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  const exited = new Promise<number | null>((resolve, reject) => {
    child.on('close', resolve).on('error', reject)
  })
  return {
    process: child,
    exited,
    get stdout() {
      return output.stdout
    },
    get stderr() {
      return output.stderr
    },
    written(pattern) {
      return new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(output.stdout)
          if (match) resolve(match)
        }
        child.stdout.on('data', look)
        void exited.then((code) =>
          reject(new Error(`ended with ${code}: ${output.stdout}${output.stderr}`)),
        )
        look()
      })
    },
  }
}

/** A new folder, which is removed at the end of the test, by `finish` where tests run concurrently. */
export function temporaryFolder(finish: typeof onTestFinished = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'ratesmith-'))
  finish(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A server on a free port of the loopback interface, closed at the end of the test. */
export async function listen(listener: RequestListener): Promise<{ url: string; server: Server }> {
  const server = createServer(listener)
  const port = await listenOnFreePort(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${port}`, server }
}
