import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'

import { ROOT } from './root.ts'

const running = new Set<ChildProcess>()
process.once('exit', killAll)
// Vitest ends a worker so, and forbids it to call process.exit.
process.once('SIGTERM', () => {
  killAll()
  process.kill(process.pid, 'SIGTERM')
})

/** A program of the project in its own process, which ends with this one. */
export type Child = ReturnType<typeof startChild>

export interface ChildOptions {
  /** Path from the project's root. */
  program: string
  /** Given to it as JSON. */
  settings: unknown
  /** Told of every line that it prints (default nobody). */
  onLine?: (line: string) => void
  /** What runs it (default the Node that runs this). */
  runtime?: string
  /** Flags of what runs it (default none). */
  flags?: readonly string[]
}

export function startChild(options: ChildOptions) {
  const { program, settings, onLine, runtime = process.execPath, flags = [] } = options
  const child = spawn(runtime, [...flags, program, JSON.stringify(settings)], {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: '1' },
    // Nothing is written to its stdin, but it sees there that this process has ended.
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const lines = createInterface(child.stdout)
  if (onLine) lines.on('line', onLine)
  const ended = endWithThis(child)
  const firstLine = new Promise<string>((resolve, reject) => {
    lines.once('line', resolve)
    void ended.then(() => reject(new Error(`${program} ended: ${stderr}`)))
  })
  // Not everybody waits for it.
  firstLine.catch(() => undefined)
  return {
    process: child,
    /** The first line that it prints; rejects when it ends without one. */
    firstLine,
    /** Kills it, and resolves when it has gone. */
    async kill(): Promise<void> {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Has `child` killed when this process ends, unless by SIGKILL; resolves when it has gone. */
export function endWithThis(child: ChildProcess): Promise<void> {
  running.add(child)
  return new Promise<void>((resolve) => {
    child.on('close', () => resolve()).on('error', () => resolve())
  }).finally(() => running.delete(child))
}

function killAll(): void {
  for (const child of running) child.kill('SIGKILL')
}

/** For a program that `startChild` starts, which is to end with the process that started it: its settings, as JSON. */
export function settingsFromParent(): string {
  process.stdin.on('end', () => process.exit()).resume()
  return process.argv[2] ?? ''
}

/** Prints `value` as a line of JSON. */
export function tellParent(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}
