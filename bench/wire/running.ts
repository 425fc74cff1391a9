import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startChild } from '../../test/system/child.ts'
import type { Child } from '../../test/system/child.ts'
import type { PeerSettings, PreparedText, Usage } from './peer.ts'
import { RUNTIMES } from './rows.ts'
import type { Row, RuntimeName } from './rows.ts'
import { expectSame, expectSameKeys, fetchRaw } from './same-bytes.ts'
import type { SocketResponse } from './same-bytes.ts'

export interface RunningRow {
  row: Row
  server: Server
}

const OURS = 'bench/wire/servers/direct.ts'

/** Returns the response of the handler on Node to `target`. */
export async function ourResponse(target: string): Promise<SocketResponse> {
  const server = await startServer(OURS, 'node', { target })
  try {
    return await fetchRaw(server.url, target)
  } finally {
    await server.kill()
  }
}

/**
 * Starts the servers of a table, checks that all of them respond to `target` with the same bytes, runs `measure`, and
 * ends them.
 *
 * @throws {Error} naming the server that does not run or sends other bytes
 */
export async function withServers<Result>(
  target: string,
  rows: readonly Row[],
  measure: (running: RunningRow[]) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'ratesmith-bench-'))
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeFolder)
  const running: RunningRow[] = []
  try {
    const ours = await ourResponse(target)
    const ready = join(folder, 'ready.json')
    writeFileSync(ready, textOf(ours))
    for (const row of rows) {
      const server = await start(row, { target, ready })
      running.push({ row, server })
      const expectOurs = row.isNaive || row.isLimited ? expectSameKeys : expectSame
      expectOurs(row.name, await fetchRaw(server.url, target, row.key), ours)
    }
    return await measure(running)
  } finally {
    await Promise.all(running.map(({ server }) => server.kill()))
    removeFolder()
    process.off('exit', removeFolder)
  }
}

function start(
  { program, runtime, isOurs }: { program: string; runtime: RuntimeName; isOurs?: boolean },
  { target, ready }: { target: string; ready: string },
): Promise<Server> {
  return startServer(program, runtime, isOurs ? { target } : { target, ready })
}

function textOf({ status, headers, body }: SocketResponse): string {
  if (status !== 200) throw new Error(`the response of the handler has the status ${status}`)
  return JSON.stringify({ headers, body: body.toString('base64') } satisfies PreparedText)
}

/** A server program in a separate process. */
interface Server {
  url: string
  /** Its usage since the start; rejects after its end. */
  usage(): Promise<Usage>
  kill(): Promise<void>
}

const READY_TIMEOUT_MS = 30_000

/** Starts a server program, by its path from the project's root; resolves when it listens. */
async function startServer(
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
