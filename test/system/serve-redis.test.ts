import { createServer } from 'node:net'

import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'

import { startUpstreams } from './commands.ts'
import { freePort, listenOnFreePort } from './ports.ts'
import { run } from './processes.ts'
import { REDIS_IS_MISSING, askRedis, startRedis } from './redis-server.ts'
import type { RedisServer } from './redis-server.ts'
import { describeRuntimes } from './require-program.ts'
import { CLI, installAlone, rootOf, serve } from './serving.ts'

/** A Redis that is gone at the end of the test. */
async function startOwnRedis(port?: number): Promise<RedisServer> {
  const server = await startRedis(port)
  onTestFinished(server.kill)
  return server
}

describeRuntimes('ratesmith serve --redis', (runtime) => {
  beforeEach(({ skip }) => skip(REDIS_IS_MISSING, 'redis-server is not installed'))

  it('shares one upstream call with others, and lets go of Redis when it stops', async () => {
    const { env, calls } = await startUpstreams()
    const { port, url } = await startOwnRedis()

    /** What a server of its own answers and logs, from its start to its end. */
    async function visit(args: string[], more: NodeJS.ProcessEnv) {
      const running = serve(args, { ...env, ...more }, runtime)
      const root = await rootOf(running)
      const body = await (await fetch(`${root}/api/rates`)).text()
      await expect.poll(() => askRedis(port, 'EXISTS rates:v1:latest')).toBe(':1\r\n')
      running.process.kill('SIGTERM')
      expect(await running.exited).toBe(0)
      expect(running.stderr).not.toContain('"level":"error"')
      return { body, log: running.stderr }
    }

    const first = await visit(['--redis', url], {})
    let second = first
    // A store has 50 ms. Where the machine is too busy for that, a server asks upstream by itself, and says why.
    for (let tries = 0; tries < 5 && !second.log.includes('rates_restored'); tries += 1) {
      const callsBefore = calls.length
      second = await visit([], { RATESMITH_REDIS_URL: url })
      expect(calls.length === callsBefore || second.log.includes('store_failed')).toBe(true)
    }
    const asked = '"event":"upstream_asked","dataSet":"latest"'
    expect(first.log).toContain(asked)
    expect(second.log).not.toContain(asked)
    expect(second.body).toBe(first.body)
  })

  it('starts and answers without Redis, and uses it as soon as it is there', async () => {
    const { env } = await startUpstreams()
    const port = await freePort()
    const running = serve(['--redis', `redis://127.0.0.1:${port}`], env, runtime)
    const root = await rootOf(running)
    expect((await fetch(`${root}/api/rates`)).status).toBe(200)
    expect(running.stderr).toMatch(/"event":"store_failed","reason":"[^"]*(ECONNREFUSED|onnection)/)
    await startOwnRedis(port)
    // What the clients say of themselves first, before they are given commands.
    await expect
      .poll(() => askRedis(port, 'CLIENT LIST'), { timeout: 20_000 })
      .toMatch(/cmd=(info|hello) /)
    // The answer to that has reached the server before this question has.
    await fetch(`${root}/api/rates`)
    expect((await fetch(`${root}/api/v1/history?from=USD&to=EUR`)).status).toBe(200)
    await expect.poll(() => askRedis(port, 'EXISTS rates:v1:history')).toBe(':1\r\n')
    running.process.kill('SIGTERM')
    expect(await running.exited).toBe(0)
  })

  it('starts, answers and stops while Redis says nothing, and tells nobody its password', async () => {
    const { env } = await startUpstreams()
    const silent = createServer()
    const port = await listenOnFreePort(silent)
    onTestFinished(() => void silent.close())
    const url = `redis://someone:hidden@127.0.0.1:${port}`
    const running = serve(['--redis', url], env, runtime)
    const response = await fetch(`${await rootOf(running)}/api/rates`)
    expect(response.status).toBe(200)
    await expect.poll(() => running.stderr).toContain('"event":"store_failed"')
    running.process.kill('SIGTERM')
    expect(await running.exited).toBe(0)
    expect(running.stdout + running.stderr + (await response.text())).not.toContain('hidden')
  })
})

describe('ratesmith serve --redis that cannot be used', () => {
  it.each([
    [['--redis', 'http://user:hidden@localhost'], {}, '--redis must be a URL like redis://'],
    [['--redis', 'redis://:hidden%@localhost'], {}, '--redis must be a URL like redis://'],
    [['--redis', 'redis://:hidden@localhost/abc'], {}, '--redis must be a URL like redis://'],
    [['--redis='], {}, '--redis must be a URL like redis://'],
    [[], { RATESMITH_REDIS_URL: 'localhost:hidden' }, 'RATESMITH_REDIS_URL must be a URL like'],
    [['--redis', 'redis://:hidden@localhost', '--data', 'rates'], {}, '--data and --redis are two'],
    [
      ['--data', 'rates'],
      { RATESMITH_REDIS_URL: 'redis://:hidden@localhost' },
      '--data and RATESMITH_REDIS_URL are two places',
    ],
  ])('ends with 2 and one line: %j %j', async (args, env, line) => {
    const started = await run(process.execPath, [CLI, 'serve', '--demo', ...args], { env })
    expect(started.code).toBe(2)
    expect(started.stderr).toContain(`ratesmith: ${line}`)
    expect(started.stderr).toMatch(/^[^\n]+\n$/)
    expect(started.stderr).not.toContain('hidden')
  })

  it('ends with 2 and says what to install where there is no client', async () => {
    const command = installAlone()
    const args = [command, 'serve', '--demo', '--redis', 'redis://127.0.0.1:9']
    expect(await run(process.execPath, args)).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'ratesmith: --redis needs ioredis; install it: npm install ioredis (see ratesmith --help)\n',
    })
  })
})
