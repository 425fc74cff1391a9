import { spawn } from 'node:child_process'
import type { SpawnOptions } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { beforeEach, describe, onTestFinished } from 'vitest'

import { ROOT, RUNTIMES } from './runtimes.ts'
import type { Runtime } from './runtimes.ts'
import { listenOnFreePort } from './sockets.ts'

/** A process under test. */
export type Running = ReturnType<typeof launch>

type Surroundings = Pick<SpawnOptions, 'cwd' | 'env' | 'detached'>

/** Starts a program and kills it at the end of the test, if it still runs. */
export function start(...started: Parameters<typeof launch>): Running {
  const running = launch(...started)
  onTestFinished(() => void running.process.kill('SIGKILL'))
  return running
}

/** Runs a program to its end. */
export async function run(...started: Parameters<typeof launch>) {
  const running = launch(...started)
  const code = await running.exited
  return { code, stdout: running.stdout, stderr: running.stderr }
}

/** Starts a program that the caller must end. */
export function launch(
  program: string,
  args: string[],
  { env, ...surroundings }: Surroundings = {},
) {
  const child = spawn(program, args, {
    cwd: ROOT,
    ...surroundings,
    env: { ...process.env, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const running = {
    process: child,
    stdout: '',
    stderr: '',
    exited: new Promise<number | null>((resolve, reject) => {
      child.on('close', resolve).on('error', reject)
    }),
    end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
      child.kill(signal)
      return running.exited
    },
    /** Resolves with the first match in stdout; rejects if the process ends without one. */
    written(pattern: RegExp): Promise<RegExpExecArray> {
      return new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(running.stdout)
          if (match) resolve(match)
        }
        child.stdout.on('data', look)
        void running.exited.then((code) =>
          reject(new Error(`ended with ${code}: ${running.stdout}${running.stderr}`)),
        )
        look()
      })
    },
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (running.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (running.stderr += text))
  return running
}

/** Creates a folder and removes it at the end of the test, or in a hook such as `afterAll`. */
export function temporaryFolder(finish: (remove: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'ratesmith-'))
  finish(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts a server on a free port of the loopback interface, and closes it at the end of the test. */
export async function listen(listener: RequestListener) {
  const server = createServer(listener)
  const port = await listenOnFreePort(server)
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  onTestFinished(() => void close())
  return { url: `http://127.0.0.1:${port}`, server, close }
}

/** Skips the test if `program` is not installed, or fails it on CI. */
export function requireProgram(
  name: string,
  program: string,
  skip: (reason: string) => never,
): void {
  if (existsSync(program)) return
  if (process.env['CI']) throw new Error(`${name} is not installed: ${program}`)
  skip(`${name} is not installed: ${program}`)
}

/** Defines a suite for each runtime. Missing runtimes are skipped, and fail on CI. */
export function describeRuntimes(title: string, suite: (runtime: Runtime) => void): void {
  describe.each(RUNTIMES)(`${title} on %s`, (...runtime) => {
    const [name, program] = runtime
    beforeEach(({ skip }) => requireProgram(name, program, skip))
    suite(runtime)
  })
}

/** Whether proofs repeat less often: `PROOFS=short`, before each merge. */
export const IS_SHORT: boolean = process.env['PROOFS'] === 'short'
