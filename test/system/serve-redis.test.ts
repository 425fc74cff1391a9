import { createServer } from 'node:net'

import { beforeEach, expect, it, onTestFinished } from 'vitest'

import { expectRefused, installAlone, rootOf, serve, startUpstreams } from './commands.ts'
import { describeRuntimes, run } from './processes.ts'
import { REDIS_IS_MISSING, sendToRedis, startRedis } from './redis-server.ts'
import { freePort, listenOnFreePort } from './sockets.ts'

const WITHIN = { timeout: 30_000 }

async function startOwnRedis(port?: number) {
  const server = await startRedis(port)
  onTestFinished(server.kill)
  return server
}

describeRuntimes('ratesmith serve --store', (runtime) => {
  beforeEach(({ skip }) => skip(REDIS_IS_MISSING, 'redis-server is not installed'))

  it('shares one upstream call with other servers, and disconnects from Redis when it stops', async () => {
    const { env, calls } = await startUpstreams()
    const { port, url } = await startOwnRedis()

    /** Starts a server, sends a request, and stops it; returns the response and the log. */
    async function visit(args: string[], more: NodeJS.ProcessEnv) {
      const running = serve(args, { ...env, ...more }, runtime)
      const root = await rootOf(running)
      const body = await (await fetch(`${root}/api/rates`)).text()
      await expect.poll(() => sendToRedis(port, 'EXISTS rates:v1:latest'), WITHIN).toBe(':1\r\n')
      expect(await running.end()).toBe(0)
      expect(running.stderr).not.toContain('"level":"error"')
      return { body, log: running.stderr }
    }

    const first = await visit(['--store', url], {})
    let second = first
    // The store has a time limit of 50 ms. On a machine too busy for that, a server calls its upstream and logs the
    // reason.
    for (let tries = 0; tries < 20 && !second.log.includes('rates_restored'); tries += 1) {
      const callsBefore = calls.length
      second = await visit([], { RATESMITH_STORE: url })
      expect(calls.length === callsBefore || second.log.includes('store_failed')).toBe(true)
    }
    const requestEvent = '"event":"upstream_request","dataSet":"latest"'
    expect(first.log).toContain(requestEvent)
    expect(second.log).not.toContain(requestEvent)
    expect(second.body).toBe(first.body)
  })

  it('starts and serves without Redis, and uses Redis when it becomes available', async () => {
    const { env } = await startUpstreams()
    const port = await freePort()
    const running = serve(['--store', `redis://127.0.0.1:${port}`], env, runtime)
    const root = await rootOf(running)
    expect((await fetch(`${root}/api/rates`)).status).toBe(200)
    expect(running.stderr).toMatch(/"event":"store_failed","reason":"[^"]*(ECONNREFUSED|onnection)/)
    await startOwnRedis(port)
    // The first command of a client, before those of the server.
    const clients = (): Promise<string> => sendToRedis(port, 'CLIENT LIST')
    await expect.poll(clients, WITHIN).toMatch(/cmd=(info|hello) /)
    // Redis replied to that command before this request arrives at the server.
    await fetch(`${root}/api/rates`)
    expect((await fetch(`${root}/api/v1/history?from=USD&to=EUR`)).status).toBe(200)
    await expect.poll(() => sendToRedis(port, 'EXISTS rates:v1:history'), WITHIN).toBe(':1\r\n')
    expect(await running.end()).toBe(0)
  })

  it('starts, serves and stops while Redis hangs, and logs no password', async () => {
    const { env } = await startUpstreams()
    const silent = createServer()
    const port = await listenOnFreePort(silent)
    onTestFinished(() => void silent.close())
    const url = `redis://someone:hidden@127.0.0.1:${port}`
    const running = serve(['--store', url], env, runtime)
    const response = await fetch(`${await rootOf(running)}/api/rates`)
    expect(response.status).toBe(200)
    await expect.poll(() => running.stderr, WITHIN).toContain('"event":"store_failed"')
    expect(await running.end()).toBe(0)
    expect(running.stdout + running.stderr + (await response.text())).not.toContain('hidden')
  })
})

it('exits with 2 and names the package if no Redis client is installed', async () => {
  const args = [installAlone(), 'serve', '--store', 'redis://127.0.0.1:9']
  expectRefused(await run(process.execPath, args), '--store', 'npm install ioredis')
})
