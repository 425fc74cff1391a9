import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'

import { sendToRedis, startRedis } from '../redis-server.ts'
import type { RedisServer } from '../redis-server.ts'
import { listenOnFreePort } from '../sockets.ts'

/** A fault of a Redis server. */
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
    {
      name: 'READONLY',
      lasts: short,
      // Port 1 is closed: a replica without a master keeps its data and refuses writes.
      begin: ({ server }) => command(server, 'REPLICAOF 127.0.0.1 1'),
      end: ({ server }) => command(server, 'REPLICAOF NO ONE'),
    },
    {
      name: 'OOM',
      lasts: short,
      begin: ({ server }) => command(server, 'CONFIG SET maxmemory 1'),
      end: ({ server }) => command(server, 'CONFIG SET maxmemory 0'),
    },
    {
      name: 'CLIENT PAUSE 3000',
      lasts: 3_000,
      begin: ({ server }) => command(server, 'CLIENT PAUSE 3000'),
      end: async () => {},
    },
  ]
}

async function command({ port }: RedisServer, text: string): Promise<void> {
  const reply = await sendToRedis(port, text)
  if (!reply.startsWith('+OK')) throw new Error(`${text}: ${reply}`)
}

/** A proxy between clients and Redis that swaps replies. */
export interface SwappingProxy {
  url: string
  close(): void
}

/** Starts a proxy to `server` that swaps the replies to GETs of the two rates' keys. */
export async function startSwappingProxy(server: RedisServer): Promise<SwappingProxy> {
  const sockets = new Set<Socket>()
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
    close() {
      proxy.close()
      for (const socket of sockets) socket.destroy()
    },
  }

  function end(socket: Socket): void {
    socket.destroy()
    sockets.delete(socket)
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
