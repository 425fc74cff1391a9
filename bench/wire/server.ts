import { startChild } from '../../test/system/child.ts'
import type { Child } from '../../test/system/child.ts'
import { BUN, DENO, NODE } from '../../test/system/runtimes.ts'
import type { PeerSettings, Usage } from './peer.ts'

/** The runtimes of the servers, in the order of the tables. */
export const RUNTIMES = { node: NODE, bun: BUN, deno: DENO } as const

export type RuntimeName = keyof typeof RUNTIMES

/** A server program in a separate process. */
export interface Server {
  url: string
  /** Its usage since the start; rejects after its end. */
  usage(): Promise<Usage>
  kill(): Promise<void>
}

const READY_TIMEOUT_MS = 30_000

/** Starts a server program, by its path from the project's root; resolves when it listens. */
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

/** Rejects with the output on stderr when the server ends or is not ready in time. */
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
  // Between two measurements nothing awaits it; the next measurement then rejects.
  ended.catch(() => undefined)
  return ended
}
