import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { PreparedText } from './peer.ts'
import type { Row } from './rows.ts'
import { expectSame, expectSameKeys, fetchRaw } from './same-bytes.ts'
import type { SocketResponse } from './same-bytes.ts'
import { startServer } from './server.ts'
import type { RuntimeName, Server } from './server.ts'

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
      const expectOurs = row.isNaive ? expectSameKeys : expectSame
      expectOurs(row.name, await fetchRaw(server.url, target), ours)
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
