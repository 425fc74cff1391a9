import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'

import { listenOnFreePort } from '../../test/system/ports.ts'
import { askRedis, startRedis } from '../../test/system/redis-server.ts'
import type { RedisServer } from '../../test/system/redis-server.ts'

/** What may happen to a Redis server. */
export interface Trouble {
  name: string
  /** How long it lasts at the shortest, in ms. */
  lasts: number
  begin(redis: Patient): Promise<void>
  end(redis: Patient): Promise<void>
}

/** A Redis server that is restarted on the same port where it has been killed. */
export interface Patient {
  server: RedisServer
}

/** What Redis has to bear, one after another. Some last for `long` ms, the others for `short`. */
export function troubles({ short, long }: { short: number; long: number }): Trouble[] {
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
      // Nobody listens on port 1: the replica of nobody keeps its data, and takes no others.
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

/** Has the server do `text`, which answers OK. */
async function command({ port }: RedisServer, text: string): Promise<void> {
  const answer = await askRedis(port, text)
  if (!answer.startsWith('+OK')) throw new Error(`${text}: ${answer}`)
}

/** Stands between clients and a server, and may mix up who asked what. */
export interface CrossingProxy {
  url: string
  close(): void
}

/** A proxy before `server` through which the answers to the questions for both rates' keys are crossed: each gets the other's. */
export async function startCrossingProxy(server: RedisServer): Promise<CrossingProxy> {
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const redis = connect(server.port, '127.0.0.1')
    for (const socket of [client, redis]) {
      sockets.add(socket.on('error', () => {}).on('close', () => [client, redis].forEach(end)))
    }
    client.on('data', (data) => redis.write(crossed(data)))
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

/** A question for the one key made one for the other, in the protocol's form: `$15` is the length of what follows. */
function crossed(data: Buffer): Buffer {
  const text = data
    .toString('latin1')
    .replaceAll(/GET\r\n\$1[56]\r\nrates:v1:(latest|history)\r\n/g, (_, dataSet: string) =>
      dataSet === 'latest'
        ? 'GET\r\n$16\r\nrates:v1:history\r\n'
        : 'GET\r\n$15\r\nrates:v1:latest\r\n',
    )
  return Buffer.from(text, 'latin1')
}
