import { startChild } from '../../test/system/child.ts'
import type { Child } from '../../test/system/child.ts'
import { BUN, DENO, NODE } from '../../test/system/runtimes.ts'
import type { PeerSettings, Usage } from './peer.ts'

/** What runs a server, in order of the tables. */
export const RUNTIMES = { node: NODE, bun: BUN, deno: DENO } as const

/** One of them. */
export type RuntimeName = keyof typeof RUNTIMES

/** A server program in a process of its own. */
export interface Server {
  url: string
  /** What it has used since it started; rejects when it has ended. */
  usage(): Promise<Usage>
  /** Ends it, and resolves when it has gone. */
  kill(): Promise<void>
}

/** A server must listen after so many ms. */
const READY_WITHIN = 30_000

/** Starts a server program, by its path from the project's root; resolves when it listens, rejects when it does not. */
export async function startServer(
  program: string,
  runtime: RuntimeName,
  settings: PeerSettings,
): Promise<Server> {
  const [, executable, ...flags] = RUNTIMES[runtime]
  const waiting: ((line: string) => void)[] = []
  const child = startChild({
    program,
    settings,
    runtime: executable,
    flags,
    onLine: (line) => waiting.shift()?.(line),
  })
  const ended = endOf(child, program)
  const { url }: { url: string } = JSON.parse(await Promise.race([child.firstLine, ended]))
  return {
    url,
    kill: child.kill,
    async usage() {
      const line = new Promise<string>((resolve) => waiting.push(resolve))
      child.process.stdin?.write('usage\n')
      const usage: Usage = JSON.parse(await Promise.race([line, ended]))
      return usage
    },
  }
}

/** Rejects when the server has ended, or is not ready in time, and says what it wrote to stderr. */
function endOf(child: Child, program: string): Promise<never> {
  let stderr = ''
  child.process.stderr?.on('data', (text) => (stderr += String(text)))
  // Its end is told below.
  child.process.stdin?.on('error', () => undefined)
  const ended = new Promise<never>((_resolve, reject) => {
    child.process.once('close', (code, signal) =>
      reject(new Error(`${program} ended with ${code ?? signal}: ${stderr}`)),
    )
    const late = setTimeout(
      () => reject(new Error(`${program} is not ready: ${stderr}`)),
      READY_WITHIN,
    )
    const isReady = (): void => clearTimeout(late)
    child.firstLine.then(isReady, isReady)
  })
  // Nobody waits for it between two measurements; the next one then rejects.
  ended.catch(() => undefined)
  return ended
}
