import { startChild } from '../../test/system/child.ts'
import type { Child, ChildOptions } from '../../test/system/child.ts'

const READY_TIMEOUT_MS = 30_000

/** A program that answers every line on stdin with one on stdout, in order, after a first one. */
export interface Answering {
  child: Child
  /** Rejects if the program ends, or is not ready in time. */
  firstLine: Promise<string>
  /** Rejects if the program ends, with what it wrote to stderr. */
  ask(line: string): Promise<string>
}

export function startAnswering(options: Omit<ChildOptions, 'onLine'>): Answering {
  const waiting: ((line: string) => void)[] = []
  const child = startChild({ ...options, onLine: (line) => waiting.shift()?.(line) })
  const ended = endOf(child, options.program)
  return {
    child,
    firstLine: Promise.race([child.firstLine, ended]),
    ask(line) {
      const answer = new Promise<string>((resolve) => waiting.push(resolve))
      child.process.stdin?.write(`${line}\n`)
      return Promise.race([answer, ended])
    },
  }
}

function endOf(child: Child, program: string): Promise<never> {
  let stderr = ''
  child.process.stderr?.on('data', (text) => (stderr += String(text)))
  // The end is reported below.
  child.process.stdin?.on('error', () => undefined)
  const ended = new Promise<never>((_resolve, reject) => {
    child.process.once('close', (code, signal) =>
      reject(new Error(`${program} ended with ${code ?? signal}: ${stderr}`)),
    )
    const late = setTimeout(
      () => reject(new Error(`${program} is not ready: ${stderr}`)),
      READY_TIMEOUT_MS,
    )
    const isReady = (): void => clearTimeout(late)
    child.firstLine.then(isReady, isReady)
  })
  // Between two questions nothing awaits it; the next one then rejects.
  ended.catch(() => undefined)
  return ended
}
