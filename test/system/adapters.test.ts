import { describe, expect, it, onTestFinished } from 'vitest'

import { startChild } from './child.ts'
import { CLI, rootOf } from './commands.ts'
import { describeRuntimes, requireProgram, start } from './processes.ts'
import { DENO } from './runtimes.ts'
import { openSocket, portIn } from './sockets.ts'
import type { StopReport } from './stop-program.ts'

describeRuntimes('serve()', ([name, runtime, ...flags]) => {
  it('listens on this machine only, hides failures, prefers answer() and aborts requests that take longer than 10 s to stop', async () => {
    const settings = name.toLowerCase()
    const program = 'test/system/stop-program.ts'
    const child = startChild({ program, settings, runtime, flags })
    onTestFinished(child.kill)
    const { hostname, failures, called, hasWaited }: StopReport = JSON.parse(await child.firstLine)
    expect(hostname).toBe('127.0.0.1')
    const failed = { status: 500, cacheControl: 'no-store', body: '' }
    const paths = ['/throws', '/says-nothing', '/says-text', '/was-read']
    expect(failures).toEqual(Object.fromEntries(paths.map((path) => [path, failed])))
    expect(called).toBe('answer')
    expect(hasWaited).toBe(true)
  })
})

describe('ratesmith serve on Deno', () => {
  it('listens again after more clients than file descriptors', async ({ skip }) => {
    const [name, program, ...flags] = DENO
    requireProgram(name, program, skip)
    const command = ['ulimit -n 100; exec "$0" "$@"', program, ...flags, CLI, 'serve', '--demo']
    const running = start('sh', ['-c', ...command, '--port', '0'])
    const root = await rootOf(running)
    const sockets = await Promise.all(Array.from({ length: 200 }, () => openSocket(portIn(root))))
    await expect.poll(() => isRefused(root), { timeout: 20_000 }).toBe(true)
    for (const socket of sockets) socket.destroy()
    await expect.poll(() => isRefused(root), { timeout: 20_000 }).toBe(false)
    expect((await fetch(`${root}/api/v1/latest`)).status).toBe(200)
  })
})

async function isRefused(root: string): Promise<boolean> {
  const response = fetch(`${root}/api/v1/status`, { signal: AbortSignal.timeout(1_000) })
  return response.then(() => false).catch(() => true)
}
