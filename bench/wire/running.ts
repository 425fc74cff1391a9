import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startAnswering } from './asking.ts'
import { onOwnCore } from './cores.ts'
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

const PROFILE_FLAGS = ['--cpu-prof', '--cpu-prof-dir=build', '--cpu-prof-interval=200']

async function ourResponse(target: string): Promise<SocketResponse> {
  const server = await startServer(OURS, 'node', { target })
  try {
    // The first may have waited for data, as a header says.
    await fetchRaw(server.url, target)
    return await fetchRaw(server.url, target)
  } finally {
    await server.kill()
  }
}

/**
 * Starts servers, checks that all of them respond to the target with the same bytes, calls `use` with them in the order
 * of the rows, and ends them. The server of the row `profile` writes its CPU profile at its end.
 *
 * @throws {Error} naming the server that does not run or sends other bytes
 */
export async function withServers<Result>(
  { target, path, response }: PreparedResponse,
  rows: readonly Row[],
  use: (running: RunningRow[]) => Promise<Result>,
  profile?: string,
): Promise<Result> {
  const running: RunningRow[] = []
  try {
    for (const row of rows) {
      const settings = { target, id: row.id, host: row.host, ready: row.isOurs ? undefined : path }
      const flags = row.id === profile ? PROFILE_FLAGS : []
      const server = await startServer(row.program, row.runtime, settings, flags)
      running.push({ row, server })
      await fetchRaw(server.url, target, row.authorization)
      const expectOurs = row.isNaive || row.isLimited ? expectSameKeys : expectSame
      expectOurs(row.name, await fetchRaw(server.url, target, row.authorization), response)
    }
    const result = await use(running)
    for (const { row, server } of running) if (row.id === profile) await server.end()
    return result
  } finally {
    await Promise.all(running.map(({ server }) => server.kill()))
  }
}

/** The response of the handler on Node, which the other servers send. */
export interface PreparedResponse {
  target: string
  /** Path of a file with the response. */
  path: string
  response: SocketResponse
}

/** Calls `use` with the response of the handler to `target`. */
export async function withPreparedResponse<Result>(
  target: string,
  use: (prepared: PreparedResponse) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'ratesmith-bench-'))
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeFolder)
  try {
    const response = await ourResponse(target)
    const path = join(folder, 'ready.json')
    writeFileSync(path, textOf(response))
    return await use({ target, path, response })
  } finally {
    removeFolder()
    process.off('exit', removeFolder)
  }
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
  /** Ends the process as its own exit, so that it writes a profile. */
  end(): Promise<void>
}

/** Starts a server program, by its path from the project's root; resolves when it listens. */
async function startServer(
  program: string,
  runtime: RuntimeName,
  settings: PeerSettings,
  moreFlags: readonly string[] = [],
): Promise<Server> {
  const [, executable, ...own] = RUNTIMES[runtime]
  const [first = '', ...flags] = onOwnCore('server', [executable, ...own, ...moreFlags])
  const { child, firstLine, ask } = startAnswering({ program, settings, runtime: first, flags })
  const { url }: { url: string } = JSON.parse(await firstLine)
  return {
    url,
    kill: child.kill,
    async end() {
      child.process.stdin?.end()
      await once(child.process, 'close')
    },
    async usage() {
      const usage: Usage = JSON.parse(await ask('usage'))
      return usage
    },
  }
}
