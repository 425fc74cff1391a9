import { setTimeout as sleepFor } from 'node:timers/promises'

import type { CommandContext } from './context.ts'
import type { Terminal } from './terminal.ts'
import { UsageError } from './usage.ts'

/** What a round printed. */
export interface Round {
  /** The exit code. */
  code: number
  /** The response, and whether it is offline; equal if nothing has changed. */
  state: string
}

/** The output of a round. */
interface RoundOutput {
  terminal: Terminal
  print(lines: readonly string[]): void
  note(line: string): void
}

const MIN_SECONDS = 10
const MAX_SECONDS = 86_400

/** Clears a terminal and its cursor position. */
const CLEAR = '\u001B[2J\u001B[H'

/**
 * Runs `round` every `seconds`, and prints its output when its state has changed; resolves to 0 on SIGINT, and to the exit code
 * of a first round that fails. The session decides when a request reaches an upstream.
 *
 * @throws {UsageError} if `seconds` is not a number from 10 to 86,400
 */
export async function repeat(
  seconds: string,
  round: (output: RoundOutput) => Promise<Round>,
  { output, context }: { output: RoundOutput; context: CommandContext },
): Promise<number> {
  const length = Number(seconds)
  if (!/^\d+$/.test(seconds) || length < MIN_SECONDS || length > MAX_SECONDS) {
    throw new UsageError(`--watch must be ${MIN_SECONDS} to 86400 seconds, got ${seconds || '""'}`)
  }
  const { sleep = sleepQuietly } = context
  const { signal, release } = openInterrupt(context)
  try {
    let last: string | undefined
    while (!signal.aborted) {
      const writes: (() => void)[] = []
      const { code, state } = await round({
        terminal: output.terminal,
        print: (lines) => void writes.push(() => output.print(lines)),
        note: (line) => void writes.push(() => output.note(line)),
      })
      if (signal.aborted) break
      if (state !== last) {
        if (output.terminal.isTTY) context.stdout.write(CLEAR)
        for (const write of writes) write()
      }
      if (last === undefined && code !== 0) return code
      last = state
      await sleep(length * 1_000, signal)
    }
    return 0
  } finally {
    release()
  }
}

async function sleepQuietly(ms: number, signal: AbortSignal): Promise<void> {
  await sleepFor(ms, undefined, { signal }).catch(() => {})
}

/** Returns the signal that ends the rounds. */
function openInterrupt({ interrupted }: CommandContext): {
  signal: AbortSignal
  release: () => void
} {
  if (interrupted) return { signal: interrupted, release() {} }
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  process.once('SIGINT', abort)
  return { signal: controller.signal, release: () => void process.off('SIGINT', abort) }
}
