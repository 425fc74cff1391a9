import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { ReadyText } from './peer.ts'
import type { Row } from './rows.ts'
import { ask, expectSame, expectSameKeys } from './same-bytes.ts'
import type { SocketAnswer } from './same-bytes.ts'
import { startServer } from './server.ts'
import type { RuntimeName, Server } from './server.ts'

/** A row whose server runs. */
export interface RunningRow {
  row: Row
  server: Server
}

const OURS = 'bench/wire/servers/direct.ts'

/** Asks our handler on Node for `target`. */
export async function answerOfOurs(target: string): Promise<SocketAnswer> {
  const server = await startServer(OURS, 'node', { target })
  try {
    return await ask(server.url, target)
  } finally {
    await server.kill()
  }
}

/**
 * Starts the servers of a table and gives them to `measure`, all of which answer `target` with the same bytes; ends them.
 *
 * @throws {Error} naming the server that does not run or answers something else
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
    const ours = await answerOfOurs(target)
    const ready = join(folder, 'ready.json')
    writeFileSync(ready, textOf(ours))
    for (const row of rows) {
      const server = await start(row, { target, ready })
      running.push({ row, server })
      const expectOurs = row.isNaive ? expectSameKeys : expectSame
      expectOurs(row.name, await ask(server.url, target), ours)
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

function textOf({ status, headers, body }: SocketAnswer): string {
  if (status !== 200) throw new Error(`our own answer has the status ${status}`)
  return JSON.stringify({ headers, body: body.toString('base64') } satisfies ReadyText)
}
