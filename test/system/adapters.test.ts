import { describe, expect, it } from 'vitest'

import { startChild } from './child.ts'
import { start } from './processes.ts'
import { DENO, RUNTIMES } from './runtimes.ts'
import { CLI, rootOf } from './serving.ts'
import { openSocket } from './sockets.ts'
import type { StopReport, StopSettings } from './stop-program.ts'

const ADAPTERS: Record<string, StopSettings['adapter']> = { Node: 'node', Bun: 'bun', Deno: 'deno' }

describe.concurrent('serve() of every runtime', () => {
  it.each(RUNTIMES)(
    'is for this machine alone, hides what fails and gives up what does not end, on %s',
    async (...[name, runtime, ...flags]) => {
      const settings: StopSettings = { adapter: ADAPTERS[name] ?? 'node' }
      const program = 'test/system/stop-program.ts'
      const child = startChild({ program, settings, runtime, flags })
      const { hostname, failures, elapsed }: StopReport = JSON.parse(await child.firstLine)
      await child.kill()
      expect(hostname).toBe('127.0.0.1')
      const failed = { status: 500, cacheControl: 'no-store', body: '' }
      expect(failures).toEqual({
        '/throws': failed,
        '/says-nothing': failed,
        '/says-text': failed,
        '/was-read': failed,
      })
      // It must not wait for ever; how soon a busy machine gets to it is not the matter.
      expect(elapsed).toBeGreaterThan(9_000)
    },
  )
})

describe('ratesmith serve on Deno', () => {
  it('lives on after more clients than the system allows', async () => {
    const [, program, ...flags] = DENO
    const command = ['ulimit -n 100; exec "$0" "$@"', program, ...flags, CLI, 'serve', '--demo']
    const running = start('sh', ['-c', ...command, '--port', '0'])
    const root = await rootOf(running)
    const port = Number(new URL(root).port)
    const sockets = await Promise.all(Array.from({ length: 200 }, () => openSocket(port)))
    // It listens no more.
    await expect.poll(() => isRefused(root)).toBe(true)
    for (const socket of sockets) socket.destroy()
    await expect.poll(() => isRefused(root), { timeout: 20_000 }).toBe(false)
    expect((await fetch(`${root}/api/v1/latest`)).status).toBe(200)
  })
})

async function isRefused(root: string): Promise<boolean> {
  return fetch(`${root}/api/v1/status`, { signal: AbortSignal.timeout(1_000) }).then(
    () => false,
    () => true,
  )
}
