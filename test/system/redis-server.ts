import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

import { killOnExit } from './child.ts'
import { freePort } from './sockets.ts'

const PROGRAM = ['redis-server', '/usr/bin/redis-server'].find(
  (program) => spawnSync(program, ['--version']).status === 0,
)

/** Whether to skip tests that need Redis: it is not installed. On CI they fail instead. */
export const REDIS_IS_MISSING: boolean = PROGRAM === undefined && !process.env['CI']

/** A Redis server on the loopback interface, without persistence. */
export type RedisServer = Awaited<ReturnType<typeof startRedis>>

/** Starts a server on port `given`, or on a free one; the caller must kill it. */
export async function startRedis(given?: number) {
  if (PROGRAM === undefined) throw new Error('redis-server is not installed, and CI needs it')
  const port = given ?? (await freePort())
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn(PROGRAM, args, { cwd: tmpdir(), stdio: 'ignore' })
  const ended = killOnExit(child)
  await untilReady(port, child)
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    /** Suspends it: it still accepts connections, but does not reply. */
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async kill(): Promise<void> {
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function untilReady(port: number, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`)
    const reply = await sendToRedis(port, 'PING').catch(String)
    if (reply === '+PONG\r\n') return
    await sleep(20)
  }
  child.kill('SIGKILL')
  throw new Error('redis-server does not reply')
}

/** Sends a command and returns the raw reply; rejects if the connection closes without one. */
export function sendToRedis(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${command}\r\n`))
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`${command}: no reply`)))
    socket.on('data', (data) => {
      resolve(data.toString())
      socket.destroy()
    })
  })
}
