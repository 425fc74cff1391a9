import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'

import { ROOT } from './runtimes.ts'

const running = new Set<ChildProcess>()
process.once('exit', killAll)
// Vitest ends a worker with SIGTERM, and forbids it to call process.exit.
process.once('SIGTERM', () => {
  killAll()
  process.kill(process.pid, 'SIGTERM')
})

/** A program of the project in a separate process, which ends with this one. */
export type Child = ReturnType<typeof startChild>

export interface ChildOptions {
  /** Path from the project's root. */
  program: string
  /** Passed to the program as JSON. */
  settings: unknown
  /** Called with every line that it prints (default none). */
  onLine?: (line: string) => void
  /** The executable that runs it (default the current Node). */
  runtime?: string
  /** Flags of the executable (default none). */
  flags?: readonly string[]
}

export function startChild(options: ChildOptions) {
  const { program, settings, onLine, runtime = process.execPath, flags = [] } = options
  const child = spawn(runtime, [...flags, program, JSON.stringify(settings)], {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: '1' },
    // The child detects the end of this process when its stdin closes.
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const lines = createInterface(child.stdout)
  if (onLine) lines.on('line', onLine)
  const ended = killOnExit(child)
  const firstLine = new Promise<string>((resolve, reject) => {
    lines.once('line', resolve)
    void ended.then(() => reject(new Error(`${program} ended: ${stderr}`)))
  })
  // Not every caller awaits it.
  firstLine.catch(() => undefined)
  return {
    process: child,
    firstLine,
    async kill(): Promise<void> {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Kills `child` when this process ends, unless by SIGKILL; resolves after the end of `child`. */
export function killOnExit(child: ChildProcess): Promise<void> {
  running.add(child)
  return new Promise<void>((resolve) => {
    child.on('close', () => resolve()).on('error', () => resolve())
  }).finally(() => running.delete(child))
}

function killAll(): void {
  for (const child of running) child.kill('SIGKILL')
}

/** Returns the settings of a program that `startChild` started, as JSON, and ends the program with its parent. */
export function settingsFromParent(): string {
  process.stdin.on('end', () => process.exit()).resume()
  return process.argv[2] ?? ''
}

export function reportToParent(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}
