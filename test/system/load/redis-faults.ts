import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'

import { sendToRedis, startRedis } from '../redis-server.ts'
import type { RedisServer } from '../redis-server.ts'
import { listenOnFreePort } from '../sockets.ts'

export interface RedisFault {
  name: string
  /** Shortest duration, in ms. */
  lasts: number
  begin(redis: RedisHandle): Promise<void>
  end(redis: RedisHandle): Promise<void>
}

/** A Redis server, which is replaced by another one on the same port after a kill. */
export interface RedisHandle {
  server: RedisServer
}

/** Returns the faults in their order. Some last for `long` ms, the others for `short`. */
export function redisFaults({ short, long }: { short: number; long: number }): RedisFault[] {
  return [
    {
      name: 'SIGKILL, then restarted empty',
      lasts: short,
      begin: ({ server }) => server.kill(),
      async end(redis) {
        redis.server = await startRedis(redis.server.port)
      },
    },
    {
      name: 'SIGSTOP, then SIGCONT',
      lasts: long,
      begin: async ({ server }) => server.pause(),
      end: async ({ server }) => server.resume(),
    },
    // Port 1 is closed: a replica without a master keeps its data and refuses writes.
    commanded('READONLY', short, 'REPLICAOF 127.0.0.1 1', 'REPLICAOF NO ONE'),
    commanded('OOM', short, 'CONFIG SET maxmemory 1', 'CONFIG SET maxmemory 0'),
    commanded('CLIENT PAUSE 3000', 3_000, 'CLIENT PAUSE 3000'),
  ]
}

function commanded(name: string, lasts: number, first: string, last?: string): RedisFault {
  const send = async ({ server }: RedisHandle, text?: string): Promise<void> => {
    const reply = text === undefined ? '+OK' : await sendToRedis(server.port, text)
    if (!reply.startsWith('+OK')) throw new Error(`${text}: ${reply}`)
  }
  return { name, lasts, begin: (redis) => send(redis, first), end: (redis) => send(redis, last) }
}

/** Starts a proxy to `server` that swaps the replies to GETs of the two rates' keys. */
export async function startSwappingProxy(server: RedisServer) {
  const sockets = new Set<Socket>()
  const end = (socket: Socket): void => {
    sockets.delete(socket.destroy())
  }
  const proxy = createServer((client) => {
    const redis = connect(server.port, '127.0.0.1')
    for (const socket of [client, redis]) {
      sockets.add(socket.on('error', () => {}).on('close', () => [client, redis].forEach(end)))
    }
    client.on('data', (data) => redis.write(swapped(data)))
    redis.pipe(client)
  })
  const port = await listenOnFreePort(proxy)
  return {
    url: `redis://127.0.0.1:${port}`,
    close(): void {
      proxy.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Replaces one key by the other in GET commands of the Redis protocol, where `$15` is the length of the next line. */
function swapped(data: Buffer): Buffer {
  const text = data
    .toString('latin1')
    .replaceAll(/GET\r\n\$1[56]\r\nrates:v1:(latest|history)\r\n/g, (_, dataSet: string) =>
      dataSet === 'latest'
        ? 'GET\r\n$16\r\nrates:v1:history\r\n'
        : 'GET\r\n$15\r\nrates:v1:latest\r\n',
    )
  return Buffer.from(text, 'latin1')
}
