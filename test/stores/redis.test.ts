import { describe, expect, it } from 'vitest'

import { createRedisStore } from '../../src/stores/redis.ts'
import { fakeRedis } from './fake-redis.ts'
import type { FakeRedis } from './fake-redis.ts'
import { itMeetsTheContract } from './meets-contract.ts'

const NOW = Date.UTC(2026, 10, 20)

/** The three clients as a store sees them; each reads `this`, so that a detached method call fails. */
const CLIENTS = [
  {
    name: 'call() and its own sendCommand(), as ioredis',
    connect: (redis: FakeRedis) => ({
      redis,
      async call(...command: string[]) {
        return this.redis.run(command)
      },
      sendCommand(): never {
        throw new Error('takes a Command')
      },
    }),
  },
  {
    name: 'sendCommand(), as node-redis',
    connect: (redis: FakeRedis) => ({
      redis,
      async sendCommand(command: string[]) {
        return this.redis.run(command)
      },
    }),
  },
  {
    name: 'send(), as Bun',
    connect: (redis: FakeRedis) => ({
      redis,
      async send(command: string, args: string[]) {
        return this.redis.run([command, ...args])
      },
    }),
  },
]

describe.each(CLIENTS)('createRedisStore() with a client that has $name', ({ connect }) => {
  itMeetsTheContract(() => createRedisStore(connect(fakeRedis())))

  it('sends these commands and no others', async () => {
    const redis = fakeRedis(() => NOW)
    const store = createRedisStore(connect(redis), { prefix: 'app:', now: () => NOW })
    await store.set('k', 'text', NOW + 1_000.2)
    await store.get('k')
    await store.claim('k', NOW + 20_000)
    await store.set('k', 'text', NOW)
    await store.set('k', 'text', NOW - 5_000)
    expect(redis.commands).toEqual([
      ['SET', 'app:k', 'text', 'PX', '1001'],
      ['GET', 'app:k'],
      ['SET', 'app:k:claim', '1', 'NX', 'PX', '20000'],
      ['SET', 'app:k', 'text', 'PX', '1'],
      ['SET', 'app:k', 'text', 'PX', '1'],
    ])
  })
})

describe('createRedisStore()', () => {
  it('treats any value but a string as a miss', async () => {
    for (const value of [null, undefined, 7, new Uint8Array([97]), {}, ['text']]) {
      const store = createRedisStore({ send: async () => value })
      expect(await store.get('k'), JSON.stringify(value)).toBeUndefined()
    }
  })

  it('reads the result of a claim also as bytes', async () => {
    const bytes = Object.assign(new Uint8Array([79, 75]), { toString: () => 'OK' })
    expect(await createRedisStore({ send: async () => bytes }).claim('k', 0)).toBe(true)
    expect(await createRedisStore({ send: async () => null }).claim('k', 0)).toBe(false)
  })

  const throwing = (): never => {
    throw new Error('READONLY')
  }

  it.each<[string, () => Promise<unknown>]>([
    ['rejects', async () => throwing()],
    ['throws', throwing],
  ])('rejects when the client %s', async (_, send) => {
    const store = createRedisStore({ send })
    await expect(store.get('k')).rejects.toThrow('READONLY')
    await expect(store.set('k', '', 0)).rejects.toThrow('READONLY')
    await expect(store.claim('k', 0)).rejects.toThrow('READONLY')
  })

  it.each([undefined, null, 'redis://localhost', {}, { call: true }, Map])(
    'throws for %o',
    (client) => {
      // @ts-expect-error not a client
      expect(() => createRedisStore(client)).toThrow(/^client must be .*sendCommand\(\)/)
    },
  )

  it.each([{ prefix: 7 }, { now: 7 }])('throws for %o', (options) => {
    const [name] = Object.keys(options)
    // @ts-expect-error not such an option
    const create = (): unknown => createRedisStore({ send: async () => null }, options)
    expect(create).toThrow(`${name} must be a`)
    expect(create).toThrow(TypeError)
  })
})
