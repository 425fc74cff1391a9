import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

import { onTestFinished } from 'vitest'

/** The root of the project. */
export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url))

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
  onTestFinished(() => {
    running.process.kill('SIGKILL')
  })
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

function launch(program: string, args: string[], { env, cwd = ROOT }: Surroundings): Running {
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

/** A server on a free port of the loopback interface, closed at the end of the test. */
export async function listen(listener: RequestListener): Promise<{ url: string; server: Server }> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${portOf(server)}`, server }
}

/** The port that `server` listens on. */
export function portOf(server: Server): number {
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('the server does not listen')
  return address.port
}

/** A port of the loopback interface that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const port = portOf(server)
  await new Promise((resolve) => {
    server.close(resolve)
  })
  return port
}
