import type { RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'

import { expect, it, onTestFinished } from 'vitest'

import { createUpstashStore } from 'ratesmith/stores/upstash'
import { storeContract } from 'ratesmith/testing'

import { fakeRedis } from '../stores/fake-redis.ts'
import { describeRuntimes, listen, requireProgram, run, temporaryFolder } from './processes.ts'
import { REDIS_IS_MISSING, startRedis } from './redis-server.ts'
import { DENO } from './runtimes.ts'
import type { Runtime } from './runtimes.ts'

const TOKEN = 'AX8sASQgN2M5'

async function expectGoodStore(runtime: Runtime, store: string, url = ''): Promise<void> {
  const [, program, ...flags] = runtime
  // Deno keeps its caches there.
  const env = { DENO_DIR: temporaryFolder(), DENO_NO_UPDATE_CHECK: '1' }
  const args = [...flags, 'test/system/store-program.ts', store, url]
  const { stdout, stderr } = await run(program, args, { env })
  expect(stdout, stderr).toMatch(/^\{.+\}$/)
  const cases = storeContract(() => new Map()).length
  expect(JSON.parse(stdout)).toEqual({ cases, failed: [] })
}

/** Responds like Upstash, with response times that vary. */
function database(): RequestListener {
  const redis = fakeRedis()
  return async (request, response) => {
    const body = await text(request)
    const isAllowed = request.headers.authorization === `Bearer ${TOKEN}`
    const reply = isAllowed ? { result: redis.run(JSON.parse(body)) } : { error: 'Unauthorized' }
    setTimeout(() => {
      response.writeHead(isAllowed ? 200 : 401, { 'Content-Type': 'application/json' })
      response.end(JSON.stringify(reply))
    }, redis.commands.length % 5)
  }
}

// scheduled.test.ts covers stores in workerd, and fleet.test.ts simultaneous leases of several clients.
describeRuntimes('the store contract', (runtime) => {
  const [name] = runtime

  it('passes with Upstash', async () => {
    const { url } = await listen(database())
    await expectGoodStore(runtime, 'upstash', url)
  })

  const clients = ['ioredis', 'redis', ...(name === 'Bun' ? ['bun'] : [])]
  it.skipIf(REDIS_IS_MISSING).each(clients)(
    'passes with Redis through %s (skipped without redis-server)',
    async (client) => {
      const { url, kill } = await startRedis()
      onTestFinished(kill)
      await expectGoodStore(runtime, client, url)
    },
  )
})

// No other runtime has a Cache API outside of Workers.
it('the store contract on Deno passes with the Cache API', async ({ skip }) => {
  const [name, program] = DENO
  requireProgram(name, program, skip)
  await expectGoodStore(DENO, 'cache-api')
})

it('rejects when the connection to Upstash is refused or breaks off', async () => {
  const { url, close } = await listen((_, response) => {
    response.writeHead(200, { 'Content-Length': '100' })
    response.write('{"result":', () => response.destroy())
  })
  const store = createUpstashStore({ url, token: TOKEN })
  await expect(store.get('k')).rejects.toThrow('Upstash')
  await close()
  await expect(store.get('k')).rejects.toThrow('Upstash')
})
