import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'

import { freePort } from './processes.ts'

const PROGRAM = ['redis-server', '/usr/bin/redis-server'].find(
  (program) => spawnSync(program, ['--version']).status === 0,
)

/** Whether tests that need Redis are to be skipped: it is not installed, and this is not CI, where they fail. */
export const REDIS_IS_MISSING: boolean = PROGRAM === undefined && !process.env['CI']

/** A Redis server of its own on the loopback interface, which keeps nothing on disk. */
export interface RedisServer {
  port: number
  url: string
  process: ChildProcess
  /** Stops it in the middle of whatever it does: it still accepts connections, and answers nothing. */
  pause(): void
  resume(): void
  /** Ends it at once, and resolves when it has gone; another can then be started on its port. */
  kill(): Promise<void>
}

/** Starts a server on `port` (default a free one); whoever calls this kills it. */
export async function startRedis(port?: number): Promise<RedisServer> {
  if (PROGRAM === undefined) throw new Error('redis-server is not installed, and CI needs it')
  const ownPort = port ?? (await freePort())
  const child = spawn(PROGRAM, argumentsFor(ownPort), { cwd: tmpdir(), stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => {
    child.on('exit', () => resolve()).on('error', () => resolve())
  })
  const kill = (): boolean => child.kill('SIGKILL')
  process.once('exit', kill)
  void ended.then(() => process.off('exit', kill))
  await answering(ownPort, child)
  return {
    port: ownPort,
    url: `redis://127.0.0.1:${ownPort}`,
    process: child,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async kill() {
      kill()
      await ended
    },
  }
}

function argumentsFor(port: number): string[] {
  return ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
}

/** Resolves when the server on `port` answers. */
async function answering(port: number, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`)
    if (await isAnswering(port)) return
    await new Promise((resolve) => {
      setTimeout(resolve, 20)
    })
  }
  child.kill('SIGKILL')
  throw new Error('redis-server does not answer')
}

function isAnswering(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.on('data', (data) => {
      socket.destroy()
      resolve(data.toString() === '+PONG\r\n')
    })
    socket.on('error', () => resolve(false))
  })
}
