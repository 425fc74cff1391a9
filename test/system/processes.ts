import { spawn } from 'node:child_process'
import type { SpawnOptions } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { onTestFinished } from 'vitest'

import { listenOnFreePort } from './ports.ts'
import { ROOT } from './root.ts'

/** A process under test. */
export type Running = ReturnType<typeof launch>

/** Where a program runs, what its environment has beside this process's, and whether its process group is a new one. */
type Surroundings = Pick<SpawnOptions, 'cwd' | 'env' | 'detached'>

/** Starts a program that is killed at the end of the test, if it still runs. */
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

/** Starts a program that the caller ends. */
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
    /** What it has written so far. */
    stdout: '',
    stderr: '',
    /** Its exit code, once it has ended. */
    exited: new Promise<number | null>((resolve, reject) => {
      child.on('close', resolve).on('error', reject)
    }),
    /** Sends it `signal`, and resolves with its exit code. */
    end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
      child.kill(signal)
      return running.exited
    },
    /** Resolves with the first match in what it writes to stdout; rejects when it ends without one. */
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

/** A new folder, which is removed when `finish` says: at the end of the test by default, or `afterAll`. */
export function temporaryFolder(finish: (remove: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'ratesmith-'))
  finish(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A server on a free port of the loopback interface, closed at the end of the test. */
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
