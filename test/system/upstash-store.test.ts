import type { RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'

import { describe, expect, it } from 'vitest'

import { createUpstashStore } from '../../src/stores/upstash.ts'
import { fakeRedis } from '../stores/fake-redis.ts'
import { listen } from './processes.ts'
import { expectGoodStore } from './store-trial.ts'

const TOKEN = 'AX8sASQgN2M5'

/** A database that answers as Upstash does, and after a while that differs from one question to the next. */
function database(): RequestListener {
  const redis = fakeRedis()
  return async (request, response) => {
    const body = await text(request)
    const isAllowed = request.headers.authorization === `Bearer ${TOKEN}`
    const answer = isAllowed ? { result: redis.run(JSON.parse(body)) } : { error: 'Unauthorized' }
    setTimeout(() => {
      response.writeHead(isAllowed ? 200 : 401, { 'Content-Type': 'application/json' })
      response.end(JSON.stringify(answer))
    }, redis.commands.length % 5)
  }
}

describe('Upstash', () => {
  it.each(['Node', 'Bun', 'Deno'] as const)('is a good store on %s', async (runtime) => {
    const { url } = await listen(database())
    await expectGoodStore(runtime, 'upstash', url)
  })

  it('grants one claim to many stores that ask at once', async () => {
    const { url } = await listen(database())
    const stores = Array.from({ length: 50 }, () => createUpstashStore({ url, token: TOKEN }))
    const expiresAt = Date.now() + 20_000
    const answers = await Promise.all(stores.map((store) => store.claim('k', expiresAt)))
    expect(answers.filter(Boolean)).toHaveLength(1)
  })

  it('rejects with a wrong token', async () => {
    const { url } = await listen(database())
    const store = createUpstashStore({ url, token: 'wrong' })
    await expect(store.get('k')).rejects.toThrow('Upstash answered 401 without a result')
  })

  it('takes its token nowhere else', async () => {
    const visits: unknown[] = []
    const elsewhere = await listen((request, response) => {
      visits.push(request.headers.authorization)
      response.end('{"result":"text"}')
    })
    const { url } = await listen((_, response) => {
      response.writeHead(307, { Location: elsewhere.url }).end()
    })
    const store = createUpstashStore({ url, token: TOKEN })
    await expect(store.get('k')).rejects.toThrow('Upstash answered 307')
    expect(visits).toEqual([])
  })

  it('rejects where nobody listens, and where the answer breaks off', async () => {
    const { url, server } = await listen((_, response) => {
      response.writeHead(200, { 'Content-Length': '100' }).write('{"result":')
      setTimeout(() => response.destroy(), 20)
    })
    const store = createUpstashStore({ url, token: TOKEN })
    await expect(store.get('k')).rejects.toThrow('Upstash could not be reached')
    await new Promise((resolve) => {
      server.close(resolve)
    })
    await expect(store.get('k')).rejects.toThrow('Upstash could not be reached')
  })
})
